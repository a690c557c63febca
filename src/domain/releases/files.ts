/** Files below a release's address: its evidence, and the paths that lead to its links. */
import { type FileContext, fileRoute, projectOfFile } from '../../kernel/api/file-route.ts';
import type { Needs } from '../../kernel/services.ts';
import { notFound } from '../../platform/failure.ts';
import type { HttpResponse } from '../../platform/http/messages.ts';
import type { Route } from '../../platform/http/server/server.ts';
import { selectDocument } from './evidences/queries.ts';
import { selectLinkAt } from './links/queries.ts';
import { redirectAddress } from './links/rules.ts';

async function sendEvidence(services: Needs<'database'>, context: FileContext): Promise<HttpResponse> {
  const project = await projectOfFile(services, context, 'read_releases');
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
  const project = await projectOfFile(services, context, 'read_releases');
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
