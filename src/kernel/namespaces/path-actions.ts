/**
 * Changes of paths: locks that keep a tree consistent, checks whether a path is free, and redirects from old
 * paths of projects (facts: Cross-cutting behaviour, moved project).
 */
import { type RawBuilder, sql } from 'kysely';
import { now } from '../../platform/clock.ts';
import { ahead, type Db } from '../../platform/db/database.ts';
import { Failure } from '../../platform/failure.ts';
import type { NamespaceRow } from './rows.ts';

/** Moves may keep changing the ancestors while they are locked: give up after so many attempts. */
const LOCK_ATTEMPTS = 5;

/**
 * Locks a namespace, by its id or a statement for it, before a change of it or below it, and returns its present row;
 * undefined when it is gone or being deleted. Its ancestors are locked against moves, so that its full path stays true until the
 * commit.
 */
export async function lockNamespace(
  tx: Db,
  id: number | RawBuilder<unknown>,
): Promise<NamespaceRow | undefined> {
  for (let attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
    // The ancestors first, from the root down, which avoids deadlocks in one tree.
    const { rows } = await sql<NamespaceRow & { known_ids: number[] }>`
      with known as materialized (select id, ancestor_ids from namespaces where id = ${id}),
      above as materialized (
        select from namespaces where id = any((select ancestor_ids from known)::bigint[]) and id <> (select id from known)
        order by cardinality(ancestor_ids) for share)
      select n.*, (select ancestor_ids from known) as known_ids from namespaces n
      where n.id = (select id from known) and not n.deleting and (select count(*) from above) is not null
      for no key update of n`.execute(tx);
    const [found] = rows;
    if (!found) return undefined;
    const { known_ids, ...row } = found;
    // It may have moved while this waited, and have other ancestors.
    if (row.ancestor_ids.join() === known_ids.join()) return row;
  }
  throw new Failure('conflict', '409 Conflict: Resource lock');
}

/** The statement for the id of a user's own namespace. */
export const personalNamespace = (userId: number): RawBuilder<unknown> =>
  sql`(select id from namespaces where owner_id = ${userId})`;

/** The namespace or project that is to get the path, which does not conflict with itself. */
type Asking = { namespaceId?: number; projectId?: number };

/**
 * The condition that a group or project in the namespace has the path. The caller has called lockNamespace() on it, so
 * that the result is true until the commit. Top-level paths are guarded by their unique index alone.
 */
export const pathTaken = (
  parent: NamespaceRow,
  path: string,
  asking: Asking = {},
): RawBuilder<boolean> => sql`(
  exists (select from namespaces
    where lower(full_path) collate "C" = ${`${parent.full_path}/${path}`.toLowerCase()} and id <> ${asking.namespaceId ?? 0})
  or exists (select from projects
    where namespace_id = ${parent.id} and lower(path) collate "C" = ${path.toLowerCase()} and id <> ${asking.projectId ?? 0}))`;

export async function isPathTaken(
  tx: Db,
  parent: NamespaceRow,
  path: string,
  asking: Asking = {},
): Promise<boolean> {
  const { rows } = await sql<{ taken: boolean }>`select ${pathTaken(parent, path, asking)} as taken`.execute(
    tx,
  );
  return rows[0]?.taken ?? false;
}

/** Projects below a namespace and their namespaces: `p` and `n`. */
const projectsBelow = (id: number): RawBuilder<unknown> => sql`
  projects p join namespaces n on n.id = p.namespace_id and n.ancestor_ids @> array[${id}]::bigint[]
  where not p.deleting`;

/** The new parent of a namespace (locked by the caller, or none for top level), with its path and name. */
export type NamespaceDestination = { parent: NamespaceRow | undefined; path: string; name: string };

/**
 * Changes a namespace's path, name or parent, and the full paths, full names and ancestors of its
 * descendants; projects with a new full path keep the old one as a redirect. The caller has called
 * lockNamespace() on it.
 */
export async function moveNamespace(
  tx: Db,
  row: NamespaceRow,
  to: NamespaceDestination,
): Promise<NamespaceRow> {
  const below = (name: 'full_path' | 'full_name', separator: string, own: string): string =>
    to.parent ? `${to.parent[name]}${separator}${own}` : own;
  const fullPath = below('full_path', '/', to.path);
  const fullName = below('full_name', ' / ', to.name);
  const ancestors = [...(to.parent?.ancestor_ids ?? []), row.id];
  const moved = fullPath !== row.full_path;
  if (moved) {
    await sql`
      insert into project_redirects (path, project_id)
      select lower(n.full_path || '/' || p.path), p.id from ${projectsBelow(row.id)}
      on conflict (path) do update set project_id = excluded.project_id`.execute(ahead(tx));
  }
  await sql`
    update namespaces set
      full_path = ${fullPath}::text || substr(full_path, ${row.full_path.length + 1}::integer),
      full_name = ${fullName}::text || substr(full_name, ${[...row.full_name].length + 1}::integer),
      ancestor_ids = ${ancestors}::bigint[] || ancestor_ids[${row.ancestor_ids.length + 1}::integer:]
    where ancestor_ids @> array[${row.id}]::bigint[]`.execute(ahead(tx));
  if (moved) {
    await sql`
      delete from project_redirects r
      using projects p join namespaces n on n.id = p.namespace_id and n.ancestor_ids @> array[${row.id}]::bigint[]
      where r.path = lower(n.full_path || '/' || p.path) and not p.deleting`.execute(ahead(tx));
  }
  const own = { parent_id: to.parent?.id ?? null, path: to.path, name: to.name, updated_at: now() };
  await ahead(tx).updateTable('namespaces').set(own).where('id', '=', row.id).execute();
  return { ...row, ...own, full_path: fullPath, full_name: fullName, ancestor_ids: ancestors };
}

/** Adds a redirect from a project's old full path, and removes one from its new path. */
export async function redirectProject(tx: Db, projectId: number, from: string, to: string): Promise<void> {
  await ahead(tx)
    .insertInto('project_redirects')
    .values({ path: from.toLowerCase(), project_id: projectId })
    .onConflict((conflict) => conflict.column('path').doUpdateSet({ project_id: projectId }))
    .execute();
  await forgetRedirect(tx, to);
}

/** Removes a redirect from a full path that a project has now. */
export async function forgetRedirect(tx: Db, fullPath: string): Promise<void> {
  await ahead(tx).deleteFrom('project_redirects').where('path', '=', fullPath.toLowerCase()).execute();
}
