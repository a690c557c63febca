/** Announcements of changes of merge requests, for the feed, the audit trail and listeners. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { ActivityAction, Announcement } from '../../../kernel/activity/announce-actions.ts';
import type { Actor, Author } from '../../../kernel/actor.ts';
import type { Json } from '../../../platform/db/rows.ts';
import type { Timed } from '../../work-items/index.ts';
import { mergeRequestKind, mergeRequestNoteable } from '../records/merge-request-noteable.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';

export type MergeRequestEvent =
  | 'merge_request_created'
  | 'merge_request_updated'
  | 'merge_request_closed'
  | 'merge_request_reopened'
  | 'merge_request_merged'
  | 'merge_request_pushed'
  | 'merge_request_auto_merge_set'
  | 'merge_request_threads_resolved'
  | 'merge_request_reviewed'
  | 'merge_request_status_check_passed'
  | 'merge_request_approved'
  | 'merge_request_unapproved'
  | 'merge_request_approvals_reset'
  | 'merge_request_deleted';

/** What a push brought, in the details of the fact `merge_request_pushed`: the newest commits, and the number of all. */
export type PushDetails = { commits: { sha: string; title: string }[]; count: number };

const activities: Partial<Record<MergeRequestEvent, ActivityAction>> = {
  merge_request_created: 'created',
  merge_request_closed: 'closed',
  merge_request_reopened: 'reopened',
  merge_request_merged: 'merged',
  merge_request_approved: 'approved',
};

/** The announcement of the event. */
export const mergeRequestAnnouncement = (
  actor: Author,
  project: Pick<AuthorizedProject, 'id' | 'fullPath'>,
  { id, iid, title }: { id: number; iid: number; title: string },
  event: MergeRequestEvent,
  details: Record<string, Json> = {},
): Announcement => ({
  author: actor,
  audit: {
    entity: { type: 'Project', id: project.id, path: project.fullPath },
    event,
    details: { target_id: id, target_type: mergeRequestKind.type, target_details: title },
  },
  ...(activities[event] && {
    activity: {
      action: activities[event],
      projectId: project.id,
      targetType: mergeRequestKind.type,
      targetId: id,
    },
  }),
  fact: {
    name: event,
    payload: { project_id: project.id, user_id: actor.id, merge_request_id: id, iid, ...details },
  },
});

/** A merge request as what time is spent on. */
export const timedMergeRequest = (actor: Actor, project: AuthorizedProject, row: MergeRequestRow): Timed => ({
  table: 'merge_requests',
  id: row.id,
  noteable: mergeRequestNoteable(project, row),
  announcement: (details) => mergeRequestAnnouncement(actor, project, row, 'merge_request_updated', details),
});
