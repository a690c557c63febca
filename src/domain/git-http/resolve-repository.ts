/** The repository that an address names, if the visitor may fetch from it or push to it. */
import { authorizeDeployToken, authorizeGroup, authorizeProject } from '../../core/access/find.ts';
import type { Decision } from '../../core/access/policy.ts';
import { decidePersonal, seesInProject } from '../../core/access/snippets.ts';
import { groupWiki, projectWiki } from '../../core/repositories/containers.ts';
import type { SnippetRow } from '../../core/repositories/snippet-records.ts';
import type { Services } from '../../core/services.ts';
import type { ApplicationSettings } from '../../core/settings/definitions.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { Failure, forbidden, notFound, unauthenticated } from '../../platform/failure.ts';
import type { Purpose, Visitor } from './credentials.ts';
import { type PushTarget, projectPushTarget, snippetPushTarget, wikiPushTarget } from './push-targets.ts';

export type RepositoryRequest = {
  services: Services;
  settings: ApplicationSettings;
  visitor: Visitor;
  purpose: Purpose;
  /** The address without `.git`. */
  path: string;
};

const refusals = {
  read: 'You are not allowed to download code from this project.',
  write: 'You are not allowed to push code to this project.',
} as const satisfies Record<Purpose, string>;

/**
 * The repository, when the visitor may fetch or push there; 401, 403 and 404 as the API would, Moved under an
 * old path.
 */
export async function resolveRepository(request: RepositoryRequest): Promise<PushTarget> {
  try {
    return (
      (await findSnippet(request)) ?? (await findWiki(request)) ?? (await findProject(request, request.path))
    );
  } catch (error) {
    if (error instanceof Failure && error.kind === 'forbidden')
      throw new Failure('forbidden', refusals[request.purpose]);
    throw error;
  }
}

async function findProject(
  { services, settings, visitor, purpose }: RepositoryRequest,
  path: string,
): Promise<PushTarget> {
  const { points } = services.database;
  const ability = purpose === 'read' ? 'read_code' : 'push_code';
  const { caller, deployToken } = visitor;
  const project = deployToken
    ? await authorizeDeployToken(points, deployToken, ability, path)
    : await authorizeProject(points, caller, ability, path);
  return projectPushTarget(services, settings, project, caller);
}

/** `<project>.wiki`, or `<group>.wiki`; undefined for neither, which may be a project of that name. */
async function findWiki({
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

function refuse(decision: Decision): void {
  if (decision === 'sign_in') throw unauthenticated();
  if (decision === 'invisible') throw notFound('Snippet');
  if (decision === 'refused') throw forbidden();
}

/** `snippets/<id>`, with `-/` before it or not, below the path of its project where it has one. */
async function findSnippet({
  services,
  settings,
  visitor,
  purpose,
  path,
}: RepositoryRequest): Promise<PushTarget | undefined> {
  const address = path.replace(/(^|\/)-\/snippets\//, '$1snippets/');
  const [, home, id] = /^(?:(.+)\/)?snippets\/(\d{1,15})$/.exec(address) ?? [];
  if (id === undefined) return undefined;
  const { points } = services.database;
  const [snippet] = await points<SnippetRow[]>`
    select s.* from snippets s left join projects p on p.id = s.project_id left join namespaces n on n.id = p.namespace_id
    where s.id = ${Number(id)} and s.ready
      and lower(n.full_path || '/' || p.path) collate "C" is not distinct from ${home?.toLowerCase() ?? null}`;
  if (!snippet) return undefined;
  const { caller } = visitor;
  if (visitor.deployToken) throw forbidden();
  const author = caller?.id === snippet.author_id;
  if (snippet.project_id === null)
    refuse(decidePersonal(purpose === 'read' ? 'read_snippet' : 'manage_snippet', caller, snippet));
  else {
    const project = await authorizeProject(points, caller, 'read_project_snippets', snippet.project_id);
    if (!seesInProject(caller, snippet, project.role)) throw notFound('Snippet');
    const manages =
      project.may('manage_project_snippets') || (author && project.may('create_project_snippets'));
    if (purpose === 'write' && !manages) throw caller ? forbidden() : unauthenticated();
  }
  return snippetPushTarget(services, settings, snippet);
}
