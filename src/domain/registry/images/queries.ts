/** Finds repositories of images, their blobs, manifests and tags. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';

/** A repository by its project and its name there. */
export type RepositoryName = { projectId: number; name: string };

/** The id; undefined where there is none, and while it or its project is being deleted. */
export async function selectRepository(
  db: Db,
  { projectId, name }: RepositoryName,
): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`
    select r.id from container_repositories r join projects p on p.id = r.project_id
    where r.project_id = ${projectId} and r.name = ${name} and r.status is null and not p.deleting`.execute(
    db,
  );
  return rows[0]?.id;
}

export type LinkedBlob = { sha256: Buffer; size: number; linked_at: Date };

/** The blob, where the repository serves it. */
export const selectBlob = (db: Db, repositoryId: number, digest: string): Promise<LinkedBlob | undefined> =>
  db
    .selectFrom('container_blobs')
    .select(['sha256', 'size', 'linked_at'])
    .where('repository_id', '=', repositoryId)
    .where('digest', '=', digest)
    .executeTakeFirst();

export type ManifestRow = { id: number; digest: string; media_type: string; sha256: Buffer; size: number };

const manifests = (db: Db) =>
  db
    .selectFrom('container_manifests')
    .select([
      'container_manifests.id',
      'container_manifests.digest',
      'container_manifests.media_type',
      'container_manifests.sha256',
      'container_manifests.size',
    ]);

/** The manifest of a digest, or of a tag. */
export const selectManifest = (
  db: Db,
  repositoryId: number,
  reference: { digest: string } | { tag: string },
): Promise<ManifestRow | undefined> =>
  'digest' in reference
    ? manifests(db)
        .where('repository_id', '=', repositoryId)
        .where('digest', '=', reference.digest)
        .executeTakeFirst()
    : manifests(db)
        .innerJoin('container_tags', 'container_tags.manifest_id', 'container_manifests.id')
        .where('container_tags.repository_id', '=', repositoryId)
        .where('container_tags.name', '=', reference.tag)
        .executeTakeFirst();

/** Names of tags after `last`, in the order of their bytes. */
export async function selectTags(
  db: Db,
  repositoryId: number,
  last: string,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('container_tags')
    .select('name')
    .where('repository_id', '=', repositoryId)
    .where('name', '>', last)
    .orderBy('name')
    .limit(limit)
    .execute();
  return rows.map(({ name }) => name);
}

export type ReferrerRow = ManifestRow & {
  artifact_type: string | null;
  annotations: unknown;
};

/** Manifests about the digest, the oldest first, after the id `last`. */
export function selectReferrers(
  db: Db,
  repositoryId: number,
  subject: string,
  { last, limit, artifactType }: { last: number; limit: number; artifactType: string | undefined },
): Promise<ReferrerRow[]> {
  let query = manifests(db)
    .select(['artifact_type', 'annotations'])
    .where('repository_id', '=', repositoryId)
    .where('subject', '=', subject)
    .where('id', '>', last);
  if (artifactType !== undefined) query = query.where('artifact_type', '=', artifactType);
  return query.orderBy('id').limit(limit).execute();
}

/** Paths of all repositories that have a manifest, after `last`. */
export async function selectCatalog(db: Db, last: string, limit: number): Promise<string[]> {
  const { rows } = await sql<{ path: string }>`
    select path from (
      select lower(n.full_path || '/' || p.path) || case when r.name = '' then '' else '/' || r.name end
        collate "C" as path
      from container_repositories r join projects p on p.id = r.project_id join namespaces n on n.id = p.namespace_id
      where not p.deleting and r.status is null and exists (select from container_manifests m where m.repository_id = r.id)) all_paths
    where path > ${last} order by path limit ${limit}`.execute(db);
  return rows.map(({ path }) => path);
}

const DAY_MS = 86_400_000;
/** Uploads that began before this, and links that no manifest needs, are over. */
export const dayAgo = (): Date => new Date(now().getTime() - DAY_MS);

/** The project of a repository; undefined where there is none, or while the project is being deleted. */
export async function selectProjectIdOf(points: Sql, id: number): Promise<number | undefined> {
  const [row] = await points<{ project_id: number }[]>`
    select r.project_id from container_repositories r join projects p on p.id = r.project_id
    where r.id = ${id} and not p.deleting`;
  return row?.project_id;
}
