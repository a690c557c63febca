/** Statements over projects, besides their list. */
import { type RawBuilder, sql } from 'kysely';
import {
  directProjectLevel,
  namespaceLevel,
  reachedCtes,
  sharedProjectLevel,
} from '../../core/access/memberships.ts';
import { INTERNAL, PUBLIC } from '../../core/access/roles.ts';
import type { Caller } from '../../core/identity/actor.ts';
import { type GroupRow, type ProjectRow, projectColumns, projectTables } from '../../core/namespaces/rows.ts';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import { offsetPage, type Page, type PageRequest } from '../../platform/db/page.ts';

/** Those of the projects that the caller sees, by id: for records inside records. */
export async function selectVisibleProjects(
  db: Db,
  caller: Caller,
  ids: readonly number[],
): Promise<Map<number, ProjectRow>> {
  const user = String(caller?.id ?? 0);
  const today = `'${now().toISOString().slice(0, 10)}'`;
  const open = caller && !caller.external ? INTERNAL : PUBLIC;
  const levels = [
    directProjectLevel(user, today),
    namespaceLevel(user, today, 'contents'),
    sharedProjectLevel(user, today),
  ];
  const { rows } = await sql<ProjectRow>`
    select ${sql.raw(projectColumns)} from ${sql.raw(projectTables)}
    where not p.deleting and p.id = any(${[...ids]}::bigint[])
      and (${caller?.admin || caller?.auditor || false} or p.visibility >= ${open}
           or greatest(${sql.raw(levels.join(', '))}) > 0)`.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}

/** A pattern for what somebody searches for, in which `%` and `_` are letters. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, (letter) => `\\${letter}`)}%`;

export type GroupQuestion = {
  /** Over `namespaces n`. */
  where: RawBuilder<unknown>;
  search: string | undefined;
  skip: readonly number[] | undefined;
  /** The caller's least role; 0 for whatever they see. */
  leastLevel: number;
};

/** Groups that the caller sees and the question admits, by name. */
export async function listVisibleGroups(
  db: Db,
  caller: Caller,
  page: PageRequest,
  question: GroupQuestion,
): Promise<Page<GroupRow>> {
  const today = `'${now().toISOString().slice(0, 10)}'`;
  const open = caller && !caller.external ? INTERNAL : PUBLIC;
  const all = caller?.admin || caller?.auditor || false;
  const pattern = containing(question.search ?? '');
  const from = sql`
    from namespaces n left join reached_groups r on r.id = n.id
    where n.kind = 'group' and not n.deleting and ${question.where}
      and (${all} or r.id is not null or (${question.leastLevel === 0} and n.visibility >= ${open}))
      and (${all} or coalesce(r.level, 0) >= ${question.leastLevel})
      and (n.name ilike ${pattern} or n.full_path ilike ${pattern})
      and not n.id = any(${[...(question.skip ?? [])]}::bigint[])`;
  const reached = sql.raw(`with ${reachedCtes(String(caller?.id ?? 0), today)}`);
  const offset = page.kind === 'offset' ? page : { ...page, kind: 'offset' as const, page: 1, offset: 0 };
  const { rows } = await sql<GroupRow>`
    ${reached} select n.* ${from} order by n.name, n.id limit ${offset.perPage + 1} offset ${offset.offset}`.execute(
    db,
  );
  return offsetPage(offset, rows, async () => {
    const counted = await sql<{ count: number }>`
      ${reached} select count(*) as count from (select 1 ${from} limit ${page.countLimit + 1}) counted`.execute(
      db,
    );
    return counted.rows[0]?.count ?? 0;
  });
}
