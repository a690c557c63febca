/** Starting pipelines, by users and by programs with a trigger token (facts: Pipelines, schedules). */

import { anyone, onProject } from '../../../kernel/access/access.ts';
import { type AuthorizedProject, authorizeProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { type Context, type Endpoint, endpoint, found, listing } from '../../../kernel/api/endpoint.ts';
import { MAINTAINER } from '../../../kernel/policy/roles.ts';
import { forbidden, invalid, notFound, unauthenticated } from '../../../platform/failure.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { unseal } from '../../../platform/secret.ts';
import { findUserOfProject } from '../../conversation/index.ts';
import type { Json } from '../file/plan.ts';
import { authenticateJob, JOB_TOKEN_PREFIX } from '../job-token-scope/authenticate-job.ts';
import { selectPipeline } from '../pipelines/queries.ts';
import { showPipeline } from '../pipelines/routes.ts';
import { OnePipeline, Pipeline } from '../pipelines/schema.ts';
import { KEY_PATTERN } from '../variables/rules.ts';
import type { PipelineRequest } from './compile-request.ts';
import { createPipeline } from './create-actions.ts';
import { selectGivenVariables, selectSentTrigger, selectUpstreamByToken } from './queries.ts';
import { CreateInput, GivenVariable, TriggerInput } from './schema.ts';

type StartContext = Pick<Context<unknown, unknown, Actor | undefined>, 'db' | 'services' | 'settings'>;

/** Makes the pipeline and shows it. */
async function start(
  { db, services, settings }: StartContext,
  actor: Actor,
  subject: AuthorizedProject,
  request: PipelineRequest,
) {
  const { id } = found(await createPipeline({ services, actor, subject }, request));
  services.wake();
  return showPipeline({ db, services, settings, subject }, id);
}

const isKey = new RegExp(KEY_PATTERN);

/** Whether the part of an address names the project, by its id or its path. */
const isNamed = ({ id, fullPath }: AuthorizedProject, reference: string): boolean =>
  reference === String(id) || reference.toLowerCase() === fullPath.toLowerCase();

type Presented = {
  actor: Actor;
  project: AuthorizedProject;
  because: Pick<PipelineRequest, 'source' | 'trigger' | 'tokenJob'>;
};

/** Who starts a pipeline by the token of a trigger, or of a job that runs; 404 for others, 401 for jobs that do not. */
async function presentedBy({
  db,
  services,
  settings,
  input: { id, token },
}: StartContext & { input: { id: string; token: string } }): Promise<Presented> {
  if (token.startsWith(JOB_TOKEN_PREFIX)) {
    const job = await authenticateJob(services, settings, token);
    const project = await authorizeProject(services.database.points, job, 'run_pipelines', id);
    const tokenJob = await selectUpstreamByToken(db, token);
    if (!tokenJob) throw unauthenticated();
    // The pipeline is its user's, and reads files of other projects as theirs.
    return {
      actor: { ...job, credential: { via: 'password' } },
      project,
      because: { source: 'pipeline', tokenJob },
    };
  }
  const sent = await selectSentTrigger(db, token);
  // The token acts as its owner, with the rights that they have now.
  const owner = sent && (await findUserOfProject(services, sent.project_id, sent.owner_id));
  if (!sent || !owner?.project.may('run_pipelines') || !isNamed(owner.project, id)) throw notFound();
  return { ...owner, because: { source: 'trigger', trigger: { id: sent.id, token } } };
}

const trigger = (path: string, summary: string) =>
  endpoint({
    method: 'POST',
    path,
    summary,
    access: anyone,
    input: TriggerInput,
    reply: Pipeline,
    handle: async (context) => {
      const { ref, variables = {}, inputs } = context.input;
      const { actor, project, because } = await presentedBy(context);
      const given = Object.entries(variables).map(([key, value]) => ({ key, value }));
      if (given.some(({ key }) => !isKey.test(key))) throw invalid({ variables: ['is invalid'] });
      return start(context, actor, project, {
        ...because,
        ref,
        variables: given,
        ...(inputs && { inputs: inputs as Record<string, Json> }),
      });
    },
  });

export const creationEndpoints: Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/projects/:id/pipeline',
    summary: 'Starts a pipeline of a branch or tag.',
    access: onProject('run_pipelines'),
    input: CreateInput,
    reply: Pipeline,
    handle: (context) => {
      const { ref, variables = [], inputs } = context.input;
      return start(context, context.actor, context.subject, {
        source: 'api',
        ref,
        variables,
        ...(inputs && { inputs: inputs as Record<string, Json> }),
      });
    },
  }),
  trigger('/projects/:id/trigger/pipeline', 'Starts a pipeline by a trigger token.'),
  trigger('/projects/:id/ref/:ref/trigger/pipeline', 'Starts a pipeline of this ref by a trigger token.'),
  listing({
    method: 'GET',
    path: '/projects/:id/pipelines/:pipeline_id/variables',
    summary: 'The variables that a pipeline was started with, for the one who did and for maintainers.',
    access: onProject('run_pipelines'),
    page: 'offset',
    input: OnePipeline,
    item: GivenVariable,
    handle: async ({ db, services, subject, actor, input, page }) => {
      const pipeline = found(await selectPipeline(db, subject, input.pipeline_id), 'Pipeline');
      if (pipeline.user_id !== actor.id && subject.role < MAINTAINER) throw forbidden();
      return mapPage(await selectGivenVariables(db, pipeline.id, page), (row) => ({
        variable_type: row.variable_type,
        key: row.key,
        value: unseal(services.secretKey, row.value_sealed),
      }));
    },
  }),
];
