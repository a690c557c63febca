/** How much waits for the caller. */
import Type from 'typebox';
import { signedIn } from '../../core/access/access.ts';
import { type Endpoint, endpoint } from '../../core/endpoint.ts';
import { readScopes } from './user-routes.ts';

const UserCounts = Type.Object({
  merge_requests: Type.Integer(),
  assigned_issues: Type.Integer(),
  assigned_merge_requests: Type.Integer(),
  review_requested_merge_requests: Type.Integer(),
  todos: Type.Integer(),
});

/** Issues, merge requests and to-do items do not exist yet, so there are none of them. */
const none = {
  merge_requests: 0,
  assigned_issues: 0,
  assigned_merge_requests: 0,
  review_requested_merge_requests: 0,
  todos: 0,
};

export const countEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/user_counts',
    summary: 'How many open issues, merge requests and to-do items wait for the caller.',
    access: signedIn,
    scopes: readScopes,
    reply: UserCounts,
    handle: async () => none,
  }),
];
