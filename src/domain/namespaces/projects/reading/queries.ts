/** Statements over projects, besides their list. */
import { sql } from 'kysely';
import {
  CALLER,
  callerCte,
  directProjectLevel,
  namespaceLevel,
  sharedProjectLevel,
  TODAY,
} from '../../../../kernel/access/membership-queries.ts';
import type { Caller } from '../../../../kernel/actor.ts';
import { type ProjectRow, projectColumns, projectTables } from '../../../../kernel/namespaces/rows.ts';
import { INTERNAL, PUBLIC } from '../../../../kernel/policy/roles.ts';
import type { Db } from '../../../../platform/db/database.ts';

/** The visible ones of the projects, by id: for records inside records. */
export async function selectVisibleProjects(
  db: Db,
  caller: Caller,
  ids: readonly number[],
): Promise<Map<number, ProjectRow>> {
  const open = caller && !caller.external ? INTERNAL : PUBLIC;
  const levels = [
    directProjectLevel(CALLER, TODAY),
    namespaceLevel(CALLER, TODAY, 'contents'),
    sharedProjectLevel(CALLER, TODAY),
  ];
  const { rows } = await sql<ProjectRow>`
    with ${callerCte(caller)}
    select ${sql.raw(projectColumns)} from ${sql.raw(projectTables)}
    where not p.deleting and p.id = any(${[...ids]}::bigint[])
      and (${caller?.admin || caller?.auditor || false} or p.visibility >= ${open}
           or greatest(${sql.raw(levels.join(', '))}) > 0)`.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Projects by their ids, whoever asks. */
export async function selectProjectRows(db: Db, ids: readonly number[]): Promise<ProjectRow[]> {
  const { rows } = await sql<ProjectRow>`
    select ${sql.raw(projectColumns)} from ${sql.raw(projectTables)}
    where p.id = any(${[...ids]}::bigint[])`.execute(db);
  return rows;
}

/** The condition that the project of a move between storages is there, over `container_id`. */
export const isMovedProjectThere = sql<boolean>`exists (
  select from projects c where c.id = container_id and not c.deleting)`;
