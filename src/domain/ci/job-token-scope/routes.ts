/** What the tokens of jobs open: whose jobs use a project (facts: Projects core; facts-ci: 4). */
import Type from 'typebox';
import { onProject, signedIn } from '../../../kernel/access/access.ts';
import { authorizeGroup, authorizeProject } from '../../../kernel/access/find.ts';
import { jobCredentialOf } from '../../../kernel/actor.ts';
import { type Endpoint, endpoint, found, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { BasicGroupDetails, presentBasicGroup } from '../../../kernel/namespaces/group-records.ts';
import { BasicProject } from '../../../kernel/namespaces/project-records.ts';
import { badRequest } from '../../../platform/failure.ts';
import { integerId } from '../../../platform/http/parameters/schema.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { showJob } from '../jobs/routes.ts';
import { Job } from '../jobs/schema.ts';
import { presentProject } from '../runners/present.ts';
import { allow, disallow, restrict } from './actions.ts';
import { selectAllowedGroups, selectAllowedProjects, selectJobOfToken } from './queries.ts';

const path = '/projects/:id/job_token_scope';
const access = onProject('manage_job_token_scope');
const OneProject = Type.Object({ target_project_id: integerId() });
const OneGroup = Type.Object({ target_group_id: integerId() });

const unlisted = (what: 'project' | 'group') => badRequest(`Target ${what} is not in the job token scope`);

export const jobTokenEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/job',
    summary: 'The job whose token the request has.',
    access: signedIn,
    jobToken: true,
    reply: Job,
    handle: async (context) => {
      const { db, services, actor } = context;
      const token = found(jobCredentialOf(actor), 'Job');
      const { id } = found(await selectJobOfToken(db, token.tokenId), 'Job');
      const { points } = services.database;
      const subject = await authorizeProject(points, actor, 'read_pipelines', token.projectId);
      return showJob({ ...context, subject }, id);
    },
  }),
  endpoint({
    method: 'GET',
    path,
    summary: 'Whether only the jobs of listed projects use a project by their tokens.',
    access,
    reply: Type.Object({ inbound_enabled: Type.Boolean(), outbound_enabled: Type.Boolean() }),
    handle: async ({ settings, subject }) => ({
      inbound_enabled:
        subject.row.inbound_job_token_scope_enabled || settings.enforce_ci_inbound_job_token_scope_enabled,
      outbound_enabled: false,
    }),
  }),
  endpoint({
    method: 'PATCH',
    path,
    status: 204,
    summary: 'Lets only the jobs of listed projects use a project by their tokens, or those of all.',
    access,
    input: Type.Object({ enabled: Type.Boolean() }),
    reply: noContent,
    handle: async (context) => {
      const { enabled } = context.input;
      if (!enabled && context.settings.enforce_ci_inbound_job_token_scope_enabled)
        throw badRequest('The instance lets only the jobs of listed projects use other projects');
      await restrict(context, enabled);
      return null;
    },
  }),
  listing({
    method: 'GET',
    path: `${path}/allowlist`,
    summary: 'The projects whose jobs use a project by their tokens: itself first, then those that it lists.',
    access,
    page: 'offset',
    item: BasicProject,
    handle: async (context) => {
      const { db, subject, page } = context;
      return mapPage(await selectAllowedProjects(db, subject, page), (row) => presentProject(context, row));
    },
  }),
  endpoint({
    method: 'POST',
    path: `${path}/allowlist`,
    summary: 'Lets the jobs of another project use a project by their tokens.',
    access,
    also: [422],
    input: OneProject,
    reply: BasicProject,
    handle: async (context) => {
      const { services, actor, input } = context;
      const { points } = services.database;
      const target = await authorizeProject(points, actor, 'read_project', input.target_project_id);
      await allow(context, 'allowed_project_id', target);
      return presentProject(context, target.row);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/allowlist/:target_project_id`,
    summary: 'Lets the jobs of another project use a project no more.',
    access,
    input: OneProject,
    reply: noContent,
    handle: async (context) => {
      const { services, actor, input, unmodified } = context;
      const id = input.target_project_id;
      if (await disallow(context, 'allowed_project_id', id, unmodified)) return null;
      // 404 for what the caller does not see, listed or not.
      await authorizeProject(services.database.points, actor, 'read_project', id);
      throw unlisted('project');
    },
  }),
  listing({
    method: 'GET',
    path: `${path}/groups_allowlist`,
    summary: 'The groups all whose jobs use a project by their tokens.',
    access,
    page: 'offset',
    item: BasicGroupDetails,
    handle: async ({ db, services, subject, page }) => {
      const baseUrl = services.baseUrl();
      return mapPage(await selectAllowedGroups(db, subject, page), (row) =>
        presentBasicGroup({ baseUrl }, row),
      );
    },
  }),
  endpoint({
    method: 'POST',
    path: `${path}/groups_allowlist`,
    summary: 'Lets the jobs of all projects in a group use a project by their tokens.',
    access,
    also: [422],
    input: OneGroup,
    reply: BasicGroupDetails,
    handle: async (context) => {
      const { services, actor, input } = context;
      const { points } = services.database;
      const { id, row } = await authorizeGroup(points, actor, 'read_group', input.target_group_id);
      await allow(context, 'allowed_namespace_id', { id, fullPath: row.full_path });
      return presentBasicGroup({ baseUrl: services.baseUrl() }, row);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/groups_allowlist/:target_group_id`,
    summary: 'Lets the jobs of the projects in a group use a project no more.',
    access,
    input: OneGroup,
    reply: noContent,
    handle: async (context) => {
      const { services, actor, input, unmodified } = context;
      const id = input.target_group_id;
      if (await disallow(context, 'allowed_namespace_id', id, unmodified)) return null;
      await authorizeGroup(services.database.points, actor, 'read_group', id);
      throw unlisted('group');
    },
  }),
];
