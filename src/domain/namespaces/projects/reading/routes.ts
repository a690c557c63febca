/** Reading projects: lists and single ones. */
import Type from 'typebox';
import { anyone, onProject } from '../../../../kernel/access/access.ts';
import { AvatarPicture, replyWithAvatar } from '../../../../kernel/api/avatar-response.ts';
import { type Endpoint, endpoint, found, listing } from '../../../../kernel/api/endpoint.ts';
import { BasicProject, FullProject } from '../../../../kernel/namespaces/project-records.ts';
import type { KeysetRule } from '../../../../platform/pagination/pagination.ts';
import { projectFilters, projectOrder } from './filter-queries.ts';
import { listProjects } from './list-queries.ts';
import { presentProjects, projectView } from './present.ts';
import { ProjectFilterFields } from './schema.ts';

/** Keyset over projects: by id only, with and without credentials (spec: Pagination). */
const byId: KeysetRule = {
  type: 'Project',
  orderBy: { id: 'integer' },
  sort: ['asc', 'desc'],
  anonymous: true,
  signedIn: true,
  default: { orderBy: 'id', sort: 'desc' },
  link: 'id',
};

/** Anonymous callers and `simple` get the basic record: the other fields are optional here. */
export const ProjectRecord = Type.Object({
  ...Type.Partial(FullProject).properties,
  ...BasicProject.properties,
});

export const projectEndpoint = endpoint({
  method: 'GET',
  path: '/projects/:id',
  summary: 'One project.',
  access: onProject('read_project'),
  input: Type.Object({
    statistics: ProjectFilterFields.statistics,
    with_custom_attributes: ProjectFilterFields.with_custom_attributes,
    license: Type.Optional(Type.Boolean()),
  }),
  limit: { name: 'project_api', setting: 'project_api_limit', periodSeconds: 60 },
  reply: ProjectRecord,
  handle: async ({ db, services, settings, actor, subject, input }) => {
    const view = projectView(services, settings, actor);
    const options = {
      simple: false,
      statistics: input.statistics ?? false,
      customAttributes: input.with_custom_attributes ?? false,
    };
    const [project] = await presentProjects(db, view, actor, [subject.row], options);
    return found(project);
  },
});

export const readEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path: '/projects',
    summary: 'Projects that the caller sees.',
    access: anyone,
    input: Type.Object(ProjectFilterFields),
    page: byId,
    limit: {
      name: 'projects_api',
      setting: 'projects_api_limit',
      anonymousSetting: 'projects_api_rate_limit_unauthenticated',
      periodSeconds: 600,
    },
    item: ProjectRecord,
    handle: async ({ db, services, settings, actor, input, page }) => {
      const listed = await listProjects(db, actor, projectFilters(input, actor), page, projectOrder(input));
      const view = projectView(services, settings, actor);
      const options = {
        simple: input.simple ?? false,
        statistics: input.statistics ?? false,
        customAttributes: input.with_custom_attributes ?? false,
      };
      return { ...listed, items: await presentProjects(db, view, actor, listed.items, options) };
    },
  }),
  projectEndpoint,
  endpoint({
    method: 'GET',
    path: '/projects/:id/avatar',
    summary: 'The picture of a project.',
    access: onProject('read_project'),
    reply: AvatarPicture,
    handle: ({ services, subject }) => replyWithAvatar(services, subject.row.avatar),
  }),
];
