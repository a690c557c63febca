/** Unsubscribe links: each names user and subject, and a seal proves that it came in a mail. */

import type { Needs } from '../../../kernel/services.ts';
import { authenticate, deriveKey, sameSecret } from '../../../platform/secret.ts';
import type { NotificationEvent } from '../events/events.ts';
import {
  type NotificationContext,
  type NotificationSubject,
  notificationSubjects,
} from '../events/subjects.ts';
import { writeSettings } from '../settings/actions.ts';
import { keepContainer } from './queries.ts';

export const UNSUBSCRIBE_PATH = '/-/unsubscribe';

type Subscription = Pick<NonNullable<NotificationSubject['subscription']>, 'name' | 'still' | 'end'>;

const containerSubscription = (
  kind: NotificationContext['kind'],
  table: 'projects' | 'namespaces',
): Subscription => ({
  async end(tx, userId, id) {
    const container = await keepContainer(tx, table, id);
    if (container) await writeSettings(tx, userId, { kind, id }, { level: 'disabled', events: {} });
  },
  name: `this ${kind}`,
  still: 'You get none about anything in it.',
});

const containers = new Map([
  ['project', containerSubscription('project', 'projects')],
  ['group', containerSubscription('group', 'namespaces')],
]);

/** The subject's subscription; undefined for kinds without. */
const subscriptionOf = (services: Needs<'registered'>, kind: string): Subscription | undefined =>
  notificationSubjects.all(services).find((subject) => subject.kind === kind)?.subscription;

/** Whom a link unsubscribes from a subject or, where that has no subscriptions, from the project or group. */
export type Unsubscribing = { userId: number; id: number; subscription: Subscription };

const seal = ({ secretKey }: Needs<'secretKey'>, named: string): string =>
  authenticate(deriveKey(secretKey, 'unsubscribe'), named);

/** The link for mail about an event; valid while the instance keeps its key. */
export function unsubscribeUrl(
  services: Needs<'registered' | 'secretKey' | 'baseUrl'>,
  userId: number,
  { subject }: Pick<NotificationEvent, 'subject'>,
  context: Pick<NotificationContext, 'kind' | 'id'>,
): string {
  const { kind, id } = subscriptionOf(services, subject.kind) ? subject : context;
  const named = `${userId}-${kind}-${id}`;
  return `${services.baseUrl()}${UNSUBSCRIBE_PATH}/${named}-${seal(services, named)}`;
}

/** Parses a link; undefined where its seal is not ours. */
export function readUnsubscribeLink(
  services: Needs<'registered' | 'secretKey'>,
  text: string,
): Unsubscribing | undefined {
  const [, userId = '', kind = '', id = '', mac = ''] =
    /^(\d{1,15})-([a-z_]+)-(\d{1,15})-([\w-]+)$/.exec(text) ?? [];
  const subscription = subscriptionOf(services, kind) ?? containers.get(kind);
  if (!subscription || !sameSecret(mac, seal(services, `${userId}-${kind}-${id}`))) return undefined;
  return { userId: Number(userId), id: Number(id), subscription };
}
