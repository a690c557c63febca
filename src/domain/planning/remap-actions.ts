/**
 * After the move of a project: labels and milestones of groups that are no longer its ancestors are replaced,
 * on all that they plan, by those of the same name in its new groups, or by copies in the project.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Needs } from '../../kernel/services.ts';
import { now } from '../../platform/clock.ts';
import { ahead, type Db } from '../../platform/db/database.ts';
import { nextIid } from './counter-actions.ts';
import {
  type LabelHolder,
  labelHolders,
  type MilestoneHolder,
  milestoneHolders,
  type Planned,
  plannedKinds,
} from './planned.ts';

/** Call it in the transaction of the move, when the projects and groups have their new ancestors. */
export async function remapPlanning(
  tx: Db,
  services: Needs<'registered'>,
  projectIds: readonly number[],
): Promise<void> {
  if (projectIds.length === 0) return;
  const kinds = plannedKinds.all(services);
  await remapLabels(tx, kinds, labelHolders.all(services), sql`${[...projectIds]}::bigint[]`);
  const holders = [...kinds.map(holderOf), ...milestoneHolders.all(services)];
  for (const holder of holders) await remapMilestones(tx, holder, projectIds);
}

/** The row `x` belongs to a group that is no ancestor of the project. */
const lost = (x: string) => sql`${sql.ref(`${x}.namespace_id`)} is not null
  and not ${sql.ref(`${x}.namespace_id`)} = any(n.ancestor_ids)`;

/** The row of this name at a project `p` in `n`: its own before those of its groups, nearest first. */
const nearest = (table: 'labels' | 'milestones', name: 'name' | 'title', of: string) => sql`(
  select t.id from ${sql.table(table)} t where t.${sql.ref(name)} = ${sql.ref(`${of}.${name}`)}
    and (t.project_id = p.id or t.namespace_id = any(n.ancestor_ids))
  order by array_position(n.ancestor_ids, t.namespace_id) desc nulls first limit 1)`;

/** The projects and labels of all that has some. */
const labelled = (kinds: readonly Planned[], holders: readonly LabelHolder[]): RawBuilder<unknown> =>
  sql.join(
    [
      ...kinds.map(
        ({ table, column }) => sql`select t.project_id, k.label_id
          from ${sql.table(table)} t join label_links k on ${sql.ref(`k.${column}`)} = t.id`,
      ),
      ...holders.map(({ select }) => select),
    ],
    sql` union all `,
  );

async function remapLabels(
  tx: Db,
  kinds: readonly Planned[],
  holders: readonly LabelHolder[],
  projects: RawBuilder<unknown>,
): Promise<void> {
  const time = now();
  await sql`create temporary table resettled_labels on commit drop as
    select distinct p.id as project_id, l.id as label_id, null::bigint as new_id from projects p
    join namespaces n on n.id = p.namespace_id
    join (${labelled(kinds, holders)}) k on k.project_id = p.id join labels l on l.id = k.label_id
    where p.id = any(${projects}) and ${lost('l')}`.execute(ahead(tx));
  await sql`insert into labels (project_id, name, description, color, archived, created_at, updated_at)
    select p.id, l.name, l.description, l.color, l.archived, ${time}, ${time} from resettled_labels r
    join labels l on l.id = r.label_id join projects p on p.id = r.project_id
    join namespaces n on n.id = p.namespace_id
    where ${nearest('labels', 'name', 'l')} is null on conflict do nothing`.execute(ahead(tx));
  await sql`update resettled_labels r set new_id = ${nearest('labels', 'name', 'l')}
    from labels l, projects p join namespaces n on n.id = p.namespace_id
    where l.id = r.label_id and p.id = r.project_id`.execute(ahead(tx));
  for (const kind of kinds) await relabel(tx, kind);
  await relabelHolders(tx, holders);
  await sql`insert into label_priorities (project_id, label_id, priority)
    select y.project_id, r.new_id, y.priority from resettled_labels r
    join label_priorities y on y.project_id = r.project_id and y.label_id = r.label_id on conflict do nothing`.execute(
    ahead(tx),
  );
  await sql`insert into subscriptions (user_id, label_id, project_id, subscribed, created_at, updated_at)
    select s.user_id, r.new_id, s.project_id, s.subscribed, s.created_at, s.updated_at from resettled_labels r
    join subscriptions s on s.label_id = r.label_id and s.project_id = r.project_id on conflict do nothing`.execute(
    ahead(tx),
  );
  for (const table of ['label_priorities', 'subscriptions'] as const)
    await sql`delete from ${sql.table(table)} x using labels l, projects p join namespaces n on n.id = p.namespace_id
      where x.project_id = p.id and p.id = any(${projects}) and l.id = x.label_id and ${lost('l')}`.execute(
      ahead(tx),
    );
  await sql`drop table resettled_labels`.execute(ahead(tx));
}

/** Gives one kind of the planned things their new labels. */
async function relabel(tx: Db, { table, column }: Planned): Promise<void> {
  const things = sql.table(table);
  const link = sql.ref(`k.${column}`);
  await sql`insert into label_links (label_id, ${sql.ref(column)})
    select r.new_id, ${link} from resettled_labels r join label_links k on k.label_id = r.label_id
    join ${things} t on t.id = ${link} and t.project_id = r.project_id on conflict do nothing`.execute(
    ahead(tx),
  );
  await sql`delete from label_links k using resettled_labels r, ${things} t
    where k.label_id = r.label_id and t.id = ${link} and t.project_id = r.project_id`.execute(ahead(tx));
  await sql`update resource_events e set label_id = r.new_id from resettled_labels r, ${things} t
    where e.label_id = r.label_id and t.id = ${sql.ref(`e.${column}`)} and t.project_id = r.project_id`.execute(
    ahead(tx),
  );
}

async function relabelHolders(tx: Db, holders: readonly LabelHolder[]): Promise<void> {
  if (holders.length === 0) return;
  const { rows } = await sql<{ project_id: number; label_id: number; new_id: number }>`
    select r.* from resettled_labels r
    join (${sql.join(
      holders.map(({ select }) => select),
      sql` union `,
    )}) h on h.project_id = r.project_id and h.label_id = r.label_id
    where r.new_id is not null order by 1, 2`.execute(tx);
  for (const { project_id, label_id, new_id } of rows)
    for (const holder of holders) await holder.replace(tx, project_id, label_id, new_id);
}

/** What has one milestone at most. */
function holderOf({ table, column }: Planned): MilestoneHolder {
  const things = sql.table(table);
  return {
    select: sql`select project_id, milestone_id from ${things}`,
    async replace(tx, projectId, milestoneId, by) {
      const moved = sql`(select id from ${things} where project_id = ${projectId})`;
      await sql`update resource_events set milestone_id = ${by}
        where milestone_id = ${milestoneId} and ${sql.ref(column)} in ${moved}`.execute(ahead(tx));
      await sql`update ${things} set milestone_id = ${by}
        where milestone_id = ${milestoneId} and project_id = ${projectId}`.execute(ahead(tx));
    },
  };
}

async function remapMilestones(
  tx: Db,
  holder: MilestoneHolder,
  projectIds: readonly number[],
): Promise<void> {
  const { rows } = await sql<{ project_id: number; milestone_id: number; new_id: number | null }>`
    select distinct p.id as project_id, m.id as milestone_id, ${nearest('milestones', 'title', 'm')} as new_id
    from projects p join namespaces n on n.id = p.namespace_id
    join (${holder.select}) t on t.project_id = p.id join milestones m on m.id = t.milestone_id
    where p.id = any(${[...projectIds]}::bigint[]) and ${lost('m')} order by 1, 2`.execute(tx);
  for (const { project_id, milestone_id, new_id } of rows) {
    const id = new_id ?? (await copyMilestone(tx, project_id, milestone_id));
    // It was deleted meanwhile, and what had it has none.
    if (id !== undefined) await holder.replace(tx, project_id, milestone_id, id);
  }
}

/** Copies the milestone to the project; returns its id, or undefined where the original is gone. */
async function copyMilestone(tx: Db, projectId: number, milestoneId: number): Promise<number | undefined> {
  const milestone = await tx
    .selectFrom('milestones')
    .select(['title', 'description', 'state', 'start_date', 'due_date'])
    .where('id', '=', milestoneId)
    .executeTakeFirst();
  if (!milestone) return undefined;
  const time = now();
  const { id } = await tx
    .insertInto('milestones')
    .values({
      project_id: projectId,
      iid: await nextIid(tx, { projectId }),
      ...milestone,
      created_at: time,
      updated_at: time,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}
