/** Wikis over git, at `<full path>.wiki.git`: who may fetch and push there. */
import { authorizeGroup, authorizeProject } from '../../kernel/access/find.ts';
import { forbidden } from '../../platform/failure.ts';
import {
  groupWiki,
  type PushTarget,
  projectWiki,
  type RepositoryKind,
  type RepositoryRequest,
} from '../repositories/index.ts';
import { wikiPushTarget } from './push-target.ts';
import { findOwner } from './queries.ts';

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

export const wikiRepositories: RepositoryKind = { find: findRepository };
