/** Epics in to-do lists: shown, and marked. */

import { sql } from 'kysely';
import Type from 'typebox';
import { onGroup } from '../../../../kernel/access/access.ts';
import { seesAll } from '../../../../kernel/access/group-list-queries.ts';
import { PLANNER } from '../../../../kernel/policy/roles.ts';
import { integerId } from '../../../../platform/http/parameters/schema.ts';
import { type TodoTarget, todoEndpoint } from '../../../conversation/index.ts';
import { epicKind, epicNoteable } from '../records/epic-noteable.ts';
import { presentEpics } from '../records/epic-records.ts';
import { findEpic } from '../records/find-queries.ts';
import { isTodoVisible, selectEpicRows } from './queries.ts';

export const epicTodoTarget: TodoTarget = {
  type: epicKind.type,
  column: 'epic_id',
  isVisible(actor, level) {
    // The same as the ability read_internal_epic_notes.
    const readsInternal = seesAll(actor) ? sql`true` : sql`${level} >= ${sql.lit(PLANNER)}`;
    return sql`(note.internal is not true or ${readsInternal})
      and ${isTodoVisible(actor)}`;
  },
  async load(reading, todos) {
    const ids = todos.map(({ epic_id }) => epic_id ?? 0);
    const rows = await selectEpicRows(reading.db, ids);
    const byId = new Map((await presentEpics(reading, rows)).map((record) => [record.id, record]));
    return ({ epic_id }) => byId.get(epic_id ?? 0);
  },
};

export const epicTodoEndpoint = todoEndpoint({
  path: '/groups/:id/epics/:epic_iid/todo',
  summary: 'Reminds the caller of an epic; 304 where it waits for them already.',
  tier: 'premium',
  access: onGroup('read_epics'),
  input: Type.Object({ epic_iid: integerId() }),
  find: async (context) => {
    const { db, actor, subject, input } = context;
    const epic = await findEpic(db, subject, actor, input.epic_iid);
    const load = async () => (await presentEpics(context, [epic]))[0];
    return { noteable: epicNoteable(subject, epic), load };
  },
});
