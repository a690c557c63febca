/** Headers for mail programs: thread, subject, and list. Pure. */
import { oneLine } from '../../../core/mail-page.ts';
import type { Reason } from '../../../core/notifications/audience.ts';
import type { MailInput, MailTarget } from './inputs.ts';

/** Events that begin a thread. An approver gets no earlier mail of the merge request. */
const beginnings: ReadonlySet<MailInput['event']> = new Set([
  'new_issue',
  'new_epic',
  'new_merge_request',
  'approver',
  'new_release',
]);

/** Whether the mail continues a thread; mails of pipelines and moves stand alone. */
export const isFollowing = ({ event, target }: Pick<MailInput, 'event' | 'target'>): boolean =>
  target.kind !== 'pipeline' && target.kind !== 'project' && !beginnings.has(event);

/** The target as a part of mail ids. */
const threadOf = (target: MailTarget): string =>
  target.kind === 'commit' ? `commit-${target.sha}` : `${target.kind}-${target.id}`;

/**
 * The mail's id, the same at each attempt, and the headers of its thread. The first mail's id is made of
 * target and recipient; later ones refer to it, even if it was never sent, so that programs group them.
 */
export function threadHeaders(input: Pick<MailInput, 'event' | 'target' | 'name' | 'recipient' | 'site'>): {
  id: string;
  headers: Record<string, string>;
} {
  const first = `${threadOf(input.target)}-${input.recipient.id}`;
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

const resources: Record<MailTarget['kind'], string> = {
  issue: 'Issue',
  epic: 'Epic',
  merge_request: 'MergeRequest',
  commit: 'Commit',
  snippet: 'Snippet',
  release: 'Release',
  pipeline: 'Pipeline',
  project: 'Project',
};

function containerNames({ kind, id, name, fullPath }: MailInput['place']): Record<string, string> {
  if (kind === 'group') return { 'Group-Id': String(id), 'Group-Path': fullPath };
  return { Project: oneLine(name), 'Project-Id': String(id), 'Project-Path': fullPath };
}

function targetNames(target: MailTarget): Record<string, string> {
  const resource = resources[target.kind];
  if (target.kind === 'project') return {};
  if (target.kind === 'pipeline') return { 'Pipeline-Id': String(target.id), 'Pipeline-Ref': target.ref };
  const id = target.kind === 'commit' ? target.sha : String(target.id);
  return {
    [`${resource}-ID`]: id,
    ...('iid' in target && { [`${resource}-IID`]: String(target.iid) }),
    ...('state' in target && { [`${resource}-State`]: target.state }),
    ...(target.kind === 'issue' && { ConfidentialIssue: String(target.confidential) }),
  };
}

/** Headers of the mail's target, under our names, and under the public ones for users' filters. */
export function subjectHeaders(input: MailInput): Record<string, string> {
  const names = {
    ...containerNames(input.place),
    ...targetNames(input.target),
    ...(input.event === 'new_note' && { 'Discussion-ID': input.note.discussionId }),
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
