/** Namespaces: the groups and personal namespaces of the caller, and whether a path is in use. */
import Type, { type Static } from 'typebox';
import { signedIn } from '../../../kernel/access/access.ts';
import { authorizeGroup } from '../../../kernel/access/find.ts';
import { type Endpoint, endpoint, found, listing } from '../../../kernel/api/endpoint.ts';
import { NamespaceBasic, presentNamespaceBasic } from '../../../kernel/namespaces/records.ts';
import { OWNER } from '../../../kernel/policy/roles.ts';
import type { Surroundings } from '../../../kernel/users/records.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { checkPath, findNamespace, listNamespaces, type NamespaceListing } from './namespace-queries.ts';

const count = (description: string) => Type.Optional(Type.Integer({ description }));

const Namespace = Type.Object({
  ...NamespaceBasic.properties,
  members_count_with_descendants: count('For owners of groups.'),
  root_repository_size: count('Of all repositories of projects inside it, in bytes; for owners.'),
  projects_count: count('Inside it at any depth, for owners.'),
});
type Namespace = Static<typeof Namespace>;

const NamespaceExistence = Type.Object({
  exists: Type.Boolean(),
  suggests: Type.Array(Type.String(), {
    description: 'Free paths like the one asked for, when it is in use.',
  }),
});

function present(around: Surroundings, row: NamespaceListing): Namespace {
  const basic = presentNamespaceBasic(around, row, row.owner);
  if (row.level < OWNER) return basic;
  return {
    ...basic,
    ...(row.kind === 'group' && { members_count_with_descendants: row.members ?? 0 }),
    root_repository_size: row.repository_size ?? 0,
    projects_count: row.projects ?? 0,
  };
}

const flag = (description: string) => Type.Optional(Type.Boolean({ description }));

export const namespaceEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path: '/namespaces',
    summary: 'Namespaces of the caller; all, for administrators.',
    access: signedIn,
    input: Type.Object({
      search: Type.Optional(Type.String({ maxLength: 1_000, description: 'Part of the name or path.' })),
      owned_only: flag('Only those that the caller owns.'),
      top_level_only: flag('Only those without a parent.'),
      full_path_search: flag('Search in the full path instead.'),
    }),
    page: 'offset',
    item: Namespace,
    handle: async ({ db, services, settings, actor, input, page }) => {
      const around = { baseUrl: services.baseUrl(), settings };
      return mapPage(await listNamespaces(db, actor, input, page), (row) => present(around, row));
    },
  }),
  endpoint({
    method: 'GET',
    path: '/namespaces/:id',
    summary: 'One namespace.',
    access: signedIn,
    input: Type.Object({ id: Type.String({ description: 'The id or full path.' }) }),
    reply: Namespace,
    handle: async ({ db, services, settings, actor, input }) => {
      const row = found(await findNamespace(db, actor, input.id), 'Namespace');
      return present({ baseUrl: services.baseUrl(), settings }, row);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/namespaces/:id/exists',
    summary: 'Whether a path is in use by a user or group.',
    access: signedIn,
    input: Type.Object({
      id: Type.String({ description: 'The path asked about.' }),
      parent_id: Type.Optional(
        Type.Integer({ description: 'The group to look in; the top level when absent.' }),
      ),
    }),
    reply: NamespaceExistence,
    handle: async ({ db, services, actor, input: { id, parent_id } }) => {
      const { sql: driver } = services.database;
      const parent =
        parent_id === undefined ? undefined : await authorizeGroup(driver, actor, 'read_group', parent_id);
      return checkPath(db, id, parent?.row);
    },
  }),
];
