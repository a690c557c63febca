/** Jobs of projects and of their pipelines (facts: Jobs; spec: Pagination, keyset resources). */
import type { Static } from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, found, listing } from '../../../kernel/api/endpoint.ts';
import type { KeysetRule } from '../../../platform/pagination/pagination.ts';
import { selectPipeline } from '../pipelines/queries.ts';
import { cancelJob, playJob, retryJob } from './actions.ts';
import type { GivenInputs } from './job-inputs.ts';
import { type JobContext, presentBridges, presentJobs } from './present.ts';
import { selectJob, selectJobs } from './queries.ts';
import {
  AnyJob,
  Bridge,
  BridgeList,
  Job,
  JobList,
  OneJob,
  PipelineJobList,
  PlayInput,
  RetryInput,
} from './schema.ts';

const path = '/projects/:id/jobs';
const pathOfOne = `${path}/:job_id`;
const reading = onProject('read_pipelines');
const running = onProject('run_pipelines');

const keyset: KeysetRule = {
  type: 'Ci::Build',
  orderBy: { id: 'integer' },
  sort: ['desc'],
  anonymous: false,
  signedIn: true,
  default: { orderBy: 'id', sort: 'desc' },
  link: 'cursor',
};

export async function showJob(context: JobContext, id: number): Promise<Job> {
  const row = found(await selectJob(context.db, context.subject, id), 'Job');
  return found((await presentJobs(context, [row]))[0]);
}

/** A job or a bridge. */
async function showAny(context: JobContext, id: number): Promise<Static<typeof AnyJob>> {
  const row = found(await selectJob(context.db, context.subject, id, 'any'), 'Job');
  const present = row.kind === 'bridge' ? presentBridges : presentJobs;
  return found((await present(context, [row]))[0]);
}

export const jobEndpoint = endpoint({
  method: 'GET',
  path: pathOfOne,
  summary: 'A job.',
  access: reading,
  input: OneJob,
  reply: Job,
  handle: (context) => showJob(context, context.input.job_id),
});

export const pipelineJobsEndpoint = listing({
  method: 'GET',
  path: '/projects/:id/pipelines/:pipeline_id/jobs',
  summary: 'Jobs of a pipeline, the newest first.',
  access: reading,
  jobToken: true,
  page: 'offset',
  input: PipelineJobList,
  item: Job,
  handle: async (context) => {
    const { db, subject, input, page } = context;
    const { id } = found(await selectPipeline(db, subject, input.pipeline_id), 'Pipeline');
    const filter = { pipeline: id, scope: input.scope, retried: input.include_retried };
    const rows = await selectJobs(db, subject, 'job', filter, page);
    return { ...rows, items: await presentJobs(context, rows.items) };
  },
});

export const jobEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Jobs of a project, the newest first.',
    access: reading,
    jobToken: true,
    page: keyset,
    input: JobList,
    item: Job,
    handle: async (context) => {
      const { db, subject, input, page } = context;
      const rows = await selectJobs(db, subject, 'job', { ...input, retried: true }, page);
      return { ...rows, items: await presentJobs(context, rows.items) };
    },
  }),
  jobEndpoint,
  pipelineJobsEndpoint,
  listing({
    method: 'GET',
    path: '/projects/:id/pipelines/:pipeline_id/bridges',
    summary: 'Jobs of a pipeline that start other pipelines.',
    access: reading,
    page: 'offset',
    input: BridgeList,
    item: Bridge,
    handle: async (context) => {
      const { db, subject, input, page } = context;
      const { id } = found(await selectPipeline(db, subject, input.pipeline_id), 'Pipeline');
      const rows = await selectJobs(db, subject, 'bridge', { pipeline: id, scope: input.scope }, page);
      return { ...rows, items: await presentBridges(context, rows.items) };
    },
  }),
  endpoint({
    method: 'POST',
    path: `${pathOfOne}/cancel`,
    summary: 'Cancels a job; one that has ended stays as it is.',
    access: running,
    input: OneJob,
    reply: Job,
    handle: async (context) => {
      await cancelJob(context, context.input.job_id);
      return showJob(context, context.input.job_id);
    },
  }),
  endpoint({
    method: 'POST',
    path: `${pathOfOne}/retry`,
    summary: 'Runs a job that has ended once more, as a new job.',
    access: running,
    input: RetryInput,
    reply: AnyJob,
    handle: async (context) => {
      const { job_id, job_inputs } = context.input;
      return showAny(context, await retryJob(context, job_id, job_inputs as GivenInputs | undefined));
    },
  }),
  endpoint({
    method: 'POST',
    path: `${pathOfOne}/play`,
    status: 200,
    summary: 'Starts a job that waits for somebody.',
    access: running,
    input: PlayInput,
    reply: AnyJob,
    handle: async (context) => {
      const { job_id, job_variables_attributes, job_inputs } = context.input;
      await playJob(context, job_id, {
        variables: job_variables_attributes,
        inputs: job_inputs as GivenInputs | undefined,
      });
      return showAny(context, context.input.job_id);
    },
  }),
];
