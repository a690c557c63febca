/** A capability for the composition root: its endpoints, pages, background work, and erasure. */
import type { Db } from '../platform/db/database.ts';
import type { UniqueIndexes } from '../platform/db/errors.ts';
import type { Route } from '../platform/http/server/server.ts';
import type { Schedule, Tasks } from '../platform/jobs/jobs.ts';
import type { ReadGauge } from '../platform/metrics.ts';
import type { Listener } from '../platform/outbox/outbox.ts';
import type { Endpoint } from './api/endpoint.ts';
import type { Page } from './api/page.ts';
import type { Eraser } from './namespaces/erasure-actions.ts';
import type { Registration } from './registry.ts';

export type Capability = {
  /** Its folder's name; the documentation groups by it. */
  name: string;
  endpoints: readonly Endpoint[];
  /** Routes outside the API: files, protocols, receivers. */
  routes?: readonly Route[];
  pages?: readonly Page[];
  tasks?: Tasks;
  schedules?: readonly Schedule[];
  listeners?: readonly Listener[];
  /** Tasks and listeners for what others registered with it; called when all registrations are made. */
  forRegistered?(): { tasks: Tasks; listeners: readonly Listener[] };
  /** Runs from listen to stop, beside the requests. */
  background?: { start(): void; stop(): Promise<void> };
  /** Its metrics. */
  gauges?: readonly ReadGauge[];
  /** What it contributes to other capabilities, by their registries. */
  registrations?: readonly Registration[];
  /** Its tables; each has one owner, who sees to it that rows of a deleted project, group or user go. */
  tables: readonly string[];
  /** The unique indexes of its tables that refuse values of clients. */
  unique?: UniqueIndexes;
  /** Removes what foreign keys do not, in batches, inside the transaction in which the owners' rows go. */
  erase?: Eraser;
  /** Reassigns a user's records to the ghost user, inside the transaction that removes the user; `hard` removes some. */
  reassign?(tx: Db, userId: number, ghostId: number, hard: boolean): Promise<void>;
};
