/** Aliases of projects: one-word addresses for git, which administrators give. */
import { onInstance } from '../../../kernel/access/access.ts';
import { authorizeProject } from '../../../kernel/access/find.ts';
import { type Endpoint, endpoint, found, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { createAlias, deleteAlias } from './actions.ts';
import { type AliasRow, selectAlias, selectAliases } from './queries.ts';
import { AliasRecord, CreateAlias, OneAlias } from './schema.ts';

const present = ({ id, project_id, name }: AliasRow): AliasRecord => ({ id, project_id, name });

export const aliasEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path: '/project_aliases',
    summary: 'Aliases of projects.',
    access: onInstance,
    tier: 'premium',
    page: 'offset',
    item: AliasRecord,
    handle: async ({ db, page }) => mapPage(await selectAliases(db, page), present),
  }),
  endpoint({
    method: 'GET',
    path: '/project_aliases/:name',
    summary: 'One alias of a project.',
    access: onInstance,
    tier: 'premium',
    input: OneAlias,
    reply: AliasRecord,
    handle: async ({ db, input: { name } }) => present(found(await selectAlias(db, name), 'ProjectAlias')),
  }),
  endpoint({
    method: 'POST',
    path: '/project_aliases',
    summary: 'Gives a project an alias, by which git clones it and pushes to it.',
    access: onInstance,
    tier: 'premium',
    input: CreateAlias,
    reply: AliasRecord,
    handle: async ({ db, services, actor, input: { project_id, name } }) => {
      const project = await authorizeProject(services.database.points, actor, 'read_project', project_id);
      return present(await createAlias(db, actor, project, name));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/project_aliases/:name',
    summary: 'Takes an alias from its project.',
    access: onInstance,
    tier: 'premium',
    input: OneAlias,
    reply: noContent,
    handle: async ({ db, actor, input: { name }, unmodified }) => {
      await deleteAlias(db, actor, name, unmodified);
      return null;
    },
  }),
];
