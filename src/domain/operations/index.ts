/** Operations: is the program alive, is it ready, what does it measure, which version is it. */
import Type from 'typebox';
import { signedIn } from '../../core/access/access.ts';
import type { Capability } from '../../core/capability.ts';
import { endpoint } from '../../core/endpoint.ts';
import type { Services } from '../../core/services.ts';
import { now } from '../../platform/clock.ts';
import { pingDatabase } from '../../platform/db/database.ts';
import type { Answer } from '../../platform/http/answer.ts';
import { json } from '../../platform/http/answer.ts';
import { forgetWindows } from '../../platform/http/rate-limit.ts';
import { version } from '../../version.ts';

/** No throttle counts longer than a day; twice that, in milliseconds, is past for sure. */
const LONGEST_PERIOD = 2 * 86_400_000;

/** Tells whether writes work: undefined when they do, else what is wrong (a full disk, a read-only database). */
export type WriteCheck = () => Promise<string | undefined>;

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

const metadata = () => ({
  version: version.api,
  revision: version.revision,
  kas: { enabled: false, externalUrl: null, externalK8sProxyUrl: null, version: null },
  enterprise: true,
});

export function operationsCapability(
  services: Services,
  deps: { metrics: () => Promise<string>; checkWrites: WriteCheck },
): Capability {
  const readiness = async (): Promise<Answer> => {
    try {
      await pingDatabase(services.database.sql);
      const problem = await deps.checkWrites();
      if (problem === undefined) return json(200, { status: 'ok' });
      return json(503, { status: 'failed', message: problem });
    } catch {
      return json(503, { status: 'failed', message: 'the database does not answer' });
    }
  };
  const scopes = ['api', 'read_api', 'read_user', 'ai_features'];
  return {
    name: 'operations',
    tables: [],
    tasks: {
      'operations.forget_windows': async () => {
        await forgetWindows(services.database.sql, new Date(now().getTime() - LONGEST_PERIOD));
      },
    },
    schedules: [{ task: 'operations.forget_windows', pattern: '17 * * * *' }],
    endpoints: [
      endpoint({
        method: 'GET',
        path: '/metadata',
        summary: 'Version and features of this instance.',
        access: signedIn,
        scopes,
        reply: Metadata,
        handle: async () => metadata(),
      }),
      endpoint({
        method: 'GET',
        path: '/version',
        summary: 'Version of this instance.',
        access: signedIn,
        scopes,
        reply: Metadata,
        handle: async () => metadata(),
      }),
    ],
    routes: [
      { method: 'GET', path: '/-/liveness', handle: async () => json(200, { status: 'ok' }) },
      { method: 'GET', path: '/-/readiness', handle: readiness },
      {
        method: 'GET',
        path: '/-/health',
        handle: async () => ({ ...(await readiness()), headers: { 'content-type': 'application/json' } }),
      },
      {
        method: 'GET',
        path: '/-/metrics',
        handle: async () => ({
          status: 200,
          headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
          body: await deps.metrics(),
        }),
      },
    ],
  };
}
