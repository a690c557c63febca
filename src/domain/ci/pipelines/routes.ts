/** Pipelines of projects (facts: Pipelines, schedules). */
import { onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import {
  type Context,
  type Endpoint,
  endpoint,
  found,
  listing,
  noContent,
} from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import { notFound } from '../../../platform/failure.ts';
import { findCommit, listRefs } from '../../../platform/git/refs.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { PipelineBasic, readRepository } from '../../repositories/index.ts';
import { cancelPipeline, deletePipeline, renamePipeline, retryPipeline } from './actions.ts';
import { presentPipeline, presentPipelineBasic } from './present.ts';
import { selectDetails, selectLastPipeline, selectPipelines } from './queries.ts';
import { LatestInput, MetadataInput, OnePipeline, Pipeline, PipelineList } from './schema.ts';

const path = '/projects/:id/pipelines';
const pathOfOne = `${path}/:pipeline_id`;
const reading = onProject('read_pipelines');
const running = onProject('run_pipelines');

type PipelineContext = Pick<
  Context<unknown, AuthorizedProject, Caller>,
  'db' | 'services' | 'settings' | 'subject'
>;

export async function showPipeline(
  { db, services, settings, subject }: Omit<PipelineContext, 'services'> & { services: Needs<'baseUrl'> },
  id: number,
) {
  const row = found(await selectDetails(db, subject, id), 'Pipeline');
  return presentPipeline({ baseUrl: services.baseUrl(), settings }, subject, row);
}

/** The names of the branches or tags there are. */
async function refsOf(services: Needs<'repositories'>, project: AuthorizedProject, kind: 'branch' | 'tag') {
  const refs = await readRepository(services, project, (git) => listRefs(git, kind));
  return { names: (refs ?? []).map(({ name }) => name), tag: kind === 'tag' };
}

/** A page of the project's pipelines. */
export async function listPipelines(
  { db, services, subject, page }: PipelineContext & Pick<Context<unknown, unknown, Caller>, 'page'>,
  filter: Parameters<typeof selectPipelines>[2],
) {
  const { scope } = filter;
  const refs =
    scope === 'branches' || scope === 'tags'
      ? await refsOf(services, subject, scope === 'tags' ? 'tag' : 'branch')
      : undefined;
  return mapPage(await selectPipelines(db, subject, filter, refs, page), (row) =>
    presentPipelineBasic(services.baseUrl(), subject, row),
  );
}

export const pipelineEndpoint = endpoint({
  method: 'GET',
  path: pathOfOne,
  summary: 'A pipeline.',
  access: reading,
  input: OnePipeline,
  reply: Pipeline,
  handle: (context) => showPipeline(context, context.input.pipeline_id),
});

export const pipelinesEndpoint = listing({
  method: 'GET',
  path,
  summary: 'Pipelines of a project, the newest first.',
  access: reading,
  page: 'offset',
  input: PipelineList,
  item: PipelineBasic,
  handle: (context) => listPipelines(context, context.input),
});

export const pipelineEndpoints: Endpoint[] = [
  pipelinesEndpoint,
  endpoint({
    method: 'GET',
    path: `${path}/latest`,
    summary: 'The newest pipeline of the last commit of a branch or tag.',
    access: reading,
    input: LatestInput,
    reply: Pipeline,
    handle: async (context) => {
      const { db, services, subject, input } = context;
      const ref = input.ref ?? subject.row.default_branch ?? '';
      const commit = await readRepository(services, subject, (git) => findCommit(git, ref));
      const row = commit && (await selectLastPipeline(db, subject, commit.oid, ref));
      if (!row) throw notFound('Pipeline');
      return showPipeline(context, row.id);
    },
  }),
  pipelineEndpoint,
  endpoint({
    method: 'POST',
    path: `${pathOfOne}/cancel`,
    status: 200,
    summary: 'Cancels the jobs of a pipeline that have not ended.',
    access: running,
    input: OnePipeline,
    reply: Pipeline,
    handle: async (context) => {
      await cancelPipeline(context, context.input.pipeline_id);
      return showPipeline(context, context.input.pipeline_id);
    },
  }),
  endpoint({
    method: 'POST',
    path: `${pathOfOne}/retry`,
    summary: 'Runs the jobs of a pipeline again that failed or were canceled.',
    access: running,
    input: OnePipeline,
    reply: Pipeline,
    handle: async (context) => {
      await retryPipeline(context, context.input.pipeline_id);
      return showPipeline(context, context.input.pipeline_id);
    },
  }),
  endpoint({
    method: 'PUT',
    path: `${pathOfOne}/metadata`,
    summary: 'Names a pipeline.',
    access: running,
    jobToken: true,
    input: MetadataInput,
    reply: Pipeline,
    handle: async (context) => {
      const { pipeline_id, name } = context.input;
      await renamePipeline(context, pipeline_id, name);
      return showPipeline(context, pipeline_id);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: pathOfOne,
    summary: 'Deletes a pipeline with its jobs.',
    access: onProject('delete_pipelines'),
    input: OnePipeline,
    reply: noContent,
    handle: async (context) => {
      await deletePipeline(context, context.input.pipeline_id, context.unmodified);
      return null;
    },
  }),
];
