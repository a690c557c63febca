/** Inserts an epic by one statement: its number, its row, labels and their events, to-dos, and the announcement. */
import { sql } from 'kysely';
import type { AuthorizedGroup } from '../../../../kernel/access/find.ts';
import {
  announcementColumns,
  announcementRow,
  announcementStatements,
} from '../../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../../kernel/actor.ts';
import { now } from '../../../../platform/clock.ts';
import type { Db } from '../../../../platform/db/database.ts';
import { recordType } from '../../../../platform/db/recordset.ts';
import type { MentionTodo } from '../../../conversation/index.ts';
import type { EpicRow } from '../records/epic-rows.ts';
import type { EpicColumns } from './epic-changes.ts';
import { epicAnnouncement } from './epic-events.ts';

export type PreparedEpic = {
  columns: EpicColumns & Pick<EpicRow, 'title' | 'parent_id' | 'relative_position'>;
  labelIds: readonly number[];
  todos: readonly MentionTodo[];
};

const announced = sql.raw(recordType('a', announcementColumns));

/** Inserts the epic in the caller's transaction. The group's counter stays locked until that ends: call it late. */
export async function insertPrepared(
  tx: Db,
  actor: Actor,
  group: AuthorizedGroup,
  { columns, labelIds, todos }: PreparedEpic,
): Promise<EpicRow> {
  const time = columns.created_at ?? now();
  const values = {
    ...columns,
    namespace_id: group.id,
    author_id: actor.id,
    created_at: time,
    updated_at: time,
  };
  const announcement = epicAnnouncement(actor, group, columns, 'epic_created', 'created');
  const statements = announcementStatements([announcement], 'given', 'epic_id');
  const { rows } = await sql<EpicRow>`
    with counted as (insert into group_counters as c (namespace_id, epics) values (${group.id}, 1)
      on conflict (namespace_id) do update set epics = c.epics + 1 returning epics),
    made as (insert into epics (iid, ${sql.join(Object.keys(values).map((name) => sql.ref(name)))})
      select epics, ${sql.join(Object.values(values))} from counted returning *),
    labels as (select made.id, l.id as label_id from made, unnest(${[...labelIds]}::bigint[]) l(id)),
    labelled as (insert into label_links (label_id, epic_id) select label_id, id from labels),
    evented as (insert into resource_events (kind, epic_id, user_id, action, label_id, created_at)
      select 'label', id, ${actor.id}, 'add', label_id, ${now()} from labels),
    reminded as (insert into todos (user_id, author_id, namespace_id, epic_id, action, created_at, updated_at)
      select t.user_id, ${actor.id}, ${group.id}, made.id, t.action, ${now()}, ${now()}
      from made, unnest(${todos.map(({ userId }) => userId)}::bigint[], ${todos.map(({ action }) => action)}::text[])
        as t(user_id, action)),
    given as (select made.id, a.*
      from made, jsonb_to_recordset(${JSON.stringify([announcementRow(announcement, now())])}::text::jsonb) as ${announced}),
    ${sql.raw(statements.join(',\n    '))}
    select * from made`.execute(tx);
  const [epic] = rows;
  if (!epic) throw new Error('an insert returns its row');
  return epic;
}
