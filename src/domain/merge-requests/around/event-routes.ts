/** Changes of the states, labels and milestones of merge requests. */
import { onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { type EventResource, resourceEventEndpoints } from '../../work-items/index.ts';
import { findMergeRequest } from '../records/find-queries.ts';

const mergeRequestEvents: EventResource<AuthorizedProject> = {
  path: '/projects/:id/merge_requests/:eventable_id',
  noun: 'a merge request',
  column: 'merge_request_id',
  read: onProject('read_merge_requests'),
  find: ({ db, subject }, iid) => findMergeRequest(db, subject, iid),
};

export const mergeRequestEventEndpoints = resourceEventEndpoints(mergeRequestEvents, [
  'state',
  'label',
  'milestone',
]);
