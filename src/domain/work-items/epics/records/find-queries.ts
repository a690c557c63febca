/** Finds epics for a caller: a hidden one is 404, as a missing one is. */

import { type AuthorizedGroup, authorizeGroup } from '../../../../kernel/access/find.ts';
import type { Caller } from '../../../../kernel/actor.ts';
import type { Needs } from '../../../../kernel/services.ts';
import type { Db } from '../../../../platform/db/database.ts';
import type { Sql } from '../../../../platform/db/driver/sql.ts';
import { Failure, notFound } from '../../../../platform/failure.ts';
import type { EpicRow } from './epic-rows.ts';
import { seesEpic } from './visibility-queries.ts';

/** The epic of the group by its number; 404 unless it exists and the caller sees it. */
export async function findEpic(
  db: Db,
  group: AuthorizedGroup,
  _caller: Caller,
  iid: number,
): Promise<EpicRow> {
  const epic = await db
    .selectFrom('epics')
    .selectAll()
    .where('namespace_id', '=', group.id)
    .where('iid', '=', iid)
    .executeTakeFirst();
  if (!epic || !seesEpic(group, epic)) throw notFound();
  return epic;
}

export type FoundEpic = { epic: EpicRow; group: AuthorizedGroup };

/** The epic by its id, with its group, whose receipt is at hand where that is `home`; 404 unless the caller sees it. */
export async function findEpicById(
  db: Db,
  sql: Sql,
  caller: Caller,
  id: number,
  home?: AuthorizedGroup,
): Promise<FoundEpic> {
  const epic = await db.selectFrom('epics').selectAll().where('id', '=', id).executeTakeFirst();
  if (!epic) throw notFound();
  return withGroup(sql, caller, epic, home);
}

type Reading = { db: Db; services: Needs<'database'>; actor: Caller; subject: AuthorizedGroup };

/** The epic of the group by its number and another by its id; 404 unless the caller sees both. */
export async function findEpicAnd(
  { db, services, actor, subject }: Reading,
  iid: number,
  id: number,
): Promise<{ epic: EpicRow; other: FoundEpic }> {
  const rows = await db
    .selectFrom('epics')
    .selectAll()
    .where((is) => is.or([is.and({ namespace_id: subject.id, iid }), is('id', '=', id)]))
    .execute();
  const epic = rows.find((row) => row.namespace_id === subject.id && row.iid === iid);
  const other = rows.find((row) => row.id === id);
  if (!epic || !seesEpic(subject, epic) || !other) throw notFound();
  return { epic, other: await withGroup(services.database.points, actor, other, subject) };
}

/** The epic of the row with its group; 404 unless the caller sees it. */
export async function withGroup(
  sql: Sql,
  caller: Caller,
  epic: EpicRow,
  home: AuthorizedGroup | undefined,
): Promise<FoundEpic> {
  const group =
    home?.id === epic.namespace_id
      ? home
      : // seesEpic() decides who reads its epics.
        await authorizeGroup(sql, caller, 'read_group', epic.namespace_id).catch((error) => {
          // A 403 from the group would reveal the epic.
          throw error instanceof Failure && error.kind !== 'unavailable' ? notFound() : error;
        });
  if (!seesEpic(group, epic)) throw notFound();
  return { epic, group };
}
