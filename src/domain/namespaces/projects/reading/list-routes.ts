/** Lists of projects of a user, a group, or a project's forks. */
import { type RawBuilder, sql } from 'kysely';
import Type, { type TProperties } from 'typebox';
import { type Access, onGroup, onProject, onUser } from '../../../../kernel/access/access.ts';
import type { Caller } from '../../../../kernel/actor.ts';
import { type CallLimit, type Endpoint, listing } from '../../../../kernel/api/endpoint.ts';
import { now } from '../../../../platform/clock.ts';
import { ProjectFilterFields, type ProjectFilterInput, projectFilters, projectOrder } from './filters.ts';
import { listProjects } from './list-queries.ts';
import { presentProjects, projectView } from './present.ts';
import { ProjectRecord } from './routes.ts';

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
const YEAR = 365 * 86_400_000;

const shared = (groupId: number): RawBuilder<unknown> =>
  sql`exists (select from project_group_links l where l.project_id = p.id and l.group_id = ${groupId})`;

export const userProjectsEndpoint = projectsOf({
  path: '/users/:user_id/projects',
  summary: 'Projects of a user.',
  access: onUser('user_id'),
  limit: perMinute('user_projects_api_limit'),
  where: (user) => sql`p.namespace_id in (select id from namespaces where owner_id = ${user.id})`,
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
    const own = input.include_subgroups
      ? sql`p.namespace_id in (select id from namespaces where ancestor_ids @> array[${group.id}]::bigint[])`
      : sql`p.namespace_id = ${group.id}`;
    return input.with_shared === false ? own : sql`(${own} or ${shared(group.id)})`;
  },
});

export const listEndpoints: Endpoint[] = [
  projectsOf({
    path: '/projects/:id/forks',
    summary: 'Forks of a project.',
    access: onProject('read_project'),
    where: (project) => sql`p.forked_from_id = ${project.id}`,
  }),
  userProjectsEndpoint,
  projectsOf({
    path: '/users/:user_id/starred_projects',
    summary: 'Projects that a user starred.',
    access: onUser('user_id'),
    limit: perMinute('user_starred_projects_api_limit'),
    where: (user) => sql`exists (select from stars s where s.project_id = p.id and s.user_id = ${user.id})`,
  }),
  projectsOf({
    path: '/users/:user_id/contributed_projects',
    summary: 'Projects that a user was active in during the last year.',
    access: onUser('user_id'),
    limit: perMinute('user_contributed_projects_api_limit'),
    where: (user) => sql`exists (
      select from activity_events e where e.project_id = p.id and e.author_id = ${user.id}
      and e.created_at > ${new Date(now().getTime() - YEAR)})`,
  }),
  groupProjectsEndpoint,
  projectsOf({
    path: '/groups/:id/projects/shared',
    summary: 'Projects shared with a group.',
    access: onGroup('read_group'),
    where: (group) => shared(group.id),
  }),
];
