/** What a capability gives the composition root: its endpoints and pages, its background work, and how it forgets. */
import type { Db } from '../platform/db/database.ts';
import type { Route } from '../platform/http/server.ts';
import type { Schedule, Tasks } from '../platform/jobs/jobs.ts';
import type { ReadGauge } from '../platform/metrics.ts';
import type { Listener } from '../platform/outbox/outbox.ts';
import type { Endpoint } from './endpoint.ts';

export type Capability = {
  /** Its folder's name; the documentation groups by it. */
  name: string;
  endpoints: readonly Endpoint[];
  /** Routes outside the API: pages and files. */
  routes?: readonly Route[];
  tasks?: Tasks;
  schedules?: readonly Schedule[];
  listeners?: readonly Listener[];
  /** Runs beside the requests from when the program listens until it stops. */
  background?: { start(): void; stop(): Promise<void> };
  /** What it shows among the metrics. */
  gauges?: readonly ReadGauge[];
  /** The tables whose rows go when a project, group or user goes: by name, so that none is forgotten. */
  tables: readonly string[];
  /** Removes what belongs to the projects; called in batches, inside a transaction, before the projects' rows go. */
  erase?(tx: Db, projectIds: readonly number[]): Promise<void>;
  /** Gives what a user made to the ghost user, inside the transaction that removes the user. */
  reassign?(tx: Db, userId: number, ghostId: number): Promise<void>;
};
