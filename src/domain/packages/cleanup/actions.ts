/** Removes old files of packages of which a project keeps the newest. */
import { sql } from 'kysely';
import { keptFiles, nextCleanup } from '../../../kernel/namespaces/packages-cleanup-policy.ts';
import { projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { addJobs } from '../../../platform/jobs/jobs.ts';
import { selectAllRules } from '../protection/queries.ts';
import { keepsFromMaintainers } from '../protection/rules.ts';
import type { PackageRow } from '../records/queries.ts';

export const CLEAN = 'packages.clean';
/** One project after the other. */
const QUEUE = 'packages.cleaning';

/** As a job has it: the project, and after which of its packages it goes on. */
export type Cleaning = { project_id: number; after: number };

/** Behind the jobs that wait. */
export const cleanLater = (db: Db, cleaning: Cleaning): Promise<void> =>
  addJobs(db, [
    { task: CLEAN, payload: cleaning, key: `${CLEAN}:${cleaning.project_id}`, queue: QUEUE, priority: 1 },
  ]);

/** Makes the project that is due longest one of those that are cleaned; false where none is due. */
export const beginCleaning = (db: Db): Promise<boolean> =>
  inTransaction(db, async (tx) => {
    const due = sql`settings -> 'packages_cleanup_policy' ->> 'next_run_at'`;
    const next = JSON.stringify(nextCleanup(now()));
    const { rows } = await sql<{ id: number }>`
      update projects set settings = jsonb_set(settings, '{packages_cleanup_policy,next_run_at}', ${next}::text::jsonb)
      where id = (
        select id from projects where (${due}) is not null and (${due}) collate "C" <= ${now().toISOString()}
          and not deleting and not archived
        order by (${due}) collate "C", id limit 1 for no key update skip locked)
      returning id`.execute(tx);
    const [project] = rows;
    if (!project) return false;
    await cleanLater(tx, { project_id: project.id, after: 0 });
    return true;
  });

/** Packages that are looked at together, and files that go together. */
const BATCH = 500;
const FILES = 5_000;

/** What programs fetch by more than a name: of one package there are many files of the same. */
const notByName = ['conan', 'debian'];

/** Charts of one name may be in several channels. */
const together = sql`f.package_id, f.file_name, f.metadata ->> 'channel'`;

/** How many files of one name the project keeps; undefined where all stay, or it is not cleaned. */
async function selectKept(tx: Db, projectId: number): Promise<number | undefined> {
  const { rows } = await sql<{ settings: unknown }>`
    select settings from projects where id = ${projectId} and not deleting and not archived`.execute(tx);
  return rows[0] && keptFiles(projectSettings(rows[0]).packages_cleanup_policy);
}

/** Those of the packages that have more; one to which somebody publishes now is cleaned the next time. */
async function lockDuplicated(tx: Db, ids: readonly number[], kept: number) {
  const { rows } = await sql<Pick<PackageRow, 'id' | 'name' | 'package_type'>>`
    select id, name, package_type from packages where id in (
      select f.package_id from package_files f where f.package_id = any(${[...ids]}::bigint[])
      group by ${together} having count(*) > ${kept})
    order by id for update skip locked`.execute(tx);
  return rows;
}

/**
 * Cleans the next packages of a project: the blobs that they need no more, and where to go on; undefined there at the end.
 */
export const cleanBatch = (
  db: Db,
  { project_id, after }: Cleaning,
): Promise<{ blobs: Buffer[]; after: number | undefined }> =>
  inTransaction(db, async (tx) => {
    const kept = await selectKept(tx, project_id);
    if (kept === undefined) return { blobs: [], after: undefined };
    const window = await sql<{ id: number }>`
      select id from packages where project_id = ${project_id} and id > ${after}
        and package_type <> all(${notByName}::text[]) order by id limit ${BATCH}`.execute(tx);
    const ids = window.rows.map(({ id }) => id);
    const last = ids.length < BATCH ? undefined : ids.at(-1);
    const rules = await selectAllRules(tx, { id: project_id });
    const duplicated = (await lockDuplicated(tx, ids, kept)).filter(
      (row) => !keepsFromMaintainers(rules, row),
    );
    if (duplicated.length === 0) return { blobs: [], after: last };
    const { rows } = await sql<{ sha256: Buffer }>`
      delete from package_files where id in (
        select id from (
          select f.id, row_number() over (partition by ${together} order by f.id desc) as place from package_files f
          where f.package_id = any(${duplicated.map(({ id }) => id)}::bigint[])) ranked
        where place > ${kept} limit ${FILES})
      returning sha256`.execute(tx);
    const blobs = [...new Map(rows.map(({ sha256 }) => [sha256.toString('hex'), sha256])).values()];
    // More of the same packages may be left.
    return { blobs, after: rows.length === FILES ? after : last };
  });
