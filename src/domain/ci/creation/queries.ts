/** What pipelines are made with: variables that are kept for them and that came with them, trigger tokens. */
import { sql } from 'kysely';
import type { ProjectRow } from '../../../kernel/namespaces/rows.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { digest, unseal } from '../../../platform/secret.ts';
import type { ContextVariable } from '../file/context.ts';
import type { Upstream } from './predefined.ts';

const DAY_MS = 86_400_000;

export type KeptVariable = ContextVariable & { environmentScope: string };

/**
 * Those of the instance first, then of the groups from the root down, then the project's: later ones win. Of protected
 * ones only where the ref is protected.
 */
export async function selectKeptVariables(
  db: Db,
  project: Pick<ProjectRow, 'id' | 'ancestor_ids' | 'namespace_id'>,
  isProtected: boolean,
  secretKey: string,
): Promise<KeptVariable[]> {
  const groups = [...new Set([...project.ancestor_ids, project.namespace_id])];
  const rows = await db
    .selectFrom('ci_variables')
    .select(['key', 'value_sealed', 'variable_type', 'masked', 'raw', 'environment_scope'])
    .where((eb) =>
      eb.or([
        eb.and([eb('project_id', 'is', null), eb('namespace_id', 'is', null)]),
        eb('namespace_id', 'in', groups),
        eb('project_id', '=', project.id),
      ]),
    )
    .where((eb) => (isProtected ? eb.lit(true) : eb('protected', '=', false)))
    .orderBy(sql`project_id is not null`)
    .orderBy(sql`coalesce(array_position(${groups}::bigint[], namespace_id), 0)`)
    // Of one key, the scope that names most characters comes last.
    .orderBy(sql`length(replace(environment_scope, '*', ''))`)
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    key: row.key,
    value: unseal(secretKey, row.value_sealed),
    raw: row.raw,
    file: row.variable_type === 'file',
    masked: row.masked,
    environmentScope: row.environment_scope,
  }));
}

/** Who starts a job, for its variables; a user who is gone has no name. */
export async function selectStarter(
  db: Db,
  userId: number,
): Promise<{ id: number; username: string; name: string; email: string }> {
  const row = await db
    .selectFrom('users')
    .select(['id', 'username', 'name', 'email'])
    .where('id', '=', userId)
    .executeTakeFirst();
  return row ?? { id: userId, username: '', name: '', email: '' };
}

const upstreams = (db: Db) => db.selectFrom('ci_jobs').select(['id as job_id', 'pipeline_id', 'project_id']);

/** Where a pipeline comes from, by the job that started it. */
export const selectUpstream = (db: Db, jobId: number): Promise<Upstream | undefined> =>
  upstreams(db).where('id', '=', jobId).executeTakeFirst();

/** The same by the token of the job, while it runs. */
export const selectUpstreamByToken = (db: Db, token: string): Promise<Upstream | undefined> =>
  upstreams(db).where('token_digest', '=', digest(token)).executeTakeFirst();

const given = (db: Db, pipelineId: number) =>
  db.selectFrom('pipeline_variables').selectAll().where('pipeline_id', '=', pipelineId);

/** All variables that a pipeline was started with. */
export const selectGiven = (db: Db, pipelineId: number) => given(db, pipelineId).orderBy('id').execute();

/** A page of the variables that a pipeline was started with, in the order in which they were given. */
export const selectGivenVariables = (db: Db, pipelineId: number, page: PageRequest) =>
  selectPage(db, given(db, pipelineId), page, { by: 'id', sort: 'asc' }, { id: 'pipeline_variables.id' });

/** The trigger token that a program sent; none that has ended. */
export const selectSentTrigger = (db: Db, token: string) =>
  db
    .selectFrom('trigger_tokens')
    .select(['id', 'project_id', 'owner_id'])
    .where('digest', '=', digest(token))
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now())]))
    .executeTakeFirst();

/** Jobs of the project's pipelines of the last day that are not over, counted as far as they may go. */
export async function countActiveJobs(db: Db, { id }: Pick<ProjectRow, 'id'>, most: number): Promise<number> {
  const since = new Date(now().getTime() - DAY_MS);
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from (
      select from pipelines p join ci_jobs j on j.pipeline_id = p.id
      where p.project_id = ${id} and p.created_at > ${since}
        and p.status in ('created', 'waiting_for_resource', 'preparing', 'waiting_for_callback', 'pending', 'running')
      limit ${most}) active`.execute(db);
  return rows[0]?.count ?? 0;
}
