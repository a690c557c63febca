/** The time estimate of a merge request, and the time spent on it. */
import { onProject } from '../../../kernel/access/access.ts';
import { timeEndpoints } from '../../work-items/index.ts';
import { updateMergeRequest } from '../opening/update-merge-request.ts';
import { findMergeRequest } from '../records/find-queries.ts';
import { timedMergeRequest } from '../writing/announcements.ts';

export const mergeRequestTimeEndpoints = timeEndpoints({
  table: 'merge_requests',
  path: '/projects/:id/merge_requests/:merge_request_iid',
  parameter: 'merge_request_iid',
  noun: 'a merge request',
  read: onProject('read_merge_requests'),
  write: onProject('create_merge_requests'),
  ability: 'manage_merge_requests',
  find: ({ db, subject }, iid) => findMergeRequest(db, subject, iid),
  timed: ({ actor, subject }, row) => timedMergeRequest(actor, subject, row),
  // Time names no issues, which is all that commits are looked at for.
  update: (context, project, row, changes) =>
    updateMergeRequest(context, project, { row, commits: [] }, changes),
});
