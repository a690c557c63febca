/** Wikis over git, at `<full path>.wiki.git`: who may fetch and push there. */
import { authorizeGroup, authorizeProject } from '../../kernel/access/find.ts';
import type { Sql } from '../../platform/db/driver/sql.ts';
import { forbidden } from '../../platform/failure.ts';
import {
  groupWiki,
  type PushTarget,
  projectWiki,
  type RepositoryKind,
  type RepositoryRequest,
} from '../repositories/index.ts';
import { wikiPushTarget } from './push-target.ts';

/** `<project>.wiki`, or `<group>.wiki`; undefined for neither, which may be a project of that name. */
async function findRepository({
  services,
  settings,
  visitor,
  purpose,
  path,
}: RepositoryRequest): Promise<PushTarget | undefined> {
  if (!path.endsWith('.wiki')) return undefined;
  const owner = path.slice(0, -'.wiki'.length);
  const { points } = services.database;
  const found = await findOwner(points, owner);
  if (found === undefined) return undefined;
  if (visitor.deployToken) throw forbidden();
  if (found === 'project') {
    const ability = purpose === 'read' ? 'read_wiki' : 'write_wiki';
    const { id } = await authorizeProject(points, visitor.caller, ability, owner);
    return wikiPushTarget(services, settings, projectWiki(id), visitor.caller);
  }
  const ability = purpose === 'read' ? 'read_group_wiki' : 'write_group_wiki';
  const { id } = await authorizeGroup(points, visitor.caller, ability, found);
  // As at the API: wikis of groups are no part of the free tier.
  if (services.config.tier === 'free') throw forbidden();
  return wikiPushTarget(services, settings, groupWiki(id), visitor.caller);
}

/** `project` for a path that is, or was, a project's; else the id of its group: a number is a name here. */
async function findOwner(sql: Sql, path: string): Promise<'project' | number | undefined> {
  const slash = path.lastIndexOf('/');
  const [namespace, name] = [
    path.slice(0, Math.max(0, slash)).toLowerCase(),
    path.slice(slash + 1).toLowerCase(),
  ];
  const [row] = await sql<{ project: boolean; group_id: number | null }[]>`
    select exists (select from projects p join namespaces n on n.id = p.namespace_id
        where lower(n.full_path) collate "C" = ${namespace} and lower(p.path) collate "C" = ${name})
      or exists (select from project_redirects where path = ${path.toLowerCase()}) as project,
      (select id from namespaces where kind = 'group' and lower(full_path) collate "C" = ${path.toLowerCase()}) as group_id`;
  return row?.project ? 'project' : (row?.group_id ?? undefined);
}

export const wikiRepositories: RepositoryKind = { find: findRepository };
