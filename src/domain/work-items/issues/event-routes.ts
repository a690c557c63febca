/** Changes of the states, labels, milestones and weights of issues. */
import { onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { type EventResource, resourceEventEndpoints } from '../resource-events/event-routes.ts';
import { readIssue } from './records/find-queries.ts';

const issueEvents: EventResource<AuthorizedProject> = {
  path: '/projects/:id/issues/:eventable_id',
  noun: 'an issue',
  column: 'issue_id',
  read: onProject('read_issues'),
  find: (context, iid) => readIssue(context, context.subject, context.actor, iid),
};

export const issueEventEndpoints = resourceEventEndpoints(issueEvents, [
  'state',
  'label',
  'milestone',
  'weight',
]);
