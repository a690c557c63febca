/** Files below a release's address: its evidence, and the paths that lead to its links. */
import { type AuthorizedProject, authorizeProject, Moved } from '../../kernel/access/find.ts';
import { type FileContext, fileRoute } from '../../kernel/api/file-route.ts';
import type { Needs } from '../../kernel/services.ts';
import { notFound } from '../../platform/failure.ts';
import type { HttpResponse } from '../../platform/http/messages.ts';
import type { Route } from '../../platform/http/server/server.ts';
import { selectDocument } from './evidences/queries.ts';
import { selectLinkAt } from './links/queries.ts';
import { redirectAddress } from './links/rules.ts';

/** The project of the address; addresses stay valid when it moves. */
async function projectAt(
  { database }: Needs<'database'>,
  { caller, params }: FileContext,
): Promise<AuthorizedProject> {
  const { path = '' } = params;
  if (!path.includes('/')) throw notFound();
  return authorizeProject(database.points, caller, 'read_releases', path).catch((error: unknown) => {
    if (error instanceof Moved)
      return authorizeProject(database.points, caller, 'read_releases', error.projectId);
    throw error;
  });
}

async function sendEvidence(services: Needs<'database'>, context: FileContext): Promise<HttpResponse> {
  const project = await projectAt(services, context);
  const { tag = '', file = '' } = context.params;
  const [, number] = /^(\d{1,15})\.json$/.exec(file) ?? [];
  if (number === undefined || !project.may('read_code')) throw notFound();
  const at = { projectId: project.id, tag, id: Number(number) };
  const document = await selectDocument(services.database.db, at);
  if (document === undefined) throw notFound();
  return {
    status: 200,
    headers: { 'content-type': 'application/json', 'cache-control': 'private, max-age=0, must-revalidate' },
    body: document,
  };
}

async function leadToLink(services: Needs<'database'>, context: FileContext): Promise<HttpResponse> {
  const project = await projectAt(services, context);
  const { tag = '', '*': rest = '' } = context.params;
  const at = { projectId: project.id, tag, filepath: `/${rest}` };
  const link = await selectLinkAt(services.database.db, at);
  if (!link) throw notFound();
  const headers = { location: redirectAddress(link.url), 'cache-control': 'private, no-cache' };
  return { status: 302, headers, body: '' };
}

export const releaseFiles = (
  services: Needs<'database' | 'settings' | 'authenticator' | 'limiter' | 'disk'>,
): Route[] => [
  fileRoute(services, {
    path: '/:path+/-/releases/:tag/evidences/:file',
    handle: (context) => sendEvidence(services, context),
  }),
  fileRoute(services, {
    path: '/:path+/-/releases/:tag/downloads/*',
    handle: (context) => leadToLink(services, context),
  }),
];
