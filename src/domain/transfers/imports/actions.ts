/** Requests imports, and records what becomes of them. */
import { sql } from 'kysely';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { conflict, Failure } from '../../../platform/failure.ts';
import { addJobs } from '../../../platform/jobs/jobs.ts';
import { randomHex } from '../../../platform/secret.ts';
import { QUEUE } from '../exports/actions.ts';
import { longAgo } from '../exports/queries.ts';
import type { Owner } from '../relations/export-queries.ts';
import type { ImportOptions, ImportRow, WaitingSnippet } from './queries.ts';
import type { FailedRelation } from './read-relations.ts';

export const IMPORT = 'transfers.import';

/** Imports of one user that wait or run: all of the instance's are read one after the other. */
const MAX_WAITING = 20;

/** 429 for one who has others wait long enough. */
async function refuseMore(tx: Db, userId: number): Promise<void> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from imports
    where user_id = ${userId} and status in ('scheduled', 'started')`.execute(tx);
  if ((rows[0]?.count ?? 0) < MAX_WAITING) return;
  throw new Failure('too_many_requests', `${MAX_WAITING} of your imports are not over yet.`, {
    headers: { 'retry-after': '60' },
  });
}

/** In the transaction in which the project or group is made: `sha256` is kept. 409 while another one is not over. */
export async function insertImport(
  tx: Db,
  owner: Owner,
  made: { userId: number; sha256: Buffer; relation?: string; options: ImportOptions },
): Promise<void> {
  await refuseMore(tx, made.userId);
  const time = now();
  const row = await tx
    .insertInto('imports')
    .values({
      [owner.column]: owner.id,
      user_id: made.userId,
      relation: made.relation ?? null,
      status: 'scheduled',
      correlation_id: randomHex(16),
      sha256: made.sha256,
      options: sql`${JSON.stringify(made.options)}::text::jsonb`,
      created_at: time,
      updated_at: time,
    })
    .onConflict((on) => on.doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!row) throw conflict('409 Conflict: an import of this project is not over yet');
  await addJobs(tx, [{ task: IMPORT, payload: { import_id: row.id }, queue: QUEUE }]);
}

/** While files are copied and repositories are placed, the transaction waits. */
export const allowPauses = (tx: Db): Promise<unknown> =>
  sql`set local idle_in_transaction_session_timeout = 0`.execute(tx);

export const startImport = (db: Db, id: number): Promise<ImportRow | undefined> =>
  db
    .updateTable('imports')
    .set({ status: 'started', updated_at: now() })
    .where('id', '=', id)
    .where('status', 'in', ['scheduled', 'started'])
    .returningAll()
    .executeTakeFirst();

/** Failures of one import that are kept: the others are the same, or the file is no export. */
const MAX_FAILURES = 10_000;

/** Keeps what was not imported; in the transaction of what was. */
export async function keepFailures(tx: Db, id: number, failures: readonly FailedRelation[]): Promise<void> {
  const rows = failures.slice(0, MAX_FAILURES);
  for (let start = 0; start < rows.length; start += 1_000)
    await sql`
      insert into import_failures (import_id, relation, line, message, created_at)
      select ${id}, relation, line, message, ${now()}
      from json_to_recordset(${JSON.stringify(rows.slice(start, start + 1_000))}::text::json)
        as failure (relation text, line integer, message text)`.execute(tx);
}

/** In the transaction of the rows: another try goes on behind it. */
export async function commitImport(tx: Db, id: number, snippets: readonly WaitingSnippet[]): Promise<void> {
  const committed: Pick<ImportOptions, 'committed'> = { committed: { snippets } };
  await sql`
    update imports set options = options || ${JSON.stringify(committed)}::text::jsonb where id = ${id}`.execute(
    tx,
  );
}

/** Ends it; the archive is needed no more, and its digest is returned. */
export async function endImport(
  { database }: Needs<'database'>,
  { id, sha256 }: ImportRow,
  end: { status: 'finished' | 'failed'; error?: string; passedOver?: readonly string[] },
): Promise<Buffer[]> {
  await inTransaction(database.background, async (tx) => {
    await tx
      .updateTable('imports')
      .set({
        status: end.status,
        error: end.error?.replaceAll('\0', '?') ?? null,
        sha256: null,
        updated_at: now(),
        ...(end.passedOver && { passed_over: [...end.passedOver] }),
      })
      .where('id', '=', id)
      .execute();
  });
  return sha256 ? [sha256] : [];
}

/** Ends those whose jobs are given up; the digests of their archives. */
export async function endLostImports(db: Db): Promise<Buffer[]> {
  const { rows } = await sql<{ sha256: Buffer | null }>`
    with lost as (select id, sha256 from imports where status = 'started' and updated_at < ${longAgo()} for update)
    update imports i set status = 'failed', error = 'The server has a fault: see its log.', sha256 = null, updated_at = ${now()}
    from lost where lost.id = i.id returning lost.sha256`.execute(db);
  return rows.flatMap(({ sha256 }) => sha256 ?? []);
}

/** What the project shows when all of it is there. */
export async function completeProject(
  tx: Db,
  id: number,
  shown: {
    description: string | null;
    visibility: number;
    archived: boolean;
    topics: readonly string[];
    settings: Readonly<Record<string, unknown>>;
    branch: string | undefined;
    avatar: string | null | undefined;
  },
): Promise<void> {
  const time = now();
  await tx
    .updateTable('projects')
    .set({
      description: shown.description,
      visibility: sql<number>`least(${shown.visibility}::smallint, (select n.visibility from namespaces n
        where n.id = projects.namespace_id and n.kind = 'group'))`,
      archived: shown.archived,
      topics: [...shown.topics],
      settings: sql`settings || ${JSON.stringify(shown.settings)}::text::jsonb`,
      ...(shown.branch !== undefined && { default_branch: shown.branch, empty_repo: false }),
      ...(shown.avatar !== undefined && { avatar: shown.avatar }),
      last_activity_at: time,
      updated_at: time,
    })
    .where('id', '=', id)
    .execute();
}

/** A snippet is there with its files. */
export async function completeSnippet(
  db: Db,
  id: number,
  branch: string,
  files: readonly string[],
): Promise<void> {
  await db
    .updateTable('snippets')
    .set({ ready: true, default_branch: branch, files: [...files] })
    .where('id', '=', id)
    .execute();
}

/** The names under which uploads are here: another project may have the same file. */
export async function takenSecrets(
  db: Db,
  projectId: number,
  secrets: readonly string[],
): Promise<Set<string>> {
  const { rows } = await sql<{ secret: string }>`
    select secret from uploads where secret = any(${secrets}::text[]) and project_id is distinct from ${projectId}`.execute(
    db,
  );
  return new Set(rows.map(({ secret }) => secret));
}

export async function insertUpload(
  tx: Db,
  upload: {
    project_id: number;
    uploader_id: number;
    secret: string;
    filename: string;
    size: number;
    sha256: Buffer;
  },
): Promise<void> {
  await tx
    .insertInto('uploads')
    .values({ ...upload, created_at: now() })
    .execute();
}

export async function insertLargeObject(
  tx: Db,
  object: { project_id: number; sha256: Buffer; size: number },
): Promise<void> {
  await tx
    .insertInto('lfs_objects')
    .values({ ...object, created_at: now() })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Locks the project, which may be on its way out. */
export async function holdProject(
  tx: Db,
  id: number,
): Promise<{ storage: string; empty: boolean } | undefined> {
  const { rows } = await sql<{ storage: string; empty: boolean }>`
    select repository_storage as storage, empty_repo as empty from projects where id = ${id} and not deleting for no key update`.execute(
    tx,
  );
  return rows[0];
}

/** A snippet whose repository is none. */
export async function removeSnippet(db: Db, id: number): Promise<void> {
  await db.deleteFrom('snippets').where('id', '=', id).where('ready', '=', false).execute();
}

export async function completeGroup(
  tx: Db,
  id: number,
  shown: { visibility: number; description: string },
): Promise<void> {
  await sql`
    update namespaces n set description = ${shown.description},
      visibility = least(${shown.visibility}::smallint, (select p.visibility from namespaces p where p.id = n.parent_id))
    where id = ${id}`.execute(tx);
}

/** The row that the wiki of a group has. */
export async function keepGroupWiki(db: Db, id: number): Promise<void> {
  await sql`
    insert into group_wikis (id, repository_storage, created_at, updated_at)
    select ${id}, 'default', ${now()}, ${now()} on conflict do nothing`.execute(db);
}
