/** Promotion: a project's label becomes the group's, with those of the same name in the group's other projects. */
import { sql } from 'kysely';
import { type AuthorizedGroup, type AuthorizedProject, authorizeGroup } from '../../../kernel/access/find.ts';
import { lockNamespace } from '../../../kernel/access/resource-parent-queries.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { Failure } from '../../../platform/failure.ts';
import { labelHolders } from '../planned.ts';
import { auditLabel } from './actions.ts';
import type { LabelRow } from './label-records.ts';
import { lockSameLabels } from './queries.ts';

/**
 * Makes the project's label one of its group; 400 outside of a group, 403 for a caller who may not manage the
 * group's labels.
 */
export async function promoteLabel(
  { db, services }: { db: Db; services: Needs<'database' | 'registered'> },
  actor: Actor,
  project: AuthorizedProject,
  name: string,
): Promise<{ group: AuthorizedGroup; label: LabelRow }> {
  if (project.row.namespace_kind !== 'group')
    throw new Failure('bad_request', 'Failed to promote project label to group label');
  const { points } = services.database;
  const group = await authorizeGroup(points, actor, 'manage_labels', project.row.namespace_id);
  const label = await inTransaction(db, async (tx) => {
    await lockNamespace(tx, group.id);
    const labels = await lockSameLabels(tx, project, name);
    const promoted = found(
      labels.find(({ project_id }) => project_id === project.id),
      'Label',
    );
    const target = await groupLabel(tx, group, promoted);
    await merge(tx, services, labels, target.id);
    await auditLabel(tx, actor, group, 'label_promoted', target, {
      change: 'project',
      from: project.fullPath,
      to: group.row.full_path,
    });
    return target;
  });
  return { group, label };
}

/** The group's label of this name, made like the project's where there is none. */
async function groupLabel(tx: Db, group: AuthorizedGroup, like: LabelRow): Promise<LabelRow> {
  const { name, description, color, archived } = like;
  const time = now();
  // One statement: a label that is deleted meanwhile is made anew, and an existing one is locked.
  return tx
    .insertInto('labels')
    .values({
      namespace_id: group.id,
      name,
      description,
      color,
      archived,
      created_at: time,
      updated_at: time,
    })
    .onConflict((known) =>
      known.columns(['namespace_id', 'name']).where('namespace_id', 'is not', null).doUpdateSet({ name }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Moves everything that refers to some labels to another, and removes them. */
async function merge(
  tx: Db,
  services: Needs<'registered'>,
  labels: readonly LabelRow[],
  to: number,
): Promise<void> {
  const ids = labels.map(({ id }) => id);
  const label = sql`${to}::bigint`;
  const from = sql`label_id = any(${ids}::bigint[])`;
  for (const holder of labelHolders.all(services))
    for (const { id, project_id } of labels)
      if (project_id !== null) await holder.replace(tx, project_id, id, to);
  await sql`insert into label_links (label_id, issue_id, epic_id, merge_request_id)
    select ${label}, issue_id, epic_id, merge_request_id from label_links where ${from} on conflict do nothing`.execute(
    ahead(tx),
  );
  await sql`insert into label_priorities (project_id, label_id, priority)
    select project_id, ${label}, priority from label_priorities where ${from} on conflict do nothing`.execute(
    ahead(tx),
  );
  await sql`insert into subscriptions (user_id, label_id, project_id, subscribed, created_at, updated_at)
    select user_id, ${label}, project_id, subscribed, created_at, updated_at from subscriptions where ${from}
    on conflict do nothing`.execute(ahead(tx));
  await sql`update resource_events set label_id = ${label} where ${from}`.execute(ahead(tx));
  await sql`delete from labels where id = any(${ids}::bigint[])`.execute(ahead(tx));
}
