/** Lists of projects of a user, a group, or a project's forks. */
import { type RawBuilder, sql } from 'kysely';
import Type, { type TProperties } from 'typebox';
import { type Access, onGroup, onProject, onUser } from '../../../../kernel/access/access.ts';
import type { Caller } from '../../../../kernel/actor.ts';
import { type CallLimit, type Endpoint, listing } from '../../../../kernel/api/endpoint.ts';
import {
  isBelowGroup,
  isContributedToBy,
  isForkOf,
  isInGroup,
  isOwnedBy,
  isSharedWith,
  isStarredBy,
  projectFilters,
  projectOrder,
} from './filter-queries.ts';
import { listProjects } from './list-queries.ts';
import { presentProjects, projectView } from './present.ts';
import { ProjectRecord } from './routes.ts';
import { ProjectFilterFields, type ProjectFilterInput } from './schema.ts';

type Narrowing<Path extends string, Fields extends TProperties, Subject> = {
  path: Path;
  summary: string;
  access: Access<Subject, Caller>;
  limit?: CallLimit;
  fields?: Fields;
  /** The condition that narrows the list, over `projects p`. */
  where(subject: Subject, input: Record<string, unknown>): RawBuilder<unknown>;
};

/** One shape for them all: the visible projects, filtered, and narrowed by the subject. */
const projectsOf = <Path extends string, Subject, Fields extends TProperties = Record<never, never>>({
  where,
  fields,
  ...rest
}: Narrowing<Path, Fields, Subject>) =>
  listing({
    method: 'GET',
    ...rest,
    page: 'offset',
    // Absent fields have no names.
    input: Type.Object({ ...ProjectFilterFields, ...(fields as Fields) }),
    item: ProjectRecord,
    handle: async ({ db, services, settings, actor, subject, input, page }) => {
      const given = input as ProjectFilterInput & Record<string, unknown>;
      const filters = projectFilters(given, actor);
      const narrowed = { ...filters, where: sql`${filters.where} and ${where(subject, given)}` };
      const listed = await listProjects(db, actor, narrowed, page, projectOrder(given));
      const options = {
        simple: given.simple ?? false,
        statistics: given.statistics ?? false,
        customAttributes: given.with_custom_attributes ?? false,
      };
      return {
        ...listed,
        items: await presentProjects(
          db,
          projectView(services, settings, actor),
          actor,
          listed.items,
          options,
        ),
      };
    },
  });

const perMinute = (setting: CallLimit['setting']): CallLimit => ({
  name: setting,
  setting,
  periodSeconds: 60,
});

export const userProjectsEndpoint = projectsOf({
  path: '/users/:user_id/projects',
  summary: 'Projects of a user.',
  access: onUser('user_id'),
  limit: perMinute('user_projects_api_limit'),
  where: (user) => isOwnedBy(user.id),
});

export const groupProjectsEndpoint = projectsOf({
  path: '/groups/:id/projects',
  summary: 'Projects of a group.',
  access: onGroup('read_group'),
  limit: perMinute('group_projects_api_limit'),
  fields: {
    with_shared: Type.Optional(
      Type.Boolean({ default: true, description: 'Those shared with the group too.' }),
    ),
    include_subgroups: Type.Optional(Type.Boolean({ description: 'Those of subgroups too.' })),
  },
  where: (group, input) => {
    const own = input.include_subgroups ? isBelowGroup(group.id) : isInGroup(group.id);
    return input.with_shared === false ? own : sql`(${own} or ${isSharedWith(group.id)})`;
  },
});

export const listEndpoints: Endpoint[] = [
  projectsOf({
    path: '/projects/:id/forks',
    summary: 'Forks of a project.',
    access: onProject('read_project'),
    where: (project) => isForkOf(project.id),
  }),
  userProjectsEndpoint,
  projectsOf({
    path: '/users/:user_id/starred_projects',
    summary: 'Projects that a user starred.',
    access: onUser('user_id'),
    limit: perMinute('user_starred_projects_api_limit'),
    where: (user) => isStarredBy(user.id),
  }),
  projectsOf({
    path: '/users/:user_id/contributed_projects',
    summary: 'Projects that a user was active in during the last year.',
    access: onUser('user_id'),
    limit: perMinute('user_contributed_projects_api_limit'),
    where: (user) => isContributedToBy(user.id),
  }),
  groupProjectsEndpoint,
  projectsOf({
    path: '/groups/:id/projects/shared',
    summary: 'Projects shared with a group.',
    access: onGroup('read_group'),
    where: (group) => isSharedWith(group.id),
  }),
];
