/** Operations: liveness, readiness, metrics and the version. */
import Type from 'typebox';
import { signedIn } from '../../kernel/access/access.ts';
import { adminNotices } from '../../kernel/api/admin-page.ts';
import { endpoint } from '../../kernel/api/endpoint.ts';
import type { Capability } from '../../kernel/capability.ts';
import type { Config } from '../../kernel/config.ts';
import type { Needs } from '../../kernel/services.ts';
import { version } from '../../package.ts';
import { now } from '../../platform/clock.ts';
import { pingDatabase } from '../../platform/db/database.ts';
import { notFound } from '../../platform/failure.ts';
import { type HttpRequest, type HttpResponse, json } from '../../platform/http/messages.ts';
import { addressTest } from '../../platform/http/origin.ts';
import { forgetWindows } from '../../platform/http/rate-limit.ts';
import type { Route } from '../../platform/http/server/server.ts';
import { deadJobsNotice, operationPages } from './admin-pages.ts';
import type { WriteCheck } from './health.ts';
import { type FinishedJobs, jobEndpoints } from './job-routes.ts';
import { overviewPage } from './overview-page.ts';

/** No throttle counts longer than a day; twice that, in milliseconds, is past for sure. */
const MAX_PERIOD_MS = 2 * 86_400_000;

const Metadata = Type.Object({
  version: Type.String(),
  revision: Type.String(),
  kas: Type.Object({
    enabled: Type.Boolean(),
    externalUrl: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
    externalK8sProxyUrl: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
    version: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  }),
  enterprise: Type.Boolean(),
});

/**
 * Clients learn by it which fields the records have: those of the paid tiers are absent from the free one.
 */
const metadata = ({ tier }: Pick<Config, 'tier'>) => ({
  version: tier === 'free' ? version.api.replace(/-ee$/, '') : version.api,
  revision: version.revision,
  kas: { enabled: false, externalUrl: null, externalK8sProxyUrl: null, version: null },
  enterprise: tier !== 'free',
});

const probe = (path: string, handle: Route['handle']): Route => ({
  kind: 'probe',
  method: 'GET',
  path,
  handle,
});

export function operationsCapability(
  services: Needs<'config' | 'database'>,
  deps: { metrics: () => Promise<string>; checkWrites: WriteCheck; finishedJobs: FinishedJobs },
): Capability {
  const readiness = async (): Promise<HttpResponse> => {
    try {
      await pingDatabase(services.database.sql);
      const problem = await deps.checkWrites();
      if (problem === undefined) return json(200, { status: 'ok' });
      return json(503, { status: 'failed', message: problem });
    } catch {
      return json(503, { status: 'failed', message: 'the database does not answer' });
    }
  };
  const { metricsAllowlist, trustedProxies } = services.config;
  const isMonitoring = addressTest(metricsAllowlist);
  /**
   * A proxy that is not trusted hides the client's address behind its own, which is often a loopback address.
   */
  const mayReadMetrics = ({ address, headers }: HttpRequest): boolean =>
    isMonitoring(address) && (trustedProxies.length > 0 || headers['x-forwarded-for'] === undefined);
  const scopes = ['api', 'read_api', 'read_user', 'ai_features'];
  const jobs = jobEndpoints(deps.finishedJobs);
  return {
    name: 'operations',
    tables: [],
    tasks: {
      'operations.forget_windows': async () => {
        await forgetWindows(services.database.sql, new Date(now().getTime() - MAX_PERIOD_MS));
      },
    },
    schedules: [{ task: 'operations.forget_windows', pattern: '17 * * * *' }],
    endpoints: [
      ...jobs.parts,
      jobs.all,
      endpoint({
        method: 'GET',
        path: '/metadata',
        summary: 'Version and features of this instance.',
        access: signedIn,
        scopes,
        reply: Metadata,
        handle: async () => metadata(services.config),
      }),
      endpoint({
        method: 'GET',
        path: '/version',
        summary: 'Version of this instance.',
        access: signedIn,
        scopes,
        reply: Metadata,
        handle: async () => metadata(services.config),
      }),
    ],
    registrations: [adminNotices.add(deadJobsNotice)],
    pages: [overviewPage, ...operationPages(jobs.all, deps.checkWrites)],
    routes: [
      probe('/-/liveness', async () => json(200, { status: 'ok' })),
      probe('/-/readiness', readiness),
      probe('/-/health', readiness),
      probe('/-/metrics', async (request) => {
        if (!mayReadMetrics(request)) throw notFound();
        const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' };
        return { status: 200, headers, body: await deps.metrics() };
      }),
    ],
  };
}
