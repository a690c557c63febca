/** Jobs as records. */

import { type AuthorizedProject, selectProjects } from '../../../kernel/access/find.ts';
import type { Actor, Caller } from '../../../kernel/actor.ts';
import type { Context } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { findCommit } from '../../../platform/git/refs.ts';
import { showProfiles } from '../../accounts/index.ts';
import { type CommitRecord, presentCommit, projectUrl, readRepository } from '../../repositories/index.ts';
import { presentPipelineBasic } from '../pipelines/present.ts';
import { presentManager, presentRunner } from '../runners/present.ts';
import { selectManagersOf, selectRunnersOf } from '../runners/queries.ts';
import type { JobDetails } from './queries.ts';
import type { Bridge, Job, JobArtifact } from './schema.ts';

export type JobContext = Pick<
  Context<unknown, AuthorizedProject, Caller | Actor>,
  'db' | 'services' | 'settings' | 'actor' | 'subject'
>;

/** Seconds between the two; null before it began, and until now where it has not ended. */
const secondsOf = (from: Date | null, to: Date | null): number | null =>
  from && ((to ?? now()).getTime() - from.getTime()) / 1_000;

function archiveOf(artifacts: readonly JobArtifact[]): Pick<Job, 'artifacts_file'> {
  const archive = artifacts.find(({ file_type }) => file_type === 'archive');
  return archive ? { artifacts_file: { filename: archive.filename, size: archive.size } } : {};
}

const commitKey = (projectId: number, sha: string): string => `${projectId} ${sha}`;

/** The commits of the jobs, each read once; of a repository that is gone there are none. */
async function commitsOf(
  { services }: Pick<JobContext, 'services'>,
  rows: readonly JobDetails[],
  projects: ReadonlyMap<number, AuthorizedProject>,
): Promise<Map<string, CommitRecord>> {
  const known = new Map<string, CommitRecord>();
  for (const [id, project] of projects) {
    const url = projectUrl(services.baseUrl(), project);
    const shas = [...new Set(rows.flatMap((row) => (row.project_id === id ? [row.sha] : [])))];
    if (shas.length === 0) continue;
    const commits = await readRepository(services, project, (git) =>
      Promise.all(shas.map((sha) => findCommit(git, sha))),
    );
    for (const commit of commits ?? [])
      if (commit) known.set(commitKey(id, commit.oid), presentCommit(url, commit));
  }
  return known;
}

/** Records of a page of jobs of one project. */
export const presentJobs = (context: JobContext, rows: readonly JobDetails[]): Promise<Job[]> =>
  presentJobsAcross(context, rows, new Map([[context.subject.id, context.subject]]));

/** The same of several projects; jobs of others are left out. */
export async function presentJobsAcross(
  context: Omit<JobContext, 'subject'>,
  given: readonly JobDetails[],
  projects: ReadonlyMap<number, AuthorizedProject>,
): Promise<Job[]> {
  const rows = given.filter(({ project_id }) => projects.has(project_id));
  const userIds = [...new Set(rows.map(({ user_id }) => user_id))];
  const idsOf = (column: 'runner_id' | 'runner_manager_id') => [
    ...new Set(rows.flatMap((row) => row[column] ?? [])),
  ];
  const [users, commits, runners, managers] = await Promise.all([
    userIds.length === 0 ? [] : showProfiles(context, userIds),
    commitsOf(context, rows, projects),
    idsOf('runner_id').length === 0 ? [] : selectRunnersOf(context.db, idsOf('runner_id')),
    idsOf('runner_manager_id').length === 0 ? [] : selectManagersOf(context.db, idsOf('runner_manager_id')),
  ]);
  const runnerOf = new Map(runners.map((runner) => [runner.id, presentRunner(context, runner)]));
  const managerOf = new Map(managers.map((manager) => [manager.id, presentManager(manager)]));
  const userOf = new Map(users.map((user) => [user.id, user]));
  const urls = new Map(
    [...projects].map(([id, project]) => [id, projectUrl(context.services.baseUrl(), project)]),
  );
  return rows.map((row) => ({
    id: row.id,
    status: row.status,
    stage: row.stage,
    name: row.name,
    ref: row.ref,
    tag: row.tag,
    coverage: row.coverage,
    allow_failure: row.allow_failure,
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
    erased_at: row.erased_at?.toISOString() ?? null,
    duration: secondsOf(row.started_at, row.finished_at),
    queued_duration: secondsOf(row.queued_at, row.started_at ?? row.finished_at),
    user: userOf.get(row.user_id) ?? null,
    commit: commits.get(commitKey(row.project_id, row.sha)) ?? null,
    pipeline: {
      id: row.pipeline_id,
      iid: row.pipeline_iid,
      project_id: row.project_id,
      sha: row.sha,
      ref: row.ref,
      status: row.pipeline_status,
      source: row.source,
      created_at: row.pipeline_created_at.toISOString(),
      updated_at: row.pipeline_updated_at.toISOString(),
      web_url: `${urls.get(row.project_id)}/-/pipelines/${row.pipeline_id}`,
    },
    ...(row.failure_reason !== null && row.status === 'failed' && { failure_reason: row.failure_reason }),
    web_url: `${urls.get(row.project_id)}/-/jobs/${row.id}`,
    project: { ci_job_token_scope_enabled: false },
    ...archiveOf(row.artifacts),
    artifacts: row.artifacts,
    runner: runnerOf.get(row.runner_id ?? 0) ?? null,
    runner_manager: managerOf.get(row.runner_manager_id ?? 0) ?? null,
    artifacts_expire_at: row.artifacts_expire_at?.toISOString() ?? null,
    archived: false,
    tag_list: row.tags,
  }));
}

/** The same of bridges, with the pipelines that they started, where the caller may see those. */
export async function presentBridges(context: JobContext, rows: readonly JobDetails[]): Promise<Bridge[]> {
  const paths = [...new Set(rows.flatMap(({ downstream }) => downstream?.path ?? []))];
  const [jobs, projects] = await Promise.all([
    presentJobs(context, rows),
    selectProjects(context.services.database.points, context.actor, 'read_pipelines', paths),
  ]);
  return jobs.map((job, at) => {
    const { path, ...started } = rows[at]?.downstream ?? { path: '' };
    const project = projects.get(path.toLowerCase());
    if (!project || !('id' in started)) return { ...job, downstream_pipeline: null };
    const [created_at, updated_at] = [new Date(started.created_at), new Date(started.updated_at)];
    const row = { ...started, created_at, updated_at };
    const baseUrl = context.services.baseUrl();
    return { ...job, downstream_pipeline: presentPipelineBasic(baseUrl, project, row) };
  });
}
