/** Environments of projects (facts: Projects core; facts-ci: 7.1). */
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, found, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { Failure } from '../../../platform/failure.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import {
  createEnvironment,
  deleteEnvironment,
  deleteReviewApps,
  stopEnvironment,
  stopStale,
  updateEnvironment,
} from './actions.ts';
import { presentBasic, presentEnvironment, presentWhole } from './present.ts';
import { selectEnvironment, selectEnvironments } from './queries.ts';
import {
  CreateEnvironment,
  Environment,
  EnvironmentList,
  isSearchable,
  Message,
  OneEnvironment,
  ReviewApps,
  ScheduledEntries,
  StopEnvironment,
  StopStale,
  UpdateEnvironment,
} from './schema.ts';

const path = '/projects/:id/environments';
const pathOfOne = `${path}/:environment_id` as const;
const read = onProject('read_environments');
const manage = onProject('manage_environments');

const DAY_MS = 86_400_000;
const daysAgo = (days: number): Date => new Date(now().getTime() - days * DAY_MS);

export const environmentEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Environments of a project, by name.',
    access: read,
    jobToken: true,
    page: 'offset',
    input: EnvironmentList,
    item: Environment,
    handle: async (context) => {
      const { db, subject, input, page } = context;
      if (input.search !== undefined && !isSearchable(input.search))
        throw new Failure('bad_request', 'Search query is less than 3 characters');
      return mapPage(await selectEnvironments(db, subject, input, page), (row) =>
        presentEnvironment(context, row),
      );
    },
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Makes an environment of a project.',
    access: manage,
    jobToken: true,
    input: CreateEnvironment,
    reply: Environment,
    handle: async (context) => presentEnvironment(context, await createEnvironment(context, context.input)),
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/review_apps`,
    summary: 'Schedules the deletion of environments below `review/` that are stopped, in a week.',
    access: manage,
    jobToken: true,
    status: 200,
    input: ReviewApps,
    reply: ScheduledEntries,
    handle: async (context) => {
      const { before, limit = 100, dry_run: dryRun = true } = context.input;
      const time = before === undefined ? daysAgo(30) : new Date(before);
      context.unmodified(context.subject.row.updated_at);
      const rows = await deleteReviewApps(context, { before: time, limit, dryRun });
      return { scheduled_entries: rows.map(presentBasic), unprocessable_entries: [] };
    },
  }),
  endpoint({
    method: 'POST',
    path: `${path}/stop_stale`,
    status: 200,
    summary: 'Stops environments to which nothing was deployed for long.',
    access: manage,
    jobToken: true,
    input: StopStale,
    reply: Message,
    handle: async (context) => {
      const before = new Date(context.input.before);
      if (before > daysAgo(7)) throw new Failure('bad_request', '400 Bad request - Invalid Date');
      await stopStale(context, before);
      return { message: 'Successfully requested stop for all stale environments' };
    },
  }),
  endpoint({
    method: 'GET',
    path: pathOfOne,
    summary: 'An environment of a project, with its last deployment.',
    access: read,
    jobToken: true,
    input: OneEnvironment,
    reply: Environment,
    handle: async (context) => {
      const { db, subject, input } = context;
      const row = found(await selectEnvironment(db, subject, input.environment_id), 'Environment');
      return presentWhole(context, row);
    },
  }),
  endpoint({
    method: 'PUT',
    path: pathOfOne,
    summary: 'Changes an environment; its name stays.',
    access: manage,
    jobToken: true,
    input: UpdateEnvironment,
    reply: Environment,
    handle: async (context) => {
      const { environment_id, ...changes } = context.input;
      return presentEnvironment(context, await updateEnvironment(context, environment_id, changes));
    },
  }),
  endpoint({
    method: 'POST',
    path: `${pathOfOne}/stop`,
    status: 200,
    summary: 'Stops an environment, by the job that does it where there is one.',
    access: manage,
    jobToken: true,
    input: StopEnvironment,
    reply: Environment,
    handle: async (context) => {
      const { environment_id, force = false } = context.input;
      const row = await stopEnvironment(context, environment_id, force);
      context.services.wake();
      return presentEnvironment(context, row);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: pathOfOne,
    summary: 'Deletes an environment that is stopped, with its deployments.',
    access: manage,
    jobToken: true,
    input: OneEnvironment,
    reply: noContent,
    handle: async (context) => {
      await deleteEnvironment(context, context.input.environment_id, context.unmodified);
      return null;
    },
  }),
];
