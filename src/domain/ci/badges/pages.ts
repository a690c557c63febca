/** Badges of a branch or tag, as pictures that other pages show: of its pipeline, and of its coverage. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { type FileContext, fileRoute, projectOfFile } from '../../../kernel/api/file-route.ts';
import type { Needs } from '../../../kernel/services.ts';
import { notFound } from '../../../platform/failure.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { parseUrlEncoded } from '../../../platform/http/parameters/raw-parameters.ts';
import type { Route } from '../../../platform/http/server/server.ts';
import { selectBadgeCoverage, selectBadgeStatus } from './queries.ts';
import { type Badge, coverageBadge, drawBadge, pipelineBadge } from './rules.ts';

type BadgeServices = Needs<'database'>;

async function badgeOf(
  { database: { db } }: BadgeServices,
  project: AuthorizedProject,
  ref: string,
  kind: string | undefined,
  wishes: Record<string, unknown>,
): Promise<Badge> {
  if (kind === 'pipeline') {
    const ignoresSkipped = wishes.ignore_skipped === 'true';
    return pipelineBadge(await selectBadgeStatus(db, project, ref, ignoresSkipped), wishes);
  }
  const job = typeof wishes.job === 'string' && wishes.job !== '' ? wishes.job : undefined;
  return coverageBadge(await selectBadgeCoverage(db, project, ref, job), wishes);
}

/** 404 for who may not read the project's pipelines, and for another picture. */
async function sendBadge(services: BadgeServices, context: FileContext): Promise<HttpResponse> {
  const { '*': rest = '' } = context.params;
  const [, ref, kind] = /^(.+)\/(pipeline|coverage)\.svg$/s.exec(rest) ?? [];
  if (ref === undefined) throw notFound();
  const project = await projectOfFile(services, context, 'read_pipelines');
  const wishes = parseUrlEncoded(context.request.query);
  return {
    status: 200,
    headers: {
      'content-type': 'image/svg+xml',
      // It changes with each pipeline, and pages elsewhere show it.
      'cache-control': 'no-cache, no-store, max-age=0, must-revalidate',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
    },
    body: drawBadge(await badgeOf(services, project, ref, kind, wishes), wishes.style),
  };
}

export const badgeRoutes = (
  services: BadgeServices & Needs<'settings' | 'authenticator' | 'limiter' | 'disk'>,
): Route[] =>
  ['/:path+/badges/*', '/:path+/-/badges/*'].map((path) =>
    fileRoute(services, { path, handle: (context) => sendBadge(services, context) }),
  );
