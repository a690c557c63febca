/** Statements over exports, and what of a project or group is no relation. */
import { type Selectable, sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { ExportsTable } from '../../../platform/db/rows.ts';
import type { Owner } from '../relations/export-queries.ts';

export type ExportRow = Selectable<ExportsTable>;

/** Milliseconds that an export is kept. */
const KEPT_MS = 86_400_000;

export const oldest = (): Date => new Date(now().getTime() - KEPT_MS);

/** Jobs that were tried for so long are tried no more. */
const GIVEN_UP_MS = 7 * KEPT_MS;

/** What was begun before and is not over has no job any more. */
export const longAgo = (): Date => new Date(now().getTime() - GIVEN_UP_MS);

export type ExportStatus = 'none' | 'queued' | 'started' | 'finished' | 'regeneration_in_progress';

export async function selectStatus(db: Db, { column, id }: Owner): Promise<ExportStatus> {
  const { rows } = await sql<{ status: string }>`
    select status from exports where ${sql.ref(column)} = ${id}
      and (status in ('queued', 'started') or status = 'finished' and finished_at > ${oldest()})`.execute(db);
  const found = rows.map(({ status }) => status);
  if (found.length > 1) return 'regeneration_in_progress';
  return (found[0] as ExportStatus | undefined) ?? 'none';
}

export const selectFinished = (db: Db, { column, id }: Owner): Promise<ExportRow | undefined> =>
  db
    .selectFrom('exports')
    .selectAll()
    .where(column, '=', id)
    .where('status', '=', 'finished')
    .where('finished_at', '>', oldest())
    .executeTakeFirst();

export const selectExport = (db: Db, id: number): Promise<ExportRow | undefined> =>
  db.selectFrom('exports').selectAll().where('id', '=', id).executeTakeFirst();

export type ExportedProject = {
  id: number;
  full_path: string;
  storage: string;
  avatar: string | null;
  avatar_blob: Buffer | null;
  description: Record<string, unknown>;
};

/** What project.json has. */
export async function selectProject(db: Db, id: number): Promise<ExportedProject | undefined> {
  const { rows } = await sql<ExportedProject>`
    select p.id, n.full_path || '/' || p.path as full_path, p.repository_storage as storage, p.avatar, p.avatar_blob,
      p.settings || jsonb_build_object('name', p.name, 'path', p.path, 'description', p.description,
        'visibility_level', p.visibility, 'archived', p.archived, 'topics', p.topics,
        'default_branch', p.default_branch, 'created_at', p.created_at) as description
    from projects p join namespaces n on n.id = p.namespace_id where p.id = ${id} and not p.deleting`.execute(
    db,
  );
  return rows[0];
}

export type ExportedGroup = {
  id: number;
  full_path: string;
  wiki_storage: string | null;
  description: Record<string, unknown>;
};

/** A group and the groups below it, the outer ones first. */
export async function selectGroups(db: Db, id: number): Promise<ExportedGroup[]> {
  const { rows } = await sql<ExportedGroup>`
    select n.id, n.full_path, w.repository_storage as wiki_storage,
      n.settings || jsonb_build_object('id', n.id, 'name', n.name, 'path', n.path, 'description', n.description,
        'visibility_level', n.visibility, 'parent_id', case when n.id <> ${id} then n.parent_id end,
        'created_at', n.created_at) as description
    from namespaces n left join group_wikis w on w.id = n.id
    where n.ancestor_ids @> array[${id}]::bigint[] and not n.deleting
    order by cardinality(n.ancestor_ids), n.id`.execute(db);
  return rows;
}

export type ExportedFile = { key: string; sha256: Buffer; name: string };

const BATCH = 500;

/** Uploads, as their texts name them. */
export async function* selectUploads(db: Db, projectId: number): AsyncGenerator<ExportedFile> {
  for (let last = 0; ; ) {
    const { rows } = await sql<{ id: number; sha256: Buffer; name: string; key: string }>`
      select id, sha256, 'uploads/' || secret || '/' || filename as name, secret as key from uploads
      where project_id = ${projectId} and id > ${last} and sha256 is not null order by id limit ${BATCH}`.execute(
      db,
    );
    yield* rows;
    last = rows.at(-1)?.id ?? last;
    if (rows.length < BATCH) return;
  }
}

export async function* selectLargeObjects(db: Db, projectId: number): AsyncGenerator<ExportedFile> {
  for (let last = Buffer.alloc(0); ; ) {
    const { rows } = await sql<{ sha256: Buffer; name: string; key: string }>`
      select sha256, 'lfs-objects/' || encode(sha256, 'hex') as name, encode(sha256, 'hex') as key from lfs_objects
      where project_id = ${projectId} and sha256 > ${last} order by sha256 limit ${BATCH}`.execute(db);
    yield* rows;
    last = Buffer.from(rows.at(-1)?.sha256 ?? last);
    if (rows.length < BATCH) return;
  }
}

/** Snippets of a project, each with a repository. */
export async function selectSnippets(
  db: Db,
  projectId: number,
  after: number,
): Promise<{ id: number; storage: string; bundle: string }[]> {
  const { rows } = await sql<{ id: number; storage: string; bundle: string }>`
    select id, repository_storage as storage, lpad(to_hex(id), 16, '0') as bundle from snippets
    where project_id = ${projectId} and id > ${after} and ready order by id limit ${BATCH}`.execute(db);
  return rows;
}

/** Who is told of an export, and in which language. */
export async function selectReader(
  db: Db,
  userId: number,
): Promise<{ address: string; language: string } | undefined> {
  const { rows } = await sql<{ address: string; language: string }>`
    select coalesce(notification_email, email) as address, preferred_language as language from users
    where id = ${userId} and state = 'active' and kind = 'human' and confirmed_at is not null`.execute(db);
  return rows[0];
}
