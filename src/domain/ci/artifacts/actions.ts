/** Keeps artifacts, and removes them: the rows in one transaction, the blobs after it. */
import { type Insertable, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Draft } from '../../../platform/blobs/blobs.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import type { CiArtifactsTable } from '../../../platform/db/rows.ts';
import { Failure, forbidden, notFound } from '../../../platform/failure.ts';
import { isExpired, isKeptLatest } from '../execution/artifact-queries.ts';
import { lockJob } from '../jobs/actions.ts';
import type { JobRow } from '../processing/process-actions.ts';
import { liveSize, removeLive } from '../traces/live-traces.ts';
import { selectLeft } from './queries.ts';
import { isErasable } from './rules.ts';

type Context = {
  services: Needs<'blobs' | 'config' | 'database'>;
  actor: Actor;
  subject: AuthorizedProject;
};

type NewArtifact = Omit<Insertable<CiArtifactsTable>, 'job_id' | 'project_id'> & { dotenvSealed?: string };

/**
 * Whether the artifact is a new one of the job; not where it is there already. 403 where the job has ended meanwhile, 400 where
 * it has another one of the type.
 */
export const keepArtifact = (
  db: Db,
  job: JobRow,
  artifact: NewArtifact,
  draft: Pick<Draft, 'keep'>,
): Promise<boolean> =>
  inTransaction(db, async (tx) => {
    const { dotenvSealed, ...row } = artifact;
    const running = await tx
      .selectFrom('ci_jobs')
      .select('id')
      .where('id', '=', job.id)
      .where('status', 'in', ['running', 'canceling'])
      .forUpdate()
      .executeTakeFirst();
    if (!running) throw forbidden();
    const there = await tx
      .selectFrom('ci_artifacts')
      .select('sha256')
      .where('job_id', '=', job.id)
      .where('file_type', '=', row.file_type)
      .executeTakeFirst();
    if (there) {
      if (there.sha256.equals(row.sha256)) return false;
      throw new Failure('bad_request', 'another artifact of the same type already exists');
    }
    await draft.keep(tx);
    await ahead(tx)
      .insertInto('ci_artifacts')
      .values({ ...row, job_id: job.id, project_id: job.project_id })
      .execute();
    await ahead(tx)
      .updateTable('ci_jobs')
      .set({
        artifacts_expire_at: row.expires_at ?? null,
        updated_at: now(),
        ...(dotenvSealed !== undefined && { dotenv_sealed: dotenvSealed }),
      })
      .where('id', '=', job.id)
      .execute();
    return true;
  });

/** The digests of what is to be released. */
async function deleteRows(tx: Db, jobId: number, withTrace = false): Promise<Buffer[]> {
  const { rows } = await sql<{ sha256: Buffer }>`
    with artifact as (delete from ci_artifacts where job_id = ${jobId} returning sha256),
    trace as (delete from ci_traces where job_id = ${jobId} and ${withTrace} returning sha256)
    select sha256 from artifact union all select sha256 from trace`.execute(tx);
  return rows.map(({ sha256 }) => sha256);
}

/** The artifacts of a job have no time at which they go; 404 without any. */
export const keepForEver = ({ services, subject }: Context, id: number): Promise<void> =>
  inTransaction(services.database.db, async (tx) => {
    await lockJob(tx, subject, id);
    if ((await selectLeft(tx, id)).artifacts === 0) throw notFound();
    await ahead(tx).updateTable('ci_artifacts').set({ expires_at: null }).where('job_id', '=', id).execute();
    await ahead(tx).updateTable('ci_jobs').set({ artifacts_expire_at: null }).where('id', '=', id).execute();
  });

/** Removes the artifacts of a job, and leaves its trace. */
export async function deleteArtifacts(
  { services, subject }: Context,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> {
  const digests = await inTransaction(services.database.db, async (tx) => {
    const { job } = await lockJob(tx, subject, id);
    unmodified(job.updated_at);
    await ahead(tx).updateTable('ci_jobs').set({ dotenv_sealed: null }).where('id', '=', id).execute();
    return deleteRows(tx, id);
  });
  await services.blobs.release(digests);
}

/** Removes what a job that has ended wrote and made. 403 where there is nothing, and for others than maintainers and who ran it. */
export async function eraseJob({ services, actor, subject }: Context, id: number): Promise<void> {
  const { files } = services.config;
  const digests = await inTransaction(services.database.db, async (tx) => {
    const { job } = await lockJob(tx, subject, id);
    if (!subject.may('manage_artifacts') && (job.user_id !== actor.id || job.protected)) throw forbidden();
    const { artifacts, traceBytes } = await selectLeft(tx, id);
    if (!isErasable(job, { artifacts, traceBytes: traceBytes + (await liveSize(files, id)) }))
      throw forbidden('Job is not erasable!');
    const time = now();
    await ahead(tx)
      .updateTable('ci_jobs')
      .set({ erased_at: time, updated_at: time, artifacts_expire_at: null, dotenv_sealed: null })
      .where('id', '=', id)
      .execute();
    return deleteRows(tx, id, true);
  });
  await removeLive(files, id);
  await services.blobs.release(digests);
}

/** Lets the artifacts of the project go at the next sweep, without those of the last pipelines. */
export const expireOfProject = (
  db: Db,
  { id }: Pick<AuthorizedProject, 'id'>,
  keepLatest: boolean,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const time = now();
    await sql`
      with gone as (
        update ci_artifacts a set expires_at = ${time} from ci_jobs j join pipelines p on p.id = j.pipeline_id
        where a.project_id = ${id} and j.id = a.job_id and (a.expires_at is null or a.expires_at > ${time})
          and not ${isKeptLatest(keepLatest)} returning a.job_id)
      update ci_jobs j set artifacts_expire_at = ${time} where j.id in (select job_id from gone)`.execute(
      ahead(tx),
    );
  });

const BATCH = 500;

/** Removes some artifacts whose time has come; whether there may be more. */
export async function sweepExpired(
  { blobs, database }: Needs<'blobs' | 'database'>,
  keepLatest: boolean,
): Promise<boolean> {
  const { rows } = await sql<{ sha256: Buffer }>`
    delete from ci_artifacts where id in (
      select a.id from ci_artifacts a join ci_jobs j on j.id = a.job_id join pipelines p on p.id = j.pipeline_id
      where a.expires_at <= ${now()} and ${isExpired(keepLatest)} order by a.expires_at limit ${BATCH})
    returning sha256`.execute(database.background);
  await blobs.release(rows.map(({ sha256 }) => sha256));
  return rows.length === BATCH;
}
