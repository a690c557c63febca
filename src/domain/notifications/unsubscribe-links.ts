/** Unsubscribe links: each names user and subject, and a seal proves that it came in a mail. */
import type { NotificationEvent } from '../../core/notifications/events.ts';
import type { Services } from '../../core/services.ts';
import { authenticate, deriveKey, sameSecret } from '../../platform/secret.ts';
import type { NotificationContext } from './notification-context.ts';

export const UNSUBSCRIBE_PATH = '/-/unsubscribe';

const kinds = ['issue', 'epic', 'project', 'group'] as const;
type Kind = (typeof kinds)[number];

/**
 * The subject of an unsubscription: an issue or epic, or where there is no subscription, the project or
 * group.
 */
export type Unsubscribing = { userId: number; kind: Kind; id: number };

const leaves = (kind: string): kind is Kind => kinds.some((each) => each === kind);

const seal = ({ secretKey }: Pick<Services, 'secretKey'>, named: string): string =>
  authenticate(deriveKey(secretKey, 'unsubscribe'), named);

/** The link for mail about an event; valid while the instance keeps its key. */
export function unsubscribeUrl(
  services: Pick<Services, 'secretKey' | 'baseUrl'>,
  userId: number,
  { subject }: Pick<NotificationEvent, 'subject'>,
  context: Pick<NotificationContext, 'kind' | 'id'>,
): string {
  const { kind, id } = subject.kind === 'issue' || subject.kind === 'epic' ? subject : context;
  const named = `${userId}-${kind}-${id}`;
  return `${services.baseUrl()}${UNSUBSCRIBE_PATH}/${named}-${seal(services, named)}`;
}

/** Parses a link; undefined where its seal is not ours. */
export function readUnsubscribeLink(
  services: Pick<Services, 'secretKey'>,
  text: string,
): Unsubscribing | undefined {
  const [, userId = '', kind = '', id = '', mac = ''] =
    /^(\d{1,15})-([a-z]+)-(\d{1,15})-([\w-]+)$/.exec(text) ?? [];
  if (!leaves(kind) || !sameSecret(mac, seal(services, `${userId}-${kind}-${id}`))) return undefined;
  return { userId: Number(userId), kind, id: Number(id) };
}
