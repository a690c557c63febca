/** Promotion: a project's milestone becomes the group's, with those of the same title in the group's other projects. */
import { sql } from 'kysely';
import { type AuthorizedGroup, type AuthorizedProject, authorizeGroup } from '../../../kernel/access/find.ts';
import { lockNamespace } from '../../../kernel/access/resource-parent-queries.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { Failure } from '../../../platform/failure.ts';
import { nextIid } from '../counter-actions.ts';
import { milestoneHolders, plannedKinds } from '../planned.ts';
import { announceMilestone } from './actions.ts';
import type { MilestoneRow } from './milestone-records.ts';
import { lockSameMilestones } from './queries.ts';

/**
 * Makes the project's milestone one of its group; 400 outside of a group, 403 for a caller who may not manage
 * the group's.
 */
export async function promoteMilestone(
  { db, services }: { db: Db; services: Needs<'database' | 'registered'> },
  actor: Actor,
  project: AuthorizedProject,
  id: number,
): Promise<{ group: AuthorizedGroup; milestone: MilestoneRow }> {
  if (project.row.namespace_kind !== 'group')
    throw new Failure('bad_request', 'Project does not belong to a group.');
  const { points } = services.database;
  const group = await authorizeGroup(points, actor, 'manage_milestones', project.row.namespace_id);
  const milestone = await inTransaction(db, async (tx) => {
    await lockNamespace(tx, group.id);
    const milestones = await lockSameMilestones(tx, project, id);
    const promoted = found(milestones.find((each) => each.id === id));
    const target = await groupMilestone(tx, group, promoted);
    await merge(tx, services, milestones, target.id);
    await announceMilestone(tx, actor, group, 'milestone_promoted', target, {
      change: 'project',
      from: project.fullPath,
      to: group.row.full_path,
    });
    return target;
  });
  return { group, milestone };
}

/** The group's milestone of this title, made like the project's where there is none. */
async function groupMilestone(tx: Db, group: AuthorizedGroup, like: MilestoneRow): Promise<MilestoneRow> {
  const { title, description, state, start_date, due_date } = like;
  const known = await tx
    .selectFrom('milestones')
    .selectAll()
    .where('namespace_id', '=', group.id)
    .where('title', '=', title)
    .forUpdate()
    .executeTakeFirst();
  if (known) return known;
  const time = now();
  return tx
    .insertInto('milestones')
    .values({
      namespace_id: group.id,
      iid: await nextIid(tx, { groupId: group.id }),
      title,
      description,
      state,
      start_date,
      due_date,
      created_at: time,
      updated_at: time,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Moves everything that refers to some milestones to another, and removes them. */
async function merge(
  tx: Db,
  services: Needs<'registered'>,
  milestones: readonly MilestoneRow[],
  to: number,
): Promise<void> {
  const ids = milestones.map(({ id }) => id);
  const from = sql`milestone_id = any(${ids}::bigint[])`;
  for (const { table } of plannedKinds.all(services))
    await sql`update ${sql.table(table)} set milestone_id = ${to} where ${from}`.execute(ahead(tx));
  for (const holder of milestoneHolders.all(services))
    for (const { id, project_id } of milestones)
      if (project_id !== null) await holder.replace(tx, project_id, id, to);
  await sql`update resource_events set milestone_id = ${to} where ${from}`.execute(ahead(tx));
  await sql`delete from milestones where id = any(${ids}::bigint[])`.execute(ahead(tx));
}
