/** Snippets over git, at `snippets/<id>.git`: who may fetch and push there. */
import { authorizeProject } from '../../../kernel/access/find.ts';
import type { Decision } from '../../../kernel/policy/policy.ts';
import { forbidden, notFound, unauthenticated } from '../../../platform/failure.ts';
import type { PushTarget, RepositoryKind, RepositoryRequest } from '../../repositories/index.ts';
import { findAtPath } from '../queries.ts';
import { decidePersonal, seesInProject } from '../snippet-policy.ts';
import { snippetPushTarget } from './push-target.ts';

function refuse(decision: Decision): void {
  if (decision === 'sign_in') throw unauthenticated();
  if (decision === 'invisible') throw notFound('Snippet');
  if (decision === 'refused') throw forbidden();
}

/** `snippets/<id>`, with `-/` before it or not, below the path of its project where it has one. */
async function findRepository({
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
  const snippet = await findAtPath(points, Number(id), home);
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

export const snippetRepositories: RepositoryKind = { find: findRepository };
