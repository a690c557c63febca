/** The platform's HTTP server with a few routes, for a test file about the server itself. */
import type { Server } from 'node:http';
import { afterAll, beforeAll } from 'vitest';
import { createOriginPolicy } from '../../src/platform/http/origin.ts';
import { createLoadGauge, type LoadGauge } from '../../src/platform/http/server/overload.ts';
import { createServer, portOf, type Route } from '../../src/platform/http/server/server.ts';
import type { RateRule } from '../../src/platform/http/server/stream-rate.ts';
import { createLog } from '../../src/platform/log.ts';

type RoutesServer = {
  readonly url: string;
  readonly port: number;
  /** Node's own. */
  readonly server: Server;
  readonly load: LoadGauge;
  /** Lines that were logged. */
  readonly log: string[];
};

/** Listens before the tests of the calling file, and is closed after them, connections and all. */
export function useRoutes(
  routes: readonly Route[],
  options: { slowestClient?: RateRule } = {},
): RoutesServer {
  const log: string[] = [];
  const load = createLoadGauge();
  const url = () => `http://127.0.0.1:${portOf(app.server)}`;
  const app = createServer({
    routes,
    maximumUrlLength: 1_048_576,
    // Clients from any address, as those behind a proxy are.
    origins: createOriginPolicy(['127.0.0.1'], url),
    load,
    log: createLog((line) => log.push(line)),
    observe: () => {},
    ...options,
  });
  beforeAll(async () => {
    await app.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(async () => {
    load.stop();
    app.server.closeAllConnections();
    await app.close();
  });
  return {
    get url() {
      return url();
    },
    get port() {
      return portOf(app.server);
    },
    server: app.server,
    load,
    log,
  };
}
