/** Reads tags from the newest on, and deletes those that are as they were read. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';

export type TagPlace = { id: number; updated_at: Date };
type TagRow = TagPlace & { name: string };

type CleanedRepository = { project_id: number; name: string; has_policy: boolean };

/** A repository that is not being deleted, of a project where images are deleted. */
export async function selectCleaned(db: Db, id: number): Promise<CleanedRepository | undefined> {
  const { rows } = await sql<CleanedRepository>`
    select r.project_id, r.name,
      coalesce((p.settings -> 'container_expiration_policy' -> 'enabled') = 'true', false) as has_policy
    from container_repositories r join projects p on p.id = r.project_id
    where r.id = ${id} and r.status is null and not p.deleting and not p.archived`.execute(db);
  return rows[0];
}

/** Tags of a repository after a place, the newest first. */
export async function selectNewest(
  db: Db,
  repositoryId: number,
  after: TagPlace | undefined,
  limit: number,
): Promise<TagRow[]> {
  const behind = after ? sql`and (updated_at, id) < (${after.updated_at}, ${after.id})` : sql``;
  const { rows } = await sql<TagRow>`
    select id, name, updated_at from container_tags where repository_id = ${repositoryId} ${behind}
    order by updated_at desc, id desc limit ${limit}`.execute(db);
  return rows;
}

/** What was pushed again meanwhile stays. */
export async function deleteUnchanged(db: Db, tags: readonly TagPlace[]): Promise<void> {
  if (tags.length === 0) return;
  await sql`
    delete from container_tags t
    using unnest(${tags.map(({ id }) => id)}::bigint[], ${tags.map(({ updated_at }) => updated_at)}::timestamptz[])
      as seen (id, updated_at)
    where t.id = seen.id and t.updated_at = seen.updated_at`.execute(db);
}
