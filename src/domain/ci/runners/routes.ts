/** Runners: by their owners, in projects and groups, and all of them. */
import { onGroup, onInstance, onProject, signedIn } from '../../../kernel/access/access.ts';
import { authorizeGroup, authorizeInstance, authorizeProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import {
  type Context,
  type Endpoint,
  endpoint,
  found,
  listing,
  noContent,
} from '../../../kernel/api/endpoint.ts';
import { BasicProject } from '../../../kernel/namespaces/project-records.ts';
import { Failure, forbidden } from '../../../platform/failure.ts';
import { mapPage, type Page } from '../../../platform/pagination/page.ts';
import { onAllRunners, onRunner } from './access.ts';
import {
  assignRunner,
  createRunner,
  deleteRunner,
  resetRegistrationToken,
  resetToken,
  unassignRunner,
  updateRunner,
} from './actions.ts';
import {
  presentManager,
  presentProject,
  presentRunner,
  presentRunnerDetails,
  presentToken,
} from './present.ts';
import {
  type DetailedRunnerRow,
  type RunnerFilters,
  type RunnerHome,
  type RunnerRow,
  selectAllRunners,
  selectFirstProjects,
  selectGroupRunners,
  selectManagers,
  selectOwnRunners,
  selectProjectRunners,
  selectProjectsOfRunner,
  selectRunner,
  selectRunnerFor,
} from './queries.ts';
import { mayRegister, type RunnerType } from './rules.ts';
import {
  AssignmentInput,
  CreateInput,
  isScope,
  ListInput,
  OneInput,
  Registration,
  Runner,
  RunnerDetails,
  RunnerManager,
  ScopedListInput,
  TokenRecord,
  UpdateInput,
} from './schema.ts';

type RunnerContext = Context<unknown, unknown, Actor>;

/** Runners are also for tokens that do nothing else. */
const scopes = {
  read: ['api', 'read_api', 'manage_runner'],
  write: ['api', 'manage_runner'],
  create: ['api', 'create_runner'],
} as const;

const records = (context: RunnerContext, page: Page<RunnerRow>) =>
  mapPage(page, (row) => presentRunner(context, row));

/** 400 for words of the old parameter that there are not. */
function checkScope(filters: RunnerFilters): RunnerFilters {
  if (filters.scope === undefined || isScope(filters.scope)) return filters;
  throw new Failure('bad_request', 'Scope contains invalid value');
}

async function details(context: RunnerContext, row: DetailedRunnerRow, withProjects = true) {
  const { db, actor } = context;
  const select = () => (row.runner_type === 'project_type' ? selectFirstProjects(db, actor, row.id) : []);
  return presentRunnerDetails(context, row, withProjects ? await select() : undefined);
}

const missing = (name: string): Failure =>
  new Failure('bad_request', `400 Bad request - "${name}" not given`, { error: `${name} is missing` });

type Place = {
  runner_type: RunnerType;
  group_id?: number | undefined;
  project_id?: number | undefined;
};

/** Where the caller may make a runner of the type; 403 also where only administrators may. */
async function authorizeHome(
  { services, settings, actor }: RunnerContext,
  { runner_type: type, group_id, project_id }: Place,
): Promise<RunnerHome> {
  if (type === 'instance_type') {
    authorizeInstance(actor);
    return { type };
  }
  const { points } = services.database;
  if (type === 'group_type') {
    if (group_id === undefined) throw missing('group_id');
    const { id, row } = await authorizeGroup(points, actor, 'manage_runners', group_id);
    if (!actor.admin && !mayRegister(settings, type)) throw forbidden();
    return { type, id, path: row.full_path };
  }
  if (project_id === undefined) throw missing('project_id');
  const { id, fullPath } = await authorizeProject(points, actor, 'manage_runners', project_id);
  if (!actor.admin && !mayRegister(settings, type)) throw forbidden();
  return { type, id, path: fullPath };
}

const registrationToken = async (...asked: Parameters<typeof resetRegistrationToken>) => ({
  token: await resetRegistrationToken(...asked),
  token_expires_at: null,
});

export const runnerEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path: '/runners',
    summary: 'Runners of the projects and groups whose runners the caller manages, the oldest first.',
    access: signedIn,
    scopes: scopes.read,
    page: 'offset',
    input: ScopedListInput,
    item: Runner,
    handle: async (context) => {
      const { db, actor, input, page } = context;
      return records(context, await selectOwnRunners(db, actor, checkScope(input), page));
    },
  }),
  listing({
    method: 'GET',
    path: '/runners/all',
    summary: 'All runners, the oldest first.',
    access: onAllRunners,
    scopes: scopes.read,
    page: 'offset',
    input: ScopedListInput,
    item: Runner,
    handle: async (context) => {
      const { db, input, page } = context;
      return records(context, await selectAllRunners(db, checkScope(input), page));
    },
  }),
  endpoint({
    method: 'POST',
    path: '/user/runners',
    summary: 'Makes a runner of the instance, a group or a project; its token is shown here alone.',
    access: signedIn,
    scopes: scopes.create,
    input: CreateInput,
    reply: Registration,
    handle: async (context) => {
      const { runner_type, group_id, project_id, ...fields } = context.input;
      const home = await authorizeHome(context, { runner_type, group_id, project_id });
      const registration = 'authenticated_user';
      return presentToken(await createRunner(context, home, fields, { registration }));
    },
  }),
  endpoint({
    method: 'GET',
    path: '/runners/:id',
    summary: 'A runner with its projects, or its group.',
    access: onRunner('read_runner'),
    scopes: scopes.read,
    input: OneInput,
    reply: RunnerDetails,
    handle: (context) => details(context, context.subject, context.input.include_projects),
  }),
  endpoint({
    method: 'PUT',
    path: '/runners/:id',
    summary: 'Changes a runner; what is not sent stays as it is.',
    access: onRunner('manage_runner'),
    scopes: scopes.write,
    input: UpdateInput,
    reply: RunnerDetails,
    handle: async (context) => {
      const { id, ...changes } = context.input;
      await updateRunner(context, id, changes);
      return details(context, await selectRunner(context.db, id));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/runners/:id',
    summary: 'Deletes a runner, unless several projects have it.',
    access: onRunner('manage_runner'),
    scopes: scopes.write,
    reply: noContent,
    handle: async (context) => {
      await deleteRunner(context, context.subject.id, context.unmodified);
      return null;
    },
  }),
  listing({
    method: 'GET',
    path: '/runners/:id/managers',
    summary: 'Processes that use the token of a runner, the oldest first.',
    access: onRunner('read_runner'),
    scopes: scopes.read,
    page: 'offset',
    item: RunnerManager,
    handle: async ({ db, subject, page }) =>
      mapPage(await selectManagers(db, subject.id, page), presentManager),
  }),
  listing({
    method: 'GET',
    path: '/runners/:id/projects',
    summary: 'Projects that have a runner, as far as the caller sees them, the owner first.',
    access: onRunner('read_runner'),
    scopes: scopes.read,
    page: 'offset',
    item: BasicProject,
    handle: async (context) => {
      const { db, actor, subject, page } = context;
      return mapPage(await selectProjectsOfRunner(db, actor, subject.id, page), (row) =>
        presentProject(context, row),
      );
    },
  }),
  endpoint({
    method: 'POST',
    path: '/runners/:id/reset_authentication_token',
    summary: 'Makes another token for a runner; the one before is worth nothing any more.',
    access: onRunner('manage_runner'),
    scopes: scopes.write,
    reply: TokenRecord,
    handle: async (context) => presentToken(await resetToken(context, context.subject.id)),
  }),
  endpoint({
    method: 'POST',
    path: '/runners/reset_registration_token',
    summary: 'Makes another token with which runners of the instance register.',
    access: onInstance,
    reply: TokenRecord,
    handle: (context) => registrationToken(context, context.subject),
  }),
  listing({
    method: 'GET',
    path: '/projects/:id/runners',
    summary: 'Runners that jobs of a project may go to, the oldest first.',
    access: onProject('read_runners'),
    scopes: scopes.read,
    page: 'offset',
    input: ScopedListInput,
    item: Runner,
    handle: async (context) => {
      const { db, subject, input, page } = context;
      return records(context, await selectProjectRunners(db, subject, checkScope(input), page));
    },
  }),
  endpoint({
    method: 'POST',
    path: '/projects/:id/runners',
    summary: 'Gives a project a runner of another one.',
    access: onProject('manage_runners'),
    scopes: scopes.write,
    input: AssignmentInput,
    reply: Runner,
    handle: async (context) => {
      const { db, actor, input } = context;
      const runner = found(await selectRunnerFor(db, actor, input.runner_id), 'Runner');
      found(runner.standing > 0 ? runner : undefined, 'Runner');
      await assignRunner(context, runner.id);
      return presentRunner(context, runner);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/projects/:id/runners/:runner_id',
    summary: 'Takes a runner from a project that does not own it.',
    access: onProject('manage_runners'),
    scopes: scopes.write,
    input: AssignmentInput,
    reply: noContent,
    handle: async (context) => {
      await unassignRunner(context, context.input.runner_id, context.unmodified);
      return null;
    },
  }),
  endpoint({
    method: 'POST',
    path: '/projects/:id/runners/reset_registration_token',
    summary: 'Makes another token with which runners of a project register.',
    access: onProject('manage_runners'),
    reply: TokenRecord,
    handle: (context) => registrationToken(context, context.subject),
  }),
  listing({
    method: 'GET',
    path: '/groups/:id/runners',
    summary: 'Runners of a group and the groups above, and those of the instance, the oldest first.',
    access: onGroup('read_runners'),
    scopes: scopes.read,
    page: 'offset',
    input: ListInput,
    item: Runner,
    handle: async (context) => {
      const { db, subject, input, page } = context;
      return records(context, await selectGroupRunners(db, subject, input, page));
    },
  }),
  endpoint({
    method: 'POST',
    path: '/groups/:id/runners/reset_registration_token',
    summary: 'Makes another token with which runners of a group register.',
    access: onGroup('manage_runners'),
    reply: TokenRecord,
    handle: (context) => registrationToken(context, context.subject),
  }),
];
