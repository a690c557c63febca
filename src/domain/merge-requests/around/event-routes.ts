/** Changes of the states, labels and milestones of merge requests. */
import { onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Endpoint } from '../../../kernel/api/endpoint.ts';
import { type EventResource, resourceEventEndpoint, resourceEventsEndpoint } from '../../work-items/index.ts';
import { findMergeRequest } from '../records/find-queries.ts';

const path = '/projects/:id/merge_requests/:eventable_id';

const resource: EventResource<AuthorizedProject, typeof path> = {
  path,
  noun: 'a merge request',
  column: 'merge_request_id',
  read: onProject('read_merge_requests'),
  find: ({ db, subject }, iid) => findMergeRequest(db, subject, iid),
};

/** The lists, by what changes. */
export const mergeRequestEvents = {
  state: resourceEventsEndpoint(resource, 'state'),
  label: resourceEventsEndpoint(resource, 'label'),
  milestone: resourceEventsEndpoint(resource, 'milestone'),
};

export const mergeRequestEventEndpoints: Endpoint[] = (['state', 'label', 'milestone'] as const).flatMap(
  (kind) => [mergeRequestEvents[kind], resourceEventEndpoint(resource, kind)],
);
