/** To-do items: the caller's own alone (facts: Todos). */
import Type from 'typebox';
import { onGroup, onProject, signedIn } from '../../core/access/access.ts';
import { authorizeGroup, authorizeProject } from '../../core/access/find.ts';
import { findAlert } from '../../core/alerts/alert-find.ts';
import { alertNoteable } from '../../core/alerts/alert-noteable.ts';
import { type Endpoint, endpoint, found, listing, noContent, Reply } from '../../core/endpoint.ts';
import type { Caller } from '../../core/identity/actor.ts';
import { findEpic } from '../../core/work/epic-find.ts';
import { epicNoteable } from '../../core/work/epic-noteable.ts';
import { findIssue } from '../../core/work/issue-find.ts';
import { issueNoteable } from '../../core/work/issue-noteable.ts';
import type { Noteable } from '../../core/work/noteables.ts';
import { unauthenticated } from '../../platform/failure.ts';
import { integerId } from '../../platform/http/schema.ts';
import { finishAll, finishTodo, markNoteable } from './actions.ts';
import { type Presenting, presentTodos } from './present.ts';
import { countAssignedIssues, countTodos, selectTodo, selectTodos, type TodoRow } from './queries.ts';
import { ListInput, TodoRecord, UserCounts } from './schema.ts';

/** A larger count is shown as this one. */
const MAX_COUNTED = 10_000;

async function presentOne(context: Presenting, row: TodoRow): Promise<TodoRecord> {
  const [record] = await presentTodos(context, [row]);
  return found(record);
}

/**
 * 304 when there is a pending item for the target. Every signed-in caller who sees the target may mark it.
 */
async function mark(
  context: Omit<Presenting, 'actor'> & { actor: Caller },
  targetOf: () => Promise<Noteable>,
): Promise<TodoRecord | Reply<TodoRecord>> {
  const { db, actor } = context;
  if (!actor) throw unauthenticated();
  const todo = await markNoteable(db, actor, await targetOf());
  return todo ? presentOne({ ...context, actor }, todo) : new Reply(304);
}

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
      const { db, services, actor, input, page } = context;
      const { points } = services.database;
      const { project_id, group_id } = input;
      if (project_id !== undefined) await authorizeProject(points, actor, 'read_project', project_id);
      if (group_id !== undefined) await authorizeGroup(points, actor, 'read_group', group_id);
      // The list has offset pages only, so that a page is of no other kind.
      if (page.kind !== 'offset') return { items: [], total: undefined, more: false };
      const rows = await selectTodos(db, actor, input, page);
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
      const { db, actor, input } = context;
      const todo = found(await selectTodo(db, actor, input.id));
      return presentOne(context, await finishTodo(db, todo));
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
    method: 'POST',
    path: '/projects/:id/issues/:issue_iid/todo',
    summary: 'Reminds the caller of an issue; 304 where it waits for them already.',
    access: onProject('read_issues'),
    also: [304],
    input: Type.Object({ issue_iid: integerId() }),
    reply: TodoRecord,
    handle: (context) =>
      mark(context, async () => {
        const { db, actor, subject, input } = context;
        return issueNoteable(subject, await findIssue(db, subject, actor, input.issue_iid));
      }),
  }),
  endpoint({
    method: 'POST',
    path: '/groups/:id/epics/:epic_iid/todo',
    summary: 'Reminds the caller of an epic; 304 where it waits for them already.',
    tier: 'premium',
    access: onGroup('read_epics'),
    also: [304],
    input: Type.Object({ epic_iid: integerId() }),
    reply: TodoRecord,
    handle: (context) =>
      mark(context, async () => {
        const { db, actor, subject, input } = context;
        return epicNoteable(subject, await findEpic(db, subject, actor, input.epic_iid));
      }),
  }),
  endpoint({
    method: 'POST',
    path: '/projects/:id/alert_management_alerts/:alert_iid/todo',
    summary: 'Reminds the caller of an alert; 304 where it waits for them already.',
    access: onProject('read_alerts'),
    also: [304],
    input: Type.Object({ alert_iid: integerId() }),
    reply: TodoRecord,
    handle: (context) =>
      mark(context, async () => {
        const { db, subject, input } = context;
        return alertNoteable(subject, await findAlert(db, subject, input.alert_iid));
      }),
  }),
  endpoint({
    method: 'GET',
    path: '/user_counts',
    summary: 'How many open issues and to-do items wait for the caller; merge requests there are none.',
    access: signedIn,
    scopes: ['api', 'read_api', 'read_user'],
    reply: UserCounts,
    async handle({ db, actor }) {
      const [issues, todos] = await Promise.all([
        countAssignedIssues(db, actor, MAX_COUNTED),
        countTodos(db, actor, {}, MAX_COUNTED),
      ]);
      return {
        merge_requests: 0,
        assigned_issues: issues,
        assigned_merge_requests: 0,
        review_requested_merge_requests: 0,
        todos,
      };
    },
  }),
];
