/** Merge requests in to-do lists: shown, marked, and counted where they wait for the user. */
import { sql } from 'kysely';
import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { mayInProjects } from '../../../kernel/access/policy-sql.ts';
import { integerId } from '../../../platform/http/parameters/schema.ts';
import { type TodoTarget, todoEndpoint, type UserCount } from '../../conversation/index.ts';
import { findMergeRequest } from '../records/find-queries.ts';
import { mergeRequestKind, mergeRequestNoteable } from '../records/merge-request-noteable.ts';
import { presentMergeRequests } from '../records/merge-request-records.ts';
import { countInvolved, selectMergeRequestRows } from './queries.ts';

export const mergeRequestTodoTarget: TodoTarget = {
  type: mergeRequestKind.type,
  column: 'merge_request_id',
  isVisible: (actor, level) => sql`${mayInProjects('read_merge_requests', actor, level)}
    and (note.internal is not true or ${mayInProjects('read_internal_notes', actor, level)})`,
  async load(reading, todos) {
    const ids = todos.map(({ merge_request_id }) => merge_request_id ?? 0);
    const rows = await selectMergeRequestRows(reading.db, ids);
    const records = await presentMergeRequests(reading, rows, { across: true });
    const byId = new Map(records.map((record) => [record.id, record]));
    return ({ merge_request_id }) => byId.get(merge_request_id ?? 0);
  },
};

export const mergeRequestTodoEndpoint = todoEndpoint({
  path: '/projects/:id/merge_requests/:merge_request_iid/todo',
  summary: 'Reminds the caller of a merge request; 304 where it waits for them already.',
  access: onProject('read_merge_requests'),
  input: Type.Object({ merge_request_iid: integerId() }),
  find: async (context) => {
    const { db, subject, input } = context;
    const row = await findMergeRequest(db, subject, input.merge_request_iid);
    const load = async () => (await presentMergeRequests(context, [row], { across: true }))[0];
    return { noteable: mergeRequestNoteable(subject, row), load };
  },
});

/** Open merge requests that are assigned to the user, or that the user is asked to review; `merge_requests` is an older name. */
export const mergeRequestCounts: UserCount = {
  count: async (db, actor, limit) => {
    const { assigned, reviewing } = await countInvolved(db, actor, limit);
    return {
      merge_requests: assigned,
      assigned_merge_requests: assigned,
      review_requested_merge_requests: reviewing,
    };
  },
};
