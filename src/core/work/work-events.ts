/** What a change of an issue tells the rest of the program: the feed, the audit trail, and who listens. */
import type { Json } from '../../platform/db/rows.ts';
import type { AuthorizedProject } from '../access/find.ts';
import type { ActivityAction, Announcement } from '../activity/announce.ts';
import type { Actor } from '../identity/actor.ts';
import type { WorkChange } from './issue-changes.ts';

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
  // What goes elsewhere is closed where it was.
  issue_moved: 'closed',
  issue_promoted: 'closed',
};

/** The event by its public name. An issue that is not there yet has no id: who inserts it adds that. */
export function issueAnnouncement(
  actor: Actor,
  project: AuthorizedProject,
  issue: { id?: number; title: string; state?: string },
  event: IssueEvent,
  details: Record<string, Json> = {},
): Announcement {
  // It was told already of one that had been closed before it left.
  const isTold = issue.state === 'closed' && (event === 'issue_moved' || event === 'issue_promoted');
  const action = isTold ? undefined : activities[event];
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

/** The name of the event that these changes are. */
export function eventOf(changes: readonly WorkChange[]): IssueEvent {
  const state = changes.find((change) => change.what === 'state');
  if (!state) return 'issue_updated';
  return state.to === 'closed' ? 'issue_closed' : 'issue_reopened';
}

/** The changes as listeners read them: by name, with the values before and after where those are short. */
export const changesPayload = (changes: readonly WorkChange[]): Record<string, Json> =>
  Object.fromEntries(changes.map(({ what, ...rest }) => [what, rest]));
