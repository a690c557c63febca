/** Services that the composition root builds once for all capabilities. */

import type { Blobs } from '../platform/blobs/blobs.ts';
import type { Database } from '../platform/db/database.ts';
import type { Presence } from '../platform/db/processes.ts';
import type { RateLimiter } from '../platform/http/rate-limit.ts';
import type { LoadGauge } from '../platform/http/server/overload.ts';
import type { Log } from '../platform/log.ts';
import type { DiskGuard } from '../platform/machine/disk.ts';
import type { Outbound } from '../platform/outbound/outbound.ts';
import type { Config } from './config.ts';
import type { Authenticator } from './identity/authenticate.ts';
import type { InstanceSource } from './instance/instance.ts';
import type { Registered } from './registry.ts';
import type { Repositories } from './repository-store.ts';
import type { FeatureGates } from './settings/features.ts';
import type { SettingsSource } from './settings/settings.ts';

export type Services = {
  config: Config;
  database: Database;
  /** Bytes of files, by their SHA-256. */
  blobs: Blobs;
  settings: SettingsSource;
  /** Its messages, looks and limits. */
  instance: InstanceSource;
  features: FeatureGates;
  authenticator: Authenticator;
  limiter: RateLimiter;
  disk: DiskGuard;
  /** This process among those on the database. */
  presence: Presence;
  repositories: Repositories;
  /** Calls other services. */
  outbound: Outbound;
  /** What capabilities registered with each other. */
  registered: Registered;
  log: Log;
  /** Seals secrets that must be read again. */
  secretKey: string;
  /** The spec's base_url, without a slash at the end; known once the server listens. */
  baseUrl: () => string;
  /** The number of requests in flight: background work yields to them. */
  inFlight: () => number;
  /** For requests that only wait, and may do so for long. */
  park: LoadGauge['park'];
  /** Call it after a commit of facts, to wake the relay. */
  wake: () => void;
};

/** The services that a function names: it takes no others. */
export type Needs<Name extends keyof Services> = Pick<Services, Name>;
