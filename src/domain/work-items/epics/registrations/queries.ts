/** Statements with which epics are found for notes, mails, references and to-dos. */

import type { RawBuilder } from 'kysely';
import { type SqlBool, sql } from 'kysely';
import type { Caller } from '../../../../kernel/actor.ts';
import type { Db } from '../../../../platform/db/database.ts';
import { type CrossReference, crossReferenceTable } from '../../../conversation/index.ts';
import type { EpicRow } from '../records/epic-rows.ts';
import { visibleEpics } from '../records/visibility-queries.ts';

type Reader = { db: Db; actor: Caller };

/** The keys of the epics that the reader may read. */
export async function readableEpics({ db, actor }: Reader, named: readonly CrossReference[]) {
  const { rows } = await sql<{ key: string }>`with named(key, id, iid) as (
    select q.key, q.home, q.iid from ${crossReferenceTable(named)} where q.path is null
    union all
    select q.key, n.id, q.iid from ${crossReferenceTable(named)} join namespaces n on lower(n.full_path) collate "C" = q.path)
    select named.key from named join epics on epics.namespace_id = named.id and epics.iid = named.iid
    where ${visibleEpics(actor)}`.execute(db);
  return rows;
}

/** The condition on `notes` that the caller reads the epic that they tell a mention in; planned once, as in mayInProject(). */
export const readsMentioningEpic = (caller: Caller): RawBuilder<SqlBool> =>
  sql`exists (
    select from epics where epics.id = notes.mentioned_in_epic_id and ${visibleEpics(caller)} offset 0)`;

/** The condition that the reader may read the epic of a to-do `t`. */
export const isTodoVisible = (reader: Caller): RawBuilder<unknown> =>
  sql`exists (select from epics where epics.id = t.epic_id and ${visibleEpics(reader)})`;

export const selectEpicRows = (db: Db, ids: readonly number[]): Promise<EpicRow[]> =>
  db.selectFrom('epics').selectAll().where('id', 'in', ids).execute();

export const selectInGroup = (db: Db, groupId: number, id: number): Promise<EpicRow | undefined> =>
  db
    .selectFrom('epics')
    .selectAll()
    .where('id', '=', id)
    .where('namespace_id', '=', groupId)
    .executeTakeFirst();

export const selectOfEvent = (groupId: number, id: number): RawBuilder<EpicRow> =>
  sql`select * from epics where id = ${id} and namespace_id = ${groupId}`;

/** Keeps the epic from being deleted until the transaction ends; undefined when it is gone. */
export const keepEpic = (tx: Db, id: number) =>
  tx.selectFrom('epics').select('id').where('id', '=', id).forKeyShare().executeTakeFirst();

export type ReferencedEpic = Pick<
  EpicRow,
  'id' | 'namespace_id' | 'iid' | 'title' | 'state' | 'confidential' | 'author_id'
>;

/** The epics that texts name, each by its group and number. */
export async function selectReferenced(
  db: Db,
  groupIds: readonly number[],
  numbers: readonly number[],
): Promise<ReferencedEpic[]> {
  const { rows } = await sql<ReferencedEpic>`
    select id, namespace_id, iid, title, state, confidential, author_id from epics
    where (namespace_id, iid) in (
      select * from unnest(${groupIds}::bigint[], ${numbers}::bigint[]))`.execute(db);
  return rows;
}
