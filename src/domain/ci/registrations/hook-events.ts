/** Pipelines and jobs, as hooks are told of them: of each change of a status. */
import { findCommit } from '../../../platform/git/refs.ts';
import { unseal } from '../../../platform/secret.ts';
import {
  type HookContext,
  type HookEvent,
  type HookSample,
  type HookServices,
  hookNoteables,
  hookProject,
  hookSource,
  readContext,
  readUsers,
} from '../../hooks/index.ts';
import { projectRepository } from '../../repositories/index.ts';
import { selectGiven } from '../creation/queries.ts';
import type { PipelineRow } from '../processing/process-actions.ts';
import type { Status } from '../processing/status.ts';
import { asOf, jobPayload, type PayloadPipeline, pipelinePayload } from './hook-payloads.ts';
import {
  selectAttempts,
  selectBuilds,
  selectNewestJob,
  selectNewestPipeline,
  selectPayloadPipeline,
  selectPayloadSource,
  selectStages,
  selectWarnings,
} from './hook-queries.ts';

type About = { project_id: number; pipeline_id: number; fact_at: string };
type PipelineFact = About & { status: Status };
type JobsFact = About & { jobs: readonly { id: number; status: Status }[] };

async function readPipeline(
  services: HookServices,
  { project_id, pipeline_id }: About,
): Promise<(HookContext & { pipeline: PipelineRow }) | undefined> {
  const [context, pipeline] = await Promise.all([
    readContext(services, project_id, undefined),
    selectPayloadPipeline(services.database.background, project_id, pipeline_id),
  ]);
  return context && pipeline && { ...context, pipeline };
}

/** What payloads of a pipeline and of its jobs both show. */
async function payloadPipeline(
  services: HookServices,
  { around, project: row, pipeline }: HookContext & { pipeline: PipelineRow },
  userIds: readonly (number | null)[],
  at: string,
): Promise<PayloadPipeline> {
  const ids = [...new Set(userIds.filter((id) => id !== null))];
  const starter = pipeline.source_job_id ?? pipeline.token_job_id;
  const [commit, people, source] = await Promise.all([
    services.repositories.read(projectRepository(row.id), row.repository_storage, (git) =>
      findCommit(git, pipeline.sha),
    ),
    readUsers(services, around, ids),
    starter === null ? undefined : selectPayloadSource(services.database.background, starter),
  ]);
  const { baseUrl } = around;
  const project = hookProject(around, row);
  return { pipeline, project, commit, people, at: new Date(at), source, baseUrl };
}

const mergeRequestFields = [
  'id',
  'iid',
  'title',
  'source_branch',
  'source_project_id',
  'target_branch',
  'target_project_id',
  'state',
  'merge_status',
  'detailed_merge_status',
  'url',
];

/** What a pipeline's payload has of its merge request; undefined of one into another project, which is none of its hooks' business. */
async function mergeRequestPart(
  services: HookServices,
  context: HookContext,
  id: number | null,
): Promise<object | undefined> {
  const kind =
    id === null ? undefined : hookNoteables.all(services).find(({ type }) => type === 'MergeRequest');
  const found = await kind?.partOf(services, context, id ?? 0);
  if (!found) return undefined;
  return Object.fromEntries(Object.entries(found.part).filter(([name]) => mergeRequestFields.includes(name)));
}

async function pipelineEvents(services: HookServices, fact: PipelineFact): Promise<HookEvent[]> {
  const read = await readPipeline(services, fact);
  if (!read) return [];
  const db = services.database.background;
  const [builds, stages, warnings, given, mergeRequest] = await Promise.all([
    selectBuilds(db, read.pipeline.id),
    selectStages(db, read.pipeline.id),
    selectWarnings(db, read.pipeline.id),
    selectGiven(db, read.pipeline.id),
    mergeRequestPart(services, read, read.pipeline.merge_request_id),
  ]);
  const pipeline = asOf(read.pipeline, fact.status);
  const userIds = [pipeline.user_id, ...builds.map(({ user_id }) => user_id)];
  const told = await payloadPipeline(services, { ...read, pipeline }, userIds, fact.fact_at);
  const variables = given.map(({ key, value_sealed }) => ({
    key,
    value: unseal(services.secretKey, value_sealed),
  }));
  const body = pipelinePayload({ ...told, builds, stages, warnings, variables, mergeRequest });
  return [{ flag: 'pipeline_events', body }];
}

/** Of one change; further ones are not told. */
const MAX_JOBS = 1_000;

async function jobEvents(services: HookServices, fact: JobsFact): Promise<HookEvent[]> {
  const read = await readPipeline(services, fact);
  if (!read) return [];
  const changed = fact.jobs.slice(0, MAX_JOBS);
  const ids = changed.map(({ id }) => id);
  const rows = await selectAttempts(services.database.background, read.pipeline.id, ids);
  const told = await payloadPipeline(
    services,
    read,
    rows.map(({ user_id }) => user_id),
    fact.fact_at,
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return changed.flatMap(({ id, status }): HookEvent[] => {
    const row = byId.get(id);
    return row ? [{ flag: 'job_events', body: jobPayload(told, read.project, asOf(row, status)) }] : [];
  });
}

export const ciHooks = [
  hookSource<PipelineFact>({
    fact: 'pipeline_changed',
    flags: ['pipeline_events'],
    eventsOf: pipelineEvents,
  }),
  hookSource<JobsFact>({ fact: 'jobs_changed', flags: ['job_events'], eventsOf: jobEvents }),
];

const pipelineSample: HookSample = {
  flag: 'pipeline_events',
  async eventFor(services, { projectId }) {
    const newest = await selectNewestPipeline(services.database.background, projectId);
    const [event] = newest
      ? await pipelineEvents(services, {
          project_id: projectId,
          pipeline_id: newest.id,
          status: newest.status as Status,
          fact_at: newest.updated_at.toISOString(),
        })
      : [];
    return event ?? { missing: 'Ensure the project has CI pipelines.' };
  },
};

const jobSample: HookSample = {
  flag: 'job_events',
  async eventFor(services, { projectId }) {
    const newest = await selectNewestJob(services.database.background, projectId);
    const [event] = newest
      ? await jobEvents(services, {
          project_id: projectId,
          pipeline_id: newest.pipeline_id,
          jobs: [{ id: newest.id, status: newest.status as Status }],
          fact_at: newest.updated_at.toISOString(),
        })
      : [];
    return event ?? { missing: 'Ensure the project has CI jobs.' };
  },
};

export const ciSamples = [pipelineSample, jobSample];
