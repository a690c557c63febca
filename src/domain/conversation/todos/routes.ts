/** To-do items: the caller's own alone (facts: Todos). */
import Type from 'typebox';
import { signedIn } from '../../../kernel/access/access.ts';
import { authorizeGroup, authorizeProject } from '../../../kernel/access/find.ts';
import { type Endpoint, endpoint, found, listing, noContent, Reply } from '../../../kernel/api/endpoint.ts';
import { integerId } from '../../../platform/http/parameters/schema.ts';
import { finishAll, finishTodo } from './actions.ts';
import { presentOne, presentTodos } from './present.ts';
import { countTodos, selectTodo, selectTodos } from './queries.ts';
import { ListInput, TodoRecord, UserCounts } from './schema.ts';
import { userCounts } from './user-counts.ts';

/** A larger count is shown as this one. */
const MAX_COUNTED = 10_000;

export const endpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path: '/todos',
    summary: "The caller's to-do items, newest first; those that are pending unless told.",
    access: signedIn,
    input: ListInput,
    item: TodoRecord,
    page: 'offset',
    handle: async (context) => {
      const { services, actor, input, page } = context;
      const { points } = services.database;
      const { project_id, group_id } = input;
      if (project_id !== undefined) await authorizeProject(points, actor, 'read_project', project_id);
      if (group_id !== undefined) await authorizeGroup(points, actor, 'read_group', group_id);
      // The list has offset pages only, so that a page is of no other kind.
      if (page.kind !== 'offset') return { items: [], total: undefined, more: false };
      const rows = await selectTodos(context, input, page);
      return { ...rows, items: await presentTodos(context, rows.items) };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/todos/:id/mark_as_done',
    summary: "One of the caller's to-do items is done.",
    access: signedIn,
    input: Type.Object({ id: integerId() }),
    reply: TodoRecord,
    handle: async (context) => {
      const todo = found(await selectTodo(context, context.input.id));
      return presentOne(context, await finishTodo(context.db, todo));
    },
  }),
  endpoint({
    method: 'POST',
    path: '/todos/mark_as_done',
    summary: "All of the caller's to-do items are done.",
    access: signedIn,
    reply: noContent,
    async handle({ db, actor }) {
      await finishAll(db, actor);
      return new Reply(201);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/user_counts',
    summary: 'How many open issues, merge requests and to-do items wait for the caller.',
    access: signedIn,
    scopes: ['api', 'read_api', 'read_user'],
    reply: UserCounts,
    async handle(context) {
      const { db, services, actor } = context;
      const [todos, counts] = await Promise.all([
        countTodos(context, {}, MAX_COUNTED),
        Promise.all(userCounts.all(services).map(({ count }) => count(db, actor, MAX_COUNTED))),
      ]);
      return {
        merge_requests: 0,
        assigned_issues: 0,
        assigned_merge_requests: 0,
        review_requested_merge_requests: 0,
        ...Object.assign({}, ...counts),
        todos,
      };
    },
  }),
];
