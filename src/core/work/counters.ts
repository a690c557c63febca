/** The numbers that issues, epics and milestones have within their project or group. */
import { CompiledQuery } from 'kysely';
import type { Db } from '../../platform/db/database.ts';

const counters = {
  project: { table: 'project_counters', owner: 'project_id' },
  group: { table: 'group_counters', owner: 'namespace_id' },
} as const;

/**
 * The text of a statement, or CTE, whose one row has `iid`: the next number, or the one that is given, above which others
 * then go on. `owner` and `given` are expressions. The row is locked until the transaction ends, so that a number is given
 * up with what would have had it and none is left out. `also` are columns of the row and what is added to them.
 */
export function countUp(
  where: keyof typeof counters,
  what: 'issues' | 'milestones' | 'epics',
  owner: string,
  given = 'null',
  also: Readonly<Record<string, string>> = {},
): string {
  const counter = counters[where];
  const columns = [counter.owner, what, ...Object.keys(also)];
  const values = [owner, `coalesce(${given}, 1)`, ...Object.values(also)];
  const more = Object.entries(also).map(([column, amount]) => `, ${column} = c.${column} + ${amount}`);
  return `insert into ${counter.table} as c (${columns.join(', ')}) values (${values.join(', ')})
    on conflict (${counter.owner}) do update
      set ${what} = greatest(c.${what} + (${given} is null)::integer, ${given})${more.join('')}
    returning coalesce(${given}, c.${what}) as iid`;
}

/** The next number, starting at 1. Others wait for it until the transaction ends: take it as late as possible. */
export async function nextIid(
  tx: Db,
  where: { projectId: number } | { groupId: number },
  what: 'issues' | 'milestones' | 'epics',
): Promise<number> {
  const text =
    'projectId' in where ? countUp('project', what, '$1::bigint') : countUp('group', what, '$1::bigint');
  const id = 'projectId' in where ? where.projectId : where.groupId;
  const { rows } = await tx.executeQuery<{ iid: number }>(CompiledQuery.raw(text, [id]));
  const [row] = rows;
  if (!row) throw new Error('a counter counts');
  return row.iid;
}
