/** Headers for mail programs: thread, subject, and list. Pure. */
import { oneLine } from '../../../kernel/mail/mail-page.ts';
import type { Reason } from '../events/events.ts';
import type { NotificationEventName } from '../settings/levels.ts';
import type { MailInput } from './inputs.ts';

/** Events that begin a thread. An approver gets no earlier mail of the merge request. */
const beginnings: ReadonlySet<NotificationEventName> = new Set([
  'new_issue',
  'new_epic',
  'new_merge_request',
  'approver',
  'new_release',
]);

/** Events that stand alone: a pipeline finishes once, and a project that moves has no thread. */
const alone: ReadonlySet<NotificationEventName> = new Set([
  'failed_pipeline',
  'fixed_pipeline',
  'success_pipeline',
  'moved_project',
]);

/** Whether the mail continues a thread. */
export const isFollowing = ({ event }: Pick<MailInput, 'event'>): boolean =>
  !alone.has(event) && !beginnings.has(event);

/**
 * The mail's id, the same at each attempt, and the headers of its thread. The first mail's id is made of
 * target and recipient; later ones refer to it, even if it was never sent, so that programs group them.
 */
export function threadHeaders(input: Pick<MailInput, 'event' | 'target' | 'name' | 'recipient' | 'site'>): {
  id: string;
  headers: Record<string, string>;
} {
  const first = `${input.target.kind}-${input.target.key}-${input.recipient.id}`;
  if (beginnings.has(input.event)) return { id: first, headers: {} };
  const id = `${input.name}-${input.event}-${input.recipient.id}`;
  if (!isFollowing(input)) return { id, headers: {} };
  const reference = `<${first}@${input.site.host}>`;
  return { id, headers: { 'In-Reply-To': reference, References: reference } };
}

/** The reasons that public clients know (facts: Notification settings). */
const publicReasons: ReadonlySet<Reason> = new Set([
  'own_activity',
  'assigned',
  'review_requested',
  'mentioned',
  'subscribed',
]);

function containerNames({ kind, id, name, fullPath }: MailInput['place']): Record<string, string> {
  if (kind === 'group') return { 'Group-Id': String(id), 'Group-Path': fullPath };
  return { Project: oneLine(name), 'Project-Id': String(id), 'Project-Path': fullPath };
}

/** Headers of the mail's target, under our names, and under the public ones for users' filters. */
export function subjectHeaders(input: MailInput): Record<string, string> {
  const names = {
    ...containerNames(input.place),
    ...input.target.headers,
    ...(input.note && { 'Discussion-ID': input.note.discussionId }),
  };
  const { reason } = input;
  const both = Object.entries(names).flatMap(([name, value]) => [
    [`X-Ashlar-${name}`, value],
    [`X-GitLab-${name}`, value],
  ]);
  return {
    ...Object.fromEntries(both),
    'X-Ashlar-NotificationReason': reason,
    ...(publicReasons.has(reason) && { 'X-GitLab-NotificationReason': reason }),
  };
}

/** Characters of a list's name (RFC 2919), which a path of many groups may exceed. */
const MAX_NAME_LENGTH = 255;

/** The mail's list (RFC 2919), and its one-click unsubscription (RFC 8058). */
export function listHeaders({ place, site, unsubscribeUrl }: MailInput): Record<string, string> {
  const name = [place.id, ...place.fullPath.split('/').toReversed(), site.host].join('.');
  return {
    'List-Id':
      name.length <= MAX_NAME_LENGTH
        ? `${place.fullPath} <${name}>`
        : `<${place.kind}-${place.id}.${site.host}>`,
    ...(unsubscribeUrl !== undefined && {
      'List-Unsubscribe': `<${unsubscribeUrl}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    }),
  };
}
