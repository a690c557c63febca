/** Finds an epic that a caller sees: what is hidden is answered as if it were not there. */
import type postgres from 'postgres';
import type { Db } from '../../platform/db/database.ts';
import { Failure, notFound } from '../../platform/failure.ts';
import { type AuthorizedGroup, authorizeGroup } from '../access/find.ts';
import type { Caller } from '../identity/actor.ts';
import type { EpicRow } from './epic-rows.ts';
import { seesEpic } from './epic-visibility.ts';

/** The epic of the group by its number there; 404 when there is none that the caller, who found the group, sees. */
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

/** The epic by its id, with its group; 404 when there is none that the caller sees. */
export async function findEpicById(
  db: Db,
  sql: postgres.Sql,
  caller: Caller,
  id: number,
): Promise<FoundEpic> {
  const epic = await db.selectFrom('epics').selectAll().where('id', '=', id).executeTakeFirst();
  if (!epic) throw notFound();
  // Whether they read its epics seesEpic() asks.
  const group = await authorizeGroup(sql, caller, 'read_group', epic.namespace_id).catch((error) => {
    // That the group refuses would tell that there is such an epic.
    throw error instanceof Failure && error.kind !== 'unavailable' ? notFound() : error;
  });
  if (!seesEpic(group, epic)) throw notFound();
  return { epic, group };
}
