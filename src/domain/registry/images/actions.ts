/** Writes repositories of images: links to blobs, manifests and tags. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { takeTurns } from '../../../platform/turns.ts';
import type { Manifest } from '../manifests/parse.ts';
import { immutableTag, requireTagDelete } from '../protection/refusals.ts';
import type { TagGuard } from '../protection/rules.ts';
import { RegistryError } from '../refusals/errors.ts';
import { type RepositoryName, selectRepository } from './queries.ts';

/** The repository, made at the first push to it. NAME_UNKNOWN where its project is gone. */
export async function keepRepository(db: Db, repository: RepositoryName): Promise<number> {
  const found = await selectRepository(db, repository);
  if (found !== undefined) return found;
  const { projectId, name } = repository;
  await sql`
    insert into container_repositories (project_id, name, created_at, updated_at)
    select id, ${name}, ${now()}, ${now()} from projects where id = ${projectId} and not deleting for key share
    on conflict do nothing`.execute(db);
  const made = await selectRepository(db, repository);
  if (made === undefined) throw new RegistryError('NAME_UNKNOWN', 'the project of this image is gone');
  return made;
}

/** Holds the repository until the transaction ends; NAME_UNKNOWN where it is gone. */
export async function holdRepository(tx: Db, id: number): Promise<void> {
  const { rows } =
    await sql`select from container_repositories where id = ${id} and status is null for key share`.execute(
      tx,
    );
  if (rows.length === 0) throw new RegistryError('NAME_UNKNOWN', 'this repository is gone');
}

/** Lets the repository serve the blob, whose bytes are kept in the same transaction. */
export async function linkBlob(
  tx: Db,
  repositoryId: number,
  { digest, sha256, size }: { digest: string; sha256: Buffer; size: number },
): Promise<void> {
  await sql`
    insert into container_blobs (repository_id, digest, sha256, size, linked_at)
    values (${repositoryId}, ${digest}, ${sha256}, ${size}, ${now()})
    on conflict (repository_id, digest) do update set linked_at = excluded.linked_at`.execute(tx);
}

/** The same for a blob that another repository serves; false where that does not. */
export async function mountBlob(
  db: Db,
  repositoryId: number,
  { from, digest }: { from: number; digest: string },
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    await holdRepository(tx, repositoryId);
    const { rows } = await sql<{ sha256: Buffer; size: number }>`
      select sha256, size from container_blobs where repository_id = ${from} and digest = ${digest}
      for key share`.execute(tx);
    const [blob] = rows;
    if (!blob) return false;
    await linkBlob(tx, repositoryId, { digest, ...blob });
    return true;
  });
}

/** A client that finds the blob there pushes its manifest next. */
export async function renewLink(db: Db, repositoryId: number, digest: string): Promise<void> {
  await db
    .updateTable('container_blobs')
    .set({ linked_at: now() })
    .where('repository_id', '=', repositoryId)
    .where('digest', '=', digest)
    .execute();
}

/** The SHA-256 of the blob whose link went; UNSUPPORTED while a manifest needs it. */
export const unlinkBlob = (db: Db, repositoryId: number, digest: string): Promise<Buffer> =>
  inTransaction(db, async (tx) => {
    const { rows } = await sql<{ sha256: Buffer }>`
      select sha256 from container_blobs where repository_id = ${repositoryId} and digest = ${digest}
      for update`.execute(tx);
    const [blob] = rows;
    if (!blob) throw new RegistryError('BLOB_UNKNOWN', 'this repository has no such blob');
    // A statement of its own: it sees what was written by those whom the lock waited for.
    const { numDeletedRows } = await tx
      .deleteFrom('container_blobs')
      .where('repository_id', '=', repositoryId)
      .where('digest', '=', digest)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('container_manifest_blobs as m')
              .select('m.digest')
              .where('m.repository_id', '=', repositoryId)
              .where('m.digest', '=', digest),
          ),
        ),
      )
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw new RegistryError('UNSUPPORTED', 'a manifest refers to this blob');
    return blob.sha256;
  });

export type NewManifest = {
  digest: string;
  sha256: Buffer;
  size: number;
  manifest: Manifest;
  tags: readonly string[];
  /** Those of the tags that are not moved to another manifest. */
  immutable: readonly string[];
};

/** 404 with the first of the digests that is not among those found. */
function requireAll(wanted: readonly string[], found: readonly { digest: string }[], what: string): void {
  const known = new Set(found.map(({ digest }) => digest));
  const missing = wanted.find((digest) => !known.has(digest));
  if (missing !== undefined)
    throw new RegistryError('MANIFEST_BLOB_UNKNOWN', `this repository does not have the ${what} ${missing}`);
}

/**
 * Writes the manifest and its tags in the transaction in which its bytes are kept. MANIFEST_BLOB_UNKNOWN where the repository
 * does not have what it refers to; DENIED where one of the tags is immutable, and another manifest's.
 */
export async function keepManifest(
  tx: Db,
  repositoryId: number,
  { digest, sha256, size, manifest, tags, immutable }: NewManifest,
): Promise<void> {
  const { blobs, children } = manifest;
  // No link goes while a lock is on it.
  const linked = await sql<{ digest: string }>`
    select digest from container_blobs where repository_id = ${repositoryId} and digest = any(${blobs}::text[])
    order by digest for key share`.execute(tx);
  requireAll(blobs, linked.rows, 'blob');
  const held = await sql<{ id: number; digest: string }>`
    select id, digest from container_manifests
    where repository_id = ${repositoryId} and digest = any(${children}::text[])
    order by id for key share`.execute(tx);
  requireAll(children, held.rows, 'manifest');
  const { rows } = await sql<{ id: number }>`
    insert into container_manifests (repository_id, digest, media_type, sha256, size, config_digest, subject,
      artifact_type, annotations, created_at)
    values (${repositoryId}, ${digest}, ${manifest.mediaType}, ${sha256}, ${size}, ${manifest.config},
      ${manifest.subject}, ${manifest.artifactType},
      ${manifest.annotations && JSON.stringify(manifest.annotations)}::text::jsonb, ${now()})
    on conflict (repository_id, digest) do update set digest = excluded.digest, unneeded_since = null returning id`.execute(
    tx,
  );
  const id = rows[0]?.id ?? 0;
  await sql`
    insert into container_manifest_blobs (manifest_id, repository_id, digest)
    select ${id}, ${repositoryId}, digest from unnest(${blobs}::text[]) as given (digest)
    on conflict do nothing`.execute(tx);
  await sql`
    insert into container_manifest_children (manifest_id, child_id)
    select ${id}, child from unnest(${held.rows.map((each) => each.id)}::bigint[]) as given (child)
    on conflict do nothing`.execute(tx);
  const tagged = await sql<{ name: string }>`
    insert into container_tags (repository_id, name, manifest_id, created_at, updated_at)
    select ${repositoryId}, name, ${id}, ${now()}, ${now()} from unnest(${[...tags].sort()}::text[]) as given (name)
    on conflict (repository_id, name) do update
    set manifest_id = excluded.manifest_id, updated_at = excluded.updated_at
    where container_tags.manifest_id = excluded.manifest_id or container_tags.name <> all(${immutable}::text[])
    returning name`.execute(tx);
  const done = new Set(tagged.rows.map(({ name }) => name));
  const refused = tags.find((tag) => !done.has(tag));
  if (refused !== undefined) throw immutableTag(refused);
  await sql`update container_repositories set updated_at = ${now()} where id = ${repositoryId}`.execute(
    ahead(tx),
  );
}

const TAGS_AT_ONCE = 1_000;

/** DENIED where a tag of the manifest, which is locked, is kept from the caller. */
async function requireTagsDelete(tx: Db, manifestId: number, guard: TagGuard): Promise<void> {
  const turn = takeTurns();
  let after = 0;
  for (;;) {
    const { rows } = await sql<{ id: number; name: string }>`
      select id, name from container_tags where manifest_id = ${manifestId} and id > ${after}
      order by id limit ${TAGS_AT_ONCE}`.execute(tx);
    for (const { name } of rows) {
      requireTagDelete(guard, name);
      await turn();
    }
    const last = rows.at(-1);
    if (!last || rows.length < TAGS_AT_ONCE) return;
    after = last.id;
  }
}

/** The SHA-256 of the manifest that went, with its tags; DENIED while another one lists it, or for a tag that is protected. */
export const deleteManifest = (
  db: Db,
  repositoryId: number,
  digest: string,
  guard: TagGuard | undefined,
): Promise<Buffer> =>
  inTransaction(db, async (tx) => {
    const { rows } = await sql<{ id: number; sha256: Buffer }>`
      select id, sha256 from container_manifests where repository_id = ${repositoryId} and digest = ${digest}
      for update`.execute(tx);
    const [row] = rows;
    if (!row) throw new RegistryError('MANIFEST_UNKNOWN', 'this repository has no such manifest');
    if (guard) await requireTagsDelete(tx, row.id, guard);
    const listed = await sql`
      select from container_manifest_children where child_id = ${row.id} limit 1`.execute(tx);
    if (listed.rows.length > 0)
      throw new RegistryError('DENIED', 'an index lists this manifest: delete that first', { status: 409 });
    // Its blobs are kept for a day from now. The lock is one that pushes of manifests, which hold them, need not wait for.
    await sql`
      update container_blobs b set linked_at = ${now()} from (
        select l.repository_id, l.digest from container_manifest_blobs m
        join container_blobs l on (l.repository_id, l.digest) = (m.repository_id, m.digest)
        where m.manifest_id = ${row.id} order by l.digest for no key update of l) of_it
      where (b.repository_id, b.digest) = (of_it.repository_id, of_it.digest)`.execute(tx);
    await tx.deleteFrom('container_manifests').where('id', '=', row.id).execute();
    return row.sha256;
  });

/** MANIFEST_UNKNOWN without the tag. */

/** False where the repository has no such tag. */
export async function deleteTag(db: Db, repositoryId: number, name: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('container_tags')
    .where('repository_id', '=', repositoryId)
    .where('name', '=', name)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
