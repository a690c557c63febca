/** What the composition root builds once and every capability may ask for. */
import type { Config } from '../config.ts';
import type { Database } from '../platform/db/database.ts';
import type { Presence } from '../platform/db/processes.ts';
import type { DiskGuard } from '../platform/disk.ts';
import type { RateLimiter } from '../platform/http/rate-limit.ts';
import type { Log } from '../platform/log.ts';
import type { Authenticator } from './identity/authenticate.ts';
import type { Repositories } from './repositories/store.ts';
import type { FeatureGates } from './settings/features.ts';
import type { SettingsSource } from './settings/settings.ts';

export type Services = {
  config: Config;
  database: Database;
  settings: SettingsSource;
  features: FeatureGates;
  authenticator: Authenticator;
  limiter: RateLimiter;
  disk: DiskGuard;
  /** This process among those on the database. */
  presence: Presence;
  repositories: Repositories;
  log: Log;
  /** Seals what must be read again. */
  secretKey: string;
  /** The spec's base_url, without a slash at the end; known once the server listens. */
  baseUrl: () => string;
  /** How many requests are being answered: what nobody waits for makes room for them. */
  inFlight: () => number;
  /** Something was committed that listeners may want to hear. */
  wake: () => void;
};
