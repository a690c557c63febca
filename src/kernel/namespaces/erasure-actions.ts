/**
 * Deletes groups and projects: one transaction hides them and frees their paths; then a task erases them in
 * batches, each of which may be the last before the process dies.
 */
import { type RawBuilder, sql } from 'kysely';
import { now } from '../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../platform/db/database.ts';
import { insertFacts } from '../../platform/outbox/outbox.ts';
import { announce, announceAll } from '../activity/announce-actions.ts';
import { lockNamespace } from './path-actions.ts';
import { groupSnapshot, projectSnapshot } from './snapshot-queries.ts';

/** Removes a capability's rows before those of the projects, or of the groups and personal namespaces. */
export type Eraser = (
  tx: Db,
  gone: { projectIds: readonly number[]; namespaceIds: readonly number[] },
) => Promise<void>;

const PROJECTS_PER_BATCH = 50;
const NAMESPACES_PER_BATCH = 100;
const MARKED_PER_RUN = 1_000;
/** A task without an end for so long counts as lost, and its fact is written again. */
const LOST_AFTER_MS = 3_600_000;

const below = (id: number): RawBuilder<unknown> =>
  sql`(select id from namespaces where ancestor_ids @> array[${id}]::bigint[])`;

/** Bots of access tokens go with their project or group: first their rights, then as users are deleted. */
async function dismissBots(tx: Db, tokens: RawBuilder<unknown>): Promise<void> {
  const time = now();
  const facts = insertFacts(
    `select 'user_deleted', jsonb_build_object('user_id', id), updated_at from dismissed`,
  );
  await sql`
    with revoked as (
      update access_tokens set revoked_at = coalesce(revoked_at, ${time}), updated_at = ${time}
      where ${tokens} returning user_id, kind),
    dismissed as (
      update users set state = 'blocked', deletion = 'reassign', updated_at = ${time}
      -- The token of a job may be that of any bot.
      where id in (select user_id from revoked where kind <> 'job') and kind in ('project_bot', 'group_bot') and deletion is null
      returning id, updated_at)
    ${sql.raw(facts)}`.execute(ahead(tx));
}

/** Service accounts go with the group that made them, wherever they are members. */
const dismissServiceAccounts = (tx: Db, groups: RawBuilder<unknown>): Promise<unknown> =>
  sql`
    with dismissed as (
      update users set state = 'blocked', deletion = 'reassign', updated_at = ${now()}
      where kind = 'service_account' and provisioned_by_group_id in ${groups} and deletion is null
      returning id, updated_at)
    ${sql.raw(insertFacts(`select 'user_deleted', jsonb_build_object('user_id', id), updated_at from dismissed`))}`.execute(
    ahead(tx),
  );

/** Decrements the fork counts of the projects' origins. */
const forgetForks = (tx: Db, projects: RawBuilder<unknown>) =>
  sql`
    update projects s set forks_count = greatest(s.forks_count - f.forks, 0)
    from (select forked_from_id as id, count(*)::integer as forks from projects
          where ${projects} and not deleting and forked_from_id is not null group by 1) f
    where s.id = f.id`.execute(ahead(tx));

/** Writes the facts that projects go, before they do. `placeId` is the group whose hooks are there to be told. */
const announceGoingProjects = (
  tx: Db,
  projects: RawBuilder<unknown>,
  placeId: number | null,
): Promise<unknown> =>
  sql`
    with gone as (
      select p.id, ${projectSnapshot()} as told, ${placeId}::bigint as place_id, ${now()}::timestamptz as at
      from projects p join namespaces n on n.id = p.namespace_id where ${projects} and not p.deleting)
    ${sql.raw(
      insertFacts(`select 'project_destroyed',
        jsonb_build_object('project_id', id, 'namespace_id', place_id, 'gone', told), at from gone order by id`),
    )}`.execute(ahead(tx));

/** The same of groups. */
const announceGoingGroups = (tx: Db, groups: RawBuilder<unknown>, placeId: number | null): Promise<unknown> =>
  sql`
    with gone as (
      select n.id, ${groupSnapshot()} as told, ${placeId}::bigint as place_id, ${now()}::timestamptz as at
      from namespaces n where ${groups} and n.kind = 'group' and not n.deleting)
    ${sql.raw(
      insertFacts(`select 'group_destroyed',
        jsonb_build_object('group_id', id, 'namespace_id', place_id, 'gone', told), at from gone order by id`),
    )}`.execute(ahead(tx));

/** Hides a project and frees its path and name; its rows are erased later. */
export async function markProjectDeleting(tx: Db, id: number): Promise<void> {
  const present = await tx
    .selectFrom('projects')
    .select(['id', 'namespace_id'])
    .where('id', '=', id)
    .where('deleting', '=', false)
    .forUpdate()
    .executeTakeFirst();
  if (!present) return;
  await announceGoingProjects(tx, sql`p.id = ${id}`, present.namespace_id);
  await forgetForks(tx, sql`id = ${id}`);
  await ahead(tx)
    .updateTable('projects')
    .set({
      deleting: true,
      path: sql<string>`path || ${`-deleted-${id}`}::text`,
      name: sql<string>`name || ${`-deleted-${id}`}::text`,
      updated_at: now(),
    })
    .where('id', '=', id)
    .execute();
  await ahead(tx).deleteFrom('project_redirects').where('project_id', '=', id).execute();
  await dismissBots(tx, sql`project_id = ${id}`);
  await announce(tx, { fact: { name: 'project_deleted', payload: { project_id: id } } });
}

/**
 * Hides a namespace, by its id or a statement for it, and its descendants, frees its path, removes its shares, enterprise
 * users, bots and service accounts.
 */
export async function markNamespaceDeleting(tx: Db, namespace: number | RawBuilder<unknown>): Promise<void> {
  const row = await lockNamespace(tx, namespace);
  if (!row) return;
  const { id } = row;
  const time = now();
  const freed = `${row.full_path}-deleted-${id}`;
  await announceGoingProjects(tx, sql`p.namespace_id in ${below(id)}`, row.parent_id);
  await announceGoingGroups(tx, sql`n.ancestor_ids @> array[${id}]::bigint[]`, row.parent_id);
  await sql`
    update namespaces set deleting = true, updated_at = ${time},
      full_path = ${freed}::text || substr(full_path, ${row.full_path.length + 1}::integer),
      path = case when id = ${id} then path || ${`-deleted-${id}`}::text else path end
    where ancestor_ids @> array[${id}]::bigint[]`.execute(ahead(tx));
  await forgetForks(tx, sql`namespace_id in ${below(id)}`);
  await sql`
    update projects set deleting = true, updated_at = ${time}
    where namespace_id in ${below(id)} and not deleting`.execute(ahead(tx));
  await sql`
    delete from group_group_links
    where shared_group_id in ${below(id)} or shared_with_group_id in ${below(id)}`.execute(ahead(tx));
  await sql`delete from project_group_links where group_id in ${below(id)}`.execute(ahead(tx));
  await sql`
    update users set enterprise_group_id = null, enterprise_group_associated_at = null
    where enterprise_group_id in ${below(id)}`.execute(ahead(tx));
  await dismissBots(
    tx,
    sql`(namespace_id in ${below(id)}
      or project_id in (select id from projects where namespace_id in ${below(id)}))`,
  );
  await dismissServiceAccounts(tx, below(id));
  await announce(tx, { fact: { name: 'namespace_deleted', payload: { namespace_id: id } } });
}

/** Erases one batch of hidden projects; returns their number. */
async function eraseProjectBatch(
  db: Db,
  erasers: readonly Eraser[],
  where: RawBuilder<unknown>,
): Promise<number> {
  return inTransaction(db, async (tx) => {
    const { rows } = await sql<{ id: number }>`
      select id from projects where deleting and ${where} order by id limit ${PROJECTS_PER_BATCH}
      for update skip locked`.execute(tx);
    const ids = rows.map((row) => row.id);
    if (ids.length === 0) return 0;
    for (const erase of erasers) await erase(tx, { projectIds: ids, namespaceIds: [] });
    await ahead(tx).deleteFrom('projects').where('id', 'in', ids).execute();
    return ids.length;
  });
}

/** Erases one batch of hidden and empty namespaces; returns their number. */
async function eraseNamespaceBatch(db: Db, erasers: readonly Eraser[], id: number): Promise<number> {
  return inTransaction(db, async (tx) => {
    const { rows } = await sql<{ id: number }>`
      select n.id from namespaces n
      where n.deleting and n.ancestor_ids @> array[${id}]::bigint[]
        and not exists (select from namespaces c where c.parent_id = n.id)
        and not exists (select from projects p where p.namespace_id = n.id)
      order by n.id limit ${NAMESPACES_PER_BATCH} for update skip locked`.execute(tx);
    const ids = rows.map((row) => row.id);
    if (ids.length === 0) return 0;
    for (const erase of erasers) await erase(tx, { projectIds: [], namespaceIds: ids });
    await ahead(tx).deleteFrom('namespaces').where('id', 'in', ids).execute();
    return ids.length;
  });
}

/** Erases a project that markProjectDeleting() has hidden; does nothing to any other. */
export async function eraseProject(db: Db, erasers: readonly Eraser[], id: number): Promise<void> {
  await eraseProjectBatch(db, erasers, sql`id = ${id}`);
}

/**
 * Erases a namespace that markNamespaceDeleting() has hidden: its projects, then its groups from the leaves
 * up. Does nothing to any other; a second run continues the first.
 */
export async function eraseNamespace(db: Db, erasers: readonly Eraser[], id: number): Promise<void> {
  const inside = sql`namespace_id in ${below(id)}`;
  // Each round removes rows, and nothing is added to hidden trees: both loops end.
  while ((await eraseProjectBatch(db, erasers, inside)) > 0);
  while ((await eraseNamespaceBatch(db, erasers, id)) > 0);
}

/** Deletes groups and projects marked at least `period` days ago, and resumes interrupted erasures. */
export async function deleteOverdue(db: Db, period: number): Promise<void> {
  const until = new Date(now().getTime() - period * 86_400_000).toISOString().slice(0, 10);
  const groups = await db
    .selectFrom('namespaces')
    .select(['id', 'full_path'])
    .where('marked_for_deletion_on', '<=', until)
    .where('deleting', '=', false)
    .orderBy('id')
    .limit(MARKED_PER_RUN)
    .execute();
  for (const { id, full_path: path } of groups) {
    await inTransaction(db, async (tx) => {
      await markNamespaceDeleting(tx, id);
      await announce(tx, {
        audit: { entity: { type: 'Group', id, path }, event: 'group_destroyed' },
      });
    });
  }
  const projects = await db
    .selectFrom('projects')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .select(['projects.id', sql<string>`namespaces.full_path || '/' || projects.path`.as('path')])
    .where('projects.marked_for_deletion_on', '<=', until)
    .where('projects.deleting', '=', false)
    .orderBy('projects.id')
    .limit(MARKED_PER_RUN)
    .execute();
  for (const { id, path } of projects) {
    await inTransaction(db, async (tx) => {
      await markProjectDeleting(tx, id);
      await announce(tx, {
        audit: { entity: { type: 'Project', id, path }, event: 'project_destroyed' },
      });
    });
  }
  await resumeLost(db);
}

async function resumeLost(db: Db): Promise<void> {
  const before = new Date(now().getTime() - LOST_AFTER_MS);
  await inTransaction(db, async (tx) => {
    const { rows } = await sql<{ namespace_id: number | null; project_id: number | null }>`
      select n.id as namespace_id, null::bigint as project_id from namespaces n
      where n.deleting and n.updated_at < ${before}
        and not exists (select from namespaces a where a.id = n.parent_id and a.deleting)
      union all
      select null, p.id from projects p join namespaces n on n.id = p.namespace_id
      where p.deleting and p.updated_at < ${before} and not n.deleting`.execute(tx);
    await announceAll(
      tx,
      rows.map(({ namespace_id, project_id }) => ({
        fact:
          project_id === null
            ? { name: 'namespace_deleted', payload: { namespace_id } }
            : { name: 'project_deleted', payload: { project_id } },
      })),
    );
  });
}
