/** Reads artifacts of jobs. */
import { type Selectable, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { CiArtifactsTable } from '../../../platform/db/rows.ts';
import { digest } from '../../../platform/secret.ts';
import { isExpired, notOfRefs } from '../execution/artifact-queries.ts';
import { mayDownload } from '../jobs/rules.ts';
import { below } from '../processing/hierarchy-queries.ts';

export type ArtifactRow = Pick<
  Selectable<CiArtifactsTable>,
  'id' | 'job_id' | 'file_format' | 'sha256' | 'filename' | 'size' | 'access'
>;

const columns = sql`a.id, a.job_id, a.file_format, a.sha256, a.filename, a.size, a.access`;

/** The artifact of a job, if it has one of the type that has not expired. */
export async function selectArtifact(
  db: Db,
  project: Pick<AuthorizedProject, 'id'>,
  { jobId, type }: { jobId: number; type: string },
  keepLatest: boolean,
): Promise<ArtifactRow | undefined> {
  const { rows } = await sql<ArtifactRow>`
    select ${columns} from ci_artifacts a join ci_jobs j on j.id = a.job_id join pipelines p on p.id = j.pipeline_id
    where a.job_id = ${jobId} and a.project_id = ${project.id} and a.file_type = ${type} and not ${isExpired(keepLatest)}`.execute(
    db,
  );
  return rows[0];
}

export const selectArchive = (
  db: Db,
  project: Pick<AuthorizedProject, 'id'>,
  jobId: number,
  keepLatest: boolean,
): Promise<ArtifactRow | undefined> => selectArtifact(db, project, { jobId, type: 'archive' }, keepLatest);

/** Of these, pipelines are searched by the name of a job. */
const RECENT_PIPELINES = 100;

type Named = {
  ref: string;
  job: string;
  /** Of the ref now: a pipeline of this commit comes before newer ones of others. */
  sha: string;
  /** In recent pipelines, too, where the last successful one has none. */
  recent: boolean;
};

/** The archive of a job of this name that went well, in the last successful pipeline of the ref, or in a child of it. */
export async function selectNamedArchive(
  db: Db,
  project: Pick<AuthorizedProject, 'id'>,
  { ref, job, sha, recent }: Named,
  keepLatest: boolean,
): Promise<ArtifactRow | undefined> {
  const successful = sql`select n.id from pipelines n where n.project_id = ${project.id} and n.ref = ${ref}
    and n.status = 'success' and n.source not in ${notOfRefs}`;
  const last = sql`coalesce((${successful} and n.sha = ${sha} order by n.id desc limit 1), (${successful} order by n.id desc limit 1))`;
  const searched = recent
    ? sql`array(${successful} order by n.id desc limit ${RECENT_PIPELINES})`
    : sql`array[${last}]`;
  const { rows } = await sql<ArtifactRow>`
    with recursive ${below(searched, 'children')}
    select ${columns} from below join pipelines p on p.id = below.id join ci_jobs j on j.pipeline_id = p.id join ci_artifacts a on a.job_id = j.id
    where j.kind = 'job' and not j.retried and j.name = ${job} and j.status = 'success'
      and a.file_type = 'archive' and not ${isExpired(keepLatest)}
    order by below.root desc, p.id = below.root desc, p.id desc, j.id desc limit 1`.execute(db);
  return rows[0];
}

/** Of one pipeline. */
const MAX_EXPOSED = 100;

/** The archives that jobs of the pipeline show under a name (`expose_as`) to whom may download them, the oldest first. */
export async function selectExposedArchives(
  db: Db,
  project: Pick<AuthorizedProject, 'may'>,
  pipeline: { id: number },
  keepLatest: boolean,
): Promise<{ job_id: number; exposed_as: string; access: string }[]> {
  const { rows } = await sql<{ job_id: number; exposed_as: string; access: string }>`
    select a.job_id, j.options -> 'artifacts' ->> 'exposeAs' as exposed_as, a.access
    from ci_jobs j join pipelines p on p.id = j.pipeline_id join ci_artifacts a on a.job_id = j.id and a.file_type = 'archive'
    where j.pipeline_id = ${pipeline.id} and j.kind = 'job' and not j.retried
      and j.options -> 'artifacts' ->> 'exposeAs' is not null and not ${isExpired(keepLatest)}
    order by j.id limit ${MAX_EXPOSED}`.execute(db);
  return rows.filter(({ access }) => mayDownload(project, access));
}

/** The mebibytes that the project allows an artifact, else the nearest group that says it. */
export async function selectProjectLimit(db: Db, projectId: number): Promise<number | undefined> {
  const { rows } = await sql<{ size: number | null }>`
    select coalesce(nullif((p.settings ->> 'max_artifacts_size')::integer, 0), (
      select (g.settings ->> 'max_artifacts_size')::integer from namespaces g
      where g.id = any(n.ancestor_ids || n.id) and (g.settings ->> 'max_artifacts_size')::integer > 0
      order by cardinality(g.ancestor_ids) desc limit 1)) as size
    from projects p join namespaces n on n.id = p.namespace_id where p.id = ${projectId}`.execute(db);
  return rows[0]?.size ?? undefined;
}

/** The project of a job, whoever asks. */
/** The pipeline of a job, and that of the job with this token. */
export const selectPipelinesOf = async (
  db: Db,
  jobId: number,
  token: string,
): Promise<{ asked: number; asking: number } | undefined> => {
  const { rows } = await sql<{ asked: number; asking: number }>`
    select j.pipeline_id as asked, o.pipeline_id as asking from ci_jobs j, ci_jobs o
    where j.id = ${jobId} and o.token_digest = ${digest(token)}`.execute(db);
  return rows[0];
};

export const selectProjectOfJob = (db: Db, jobId: number) =>
  db
    .selectFrom('ci_jobs')
    .select('project_id')
    .where('id', '=', jobId)
    .where('kind', '=', 'job')
    .executeTakeFirst();

/** What a job has left: the number of its artifacts, and the bytes of its trace where that is archived. */
export const selectLeft = async (
  db: Db,
  jobId: number,
): Promise<{ artifacts: number; traceBytes: number }> => {
  const { rows } = await sql<{ artifacts: number; traceBytes: number }>`
    select (select count(*)::integer from ci_artifacts where job_id = ${jobId}) as artifacts,
      coalesce((select size from ci_traces where job_id = ${jobId}), 0) as "traceBytes"`.execute(db);
  return rows[0] ?? { artifacts: 0, traceBytes: 0 };
};
