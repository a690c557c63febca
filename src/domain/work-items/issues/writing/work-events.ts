/** Announcements of changes of issues, for the feed, the audit trail and listeners. */

import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import type { ActivityAction, Announcement } from '../../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../../kernel/actor.ts';
import type { Json } from '../../../../platform/db/rows.ts';
import type { WorkChange } from '../../changes/issue-changes.ts';

export type IssueEvent =
  | 'issue_created'
  | 'issue_updated'
  | 'issue_closed'
  | 'issue_reopened'
  | 'issue_deleted'
  | 'issue_moved'
  | 'issue_cloned'
  | 'issue_promoted';

const activities: Partial<Record<IssueEvent, ActivityAction>> = {
  issue_created: 'created',
  issue_closed: 'closed',
  issue_reopened: 'reopened',
  // A moved or promoted issue is closed where it was.
  issue_moved: 'closed',
  issue_promoted: 'closed',
};

/** The announcement of the event. An issue that is not inserted yet has no id: its insert adds it. */
export function issueAnnouncement(
  actor: Actor,
  project: AuthorizedProject,
  issue: { id?: number; title: string; state?: string },
  event: IssueEvent,
  details: Record<string, Json> = {},
): Announcement {
  // The feed already shows that it was closed.
  const hears = issue.state === 'closed' && (event === 'issue_moved' || event === 'issue_promoted');
  const action = hears ? undefined : activities[event];
  return {
    author: actor,
    audit: {
      entity: { type: 'Project', id: project.id, path: project.fullPath },
      event,
      details: {
        ...(issue.id !== undefined && { target_id: issue.id }),
        target_type: 'Issue',
        target_details: issue.title,
      },
    },
    ...(action && {
      activity: {
        action,
        projectId: project.id,
        targetType: 'Issue',
        ...(issue.id !== undefined && { targetId: issue.id }),
      },
    }),
    fact: {
      name: event,
      payload: {
        project_id: project.id,
        user_id: actor.id,
        ...(issue.id !== undefined && { issue_id: issue.id }),
        ...details,
      },
    },
  };
}

/** The event of these changes. */
export function eventOf(changes: readonly WorkChange[]): IssueEvent {
  const state = changes.find((change) => change.what === 'state');
  if (!state) return 'issue_updated';
  return state.to === 'closed' ? 'issue_closed' : 'issue_reopened';
}

/** Characters of a description in a fact: each listener's job has the fact. */
const MAX_TOLD_LENGTH = 16_384;

/** The changes in a fact: by name, with values before and after; of long descriptions without. */
export const changesPayload = (changes: readonly WorkChange[]): Record<string, Json> =>
  Object.fromEntries(
    changes.map(({ what, ...rest }) => {
      const isLong = what === 'description' && JSON.stringify(rest).length > MAX_TOLD_LENGTH;
      return [what, isLong ? {} : rest];
    }),
  );
