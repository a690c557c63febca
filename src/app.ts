/** The composition root: builds the services, mounts every capability, starts the relay and the workers. */
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { capabilities } from './capabilities.ts';
import { documentationCapability } from './domain/documentation/index.ts';
import { operationsCapability } from './domain/operations/index.ts';
import { createRepositories } from './domain/repositories/index.ts';
import type { Endpoint } from './kernel/api/endpoint.ts';
import { hintOfPath } from './kernel/api/hints.ts';
import { type ReplyObserver, toRoute } from './kernel/api/run-endpoint.ts';
import type { Capability } from './kernel/capability.ts';
import { type Config, urlOf } from './kernel/config.ts';
import { createAuthenticator } from './kernel/identity/authenticate.ts';
import { createInstanceSource } from './kernel/instance/instance.ts';
import type { Services } from './kernel/services.ts';
import { createFeatureGates } from './kernel/settings/features.ts';
import { createSettingsSource } from './kernel/settings/settings.ts';
import { createBlobs } from './platform/blobs/blobs.ts';
import { createObjectStore } from './platform/blobs/object-store.ts';
import { now } from './platform/clock.ts';
import { type ConnectionTarget, isReadOnly, openDatabase } from './platform/db/database.ts';
import type { UniqueIndexes } from './platform/db/errors.ts';
import { createPresence } from './platform/db/processes.ts';
import { createOriginPolicy } from './platform/http/origin.ts';
import { createRateLimiter, leaseFrom } from './platform/http/rate-limit.ts';
import { createLoadGauge, type LoadGauge } from './platform/http/server/overload.ts';
import { createServer, portOf, type Route } from './platform/http/server/server.ts';
import { countWaiting, startWorkers, type Tasks, type Workers } from './platform/jobs/jobs.ts';
import type { Log } from './platform/log.ts';
import { createDiskGuard } from './platform/machine/disk.ts';
import { createMetrics } from './platform/metrics.ts';
import { createOutbound } from './platform/outbound/outbound.ts';
import { type Listener, type Relay, relayAll, startRelay } from './platform/outbox/outbox.ts';
import { deriveKey } from './platform/secret.ts';

export type AppOptions = {
  config: Config;
  target: ConnectionTarget;
  /** Seals secrets that must be read again; the same in every process. */
  secretKey: string;
  log: Log;
  /** Gets every reply before it is written: the tests validate replies against their schemas. */
  observe?: ReplyObserver;
  /** Mounted besides operations; the bench mounts further ones. */
  capabilities?: (services: Services) => Capability[];
  /**
   * The address of a server that hands requests over to this one, which then listens nowhere itself. It may be another one for
   * each request.
   */
  front?: () => string;
  /** Sheds load; a test is not refused because its machine is busy with something else. */
  load?: LoadGauge;
};

export type App = {
  services: Services;
  endpoints: readonly Endpoint[];
  /** Of the endpoints, and those outside the API. */
  routes: readonly Route[];
  capabilities: readonly Capability[];
  server: FastifyInstance;
  /** Listens, starts the relay and the workers; returns the address. */
  start(): Promise<string>;
  /** Turns the facts that wait into the jobs of these tasks alone, in a program that does not serve. */
  handOnFacts(goesOn: (task: string) => boolean): Promise<void>;
  /** Stops accepting, finishes what is in flight (10 s at most), closes the pools. */
  stop(): Promise<void>;
};

/** What capabilities do in the background, with what others registered with them. */
function workOf(mounted: readonly Capability[]): { listeners: Listener[]; tasks: Tasks } {
  const working = [...mounted, ...mounted.flatMap((capability) => capability.forRegistered?.() ?? [])];
  return {
    listeners: working.flatMap(({ listeners = [] }) => listeners),
    tasks: Object.assign({}, ...working.map(({ tasks = {} }) => tasks)),
  };
}

const STOP_TIMEOUT_MS = 10_000;

/** Builds the program around one database that is migrated; nothing listens and nothing runs before start(). */
export function createApp(options: AppOptions): App {
  const { config, log, secretKey } = options;
  const database = openDatabase(options.target);
  const { sql } = database;
  let listening: string | undefined;
  const baseUrl = (): string =>
    config.url ?? options.front?.() ?? listening ?? urlOf(config.host, config.port);
  const load = options.load ?? createLoadGauge();
  const disk = createDiskGuard(config.data);
  const filesDisk = createDiskGuard(config.files);
  const presence = createPresence(database.points, log);
  const repositories = createRepositories(database, presence, config.storages);
  const services: Services = {
    config,
    database,
    blobs: createBlobs(join(config.files, 'blobs'), database, {
      disk: filesDisk,
      log,
      objects: config.objectStore === undefined ? undefined : createObjectStore(config.objectStore),
    }),
    settings: createSettingsSource(sql),
    instance: createInstanceSource(sql),
    features: createFeatureGates(sql),
    authenticator: createAuthenticator(database, deriveKey(secretKey, 'csrf')),
    limiter: createRateLimiter({
      lease: leaseFrom(sql),
      now,
      onFailure: (error) => log.error('rate limits are counted by this process alone', error),
    }),
    log,
    secretKey,
    disk,
    presence,
    repositories,
    outbound: createOutbound({
      http: config.httpProxy ?? '',
      https: config.httpsProxy ?? '',
      none: config.noProxy,
    }),
    registered: new Map(),
    baseUrl,
    inFlight: load.inFlight,
    park: load.park,
    wake: () => relay?.wake(),
  };
  let relay: Relay | undefined;
  let workers: Workers | undefined;

  const finishedJobs = () => workers?.finished() ?? { processed: 0, failed: 0 };
  const metrics = createMetrics({
    pools: database.uses,
    inFlight: load.inFlight,
    eventLoopDelay: load.delay,
    longestEventLoopDelay: load.longestDelay,
    // Not by the requests' pool: metrics are read most when that pool is exhausted.
    waiting: () => countWaiting(database.background).catch(() => undefined),
    finishedJobs,
    folders: [...new Set([config.data, config.files, ...config.storages.values()])],
  });
  const checkWrites = async (): Promise<string | undefined> => {
    if (disk.problem() !== undefined) return disk.problem();
    return (await isReadOnly(sql)) ? 'the database is read-only' : undefined;
  };
  const mounted: Capability[] = [
    operationsCapability(services, { metrics: metrics.text, checkWrites, finishedJobs }),
    ...(options.capabilities ?? capabilities)(services),
    documentationCapability(() => mounted),
  ];
  for (const register of mounted.flatMap((capability) => capability.registrations ?? []))
    register(services.registered);
  const endpoints = mounted.flatMap((capability) => capability.endpoints);
  for (const gauge of mounted.flatMap((capability) => capability.gauges ?? [])) metrics.add(gauge);
  const background = mounted.flatMap((capability) => capability.background ?? []);
  const unique: UniqueIndexes = Object.assign({}, ...mounted.map((capability) => capability.unique));
  const flags = (name: string): Promise<boolean> => services.features.isOn(name);
  const routes = [
    ...endpoints.map((endpoint) => toRoute(services, endpoint, flags, unique, options.observe)),
    ...mounted.flatMap((capability) => capability.routes ?? []),
    ...mounted.flatMap(({ pages = [] }) => pages.map((page) => page(services))),
  ];
  const server = createServer({
    routes,
    maximumUrlLength: config.maximumUrlLength,
    origins: createOriginPolicy(config.trustedProxies, baseUrl),
    load,
    log,
    observe: metrics.observe,
    unique,
    hintOfPath,
  });

  // Connections without a request, which browsers open in advance: Node counts them as busy.
  const connections = new Set<Socket>();
  server.server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });

  return {
    services,
    endpoints,
    routes,
    capabilities: mounted,
    server,
    async start() {
      // Before any response: changes that other processes depend on wait for all that are present.
      await presence.announce();
      if (options.front === undefined) await server.listen({ host: config.host, port: config.port });
      else await server.ready();
      listening = options.front?.() ?? urlOf(config.host, portOf(server.server));
      const { listeners, tasks } = workOf(mounted);
      relay = startRelay(database.background, listeners, log);
      workers = await startWorkers(
        options.target,
        tasks,
        mounted.flatMap((capability) => capability.schedules ?? []),
        log,
        { db: database.background, presence },
      );
      for (const each of background) each.start();
      return listening;
    },
    handOnFacts: (goesOn) =>
      relayAll(
        database.background,
        workOf(mounted).listeners.filter(({ task }) => goesOn(task)),
      ),
    async stop() {
      load.close();
      const closed = server.close();
      server.server.closeIdleConnections();
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
      const timer = setTimeout(() => server.server.closeAllConnections(), STOP_TIMEOUT_MS);
      timer.unref();
      await closed;
      clearTimeout(timer);
      await relay?.stop();
      await workers?.stop();
      await Promise.all(background.map((each) => each.stop()));
      load.stop();
      disk.stop();
      filesDisk.stop();
      repositories.stop();
      await presence.stop();
      await database.close();
    },
  };
}
