/** Numbers of milestones in their project or group; issues and epics get theirs at the insert. */
import { CompiledQuery } from 'kysely';
import type { Db } from '../../platform/db/database.ts';

const counters = {
  project: { table: 'project_counters', owner: 'project_id' },
  group: { table: 'group_counters', owner: 'namespace_id' },
} as const;

/** The next number, from 1. The counter stays locked until the transaction ends: call it late. */
export async function nextIid(tx: Db, where: { projectId: number } | { groupId: number }): Promise<number> {
  const { table, owner } = counters['projectId' in where ? 'project' : 'group'];
  const id = 'projectId' in where ? where.projectId : where.groupId;
  const text = `insert into ${table} as c (${owner}, milestones) values ($1, 1)
    on conflict (${owner}) do update set milestones = c.milestones + 1 returning milestones as iid`;
  const { rows } = await tx.executeQuery<{ iid: number }>(CompiledQuery.raw(text, [id]));
  const [row] = rows;
  if (!row) throw new Error('a counter counts');
  return row.iid;
}
