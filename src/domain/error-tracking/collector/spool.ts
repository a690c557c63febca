/**
 * The spool of reports that are not digested yet, for seconds: the collector writes them as received, and
 * only the digest reads them. Reports that arrive at the same time are written as one batch.
 */

import type { Needs } from '../../../kernel/services.ts';
import { batch } from '../../../platform/batch.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import { translateDatabaseError } from '../../../platform/db/errors.ts';
import { Failure } from '../../../platform/failure.ts';
import type { ReadGauge } from '../../../platform/metrics.ts';
import { countSpool, type Depth } from './queries.ts';
import { insertReports, type Report } from './spool-actions.ts';

export type Spool = {
  /** Stores a report durably. False where its key is not active. */
  store(report: Report): Promise<boolean>;
  /** Calls the listener whenever this process has stored reports. */
  onStored(listener: () => void): void;
  gauges: readonly ReadGauge[];
};

/** Reports of one statement. */
const MAX_BATCH_REPORTS = 64;
/** Milliseconds: short for the client, and three reports cost hardly more than one in a statement. */
const GATHER_MS = 2;
/** Bytes; a larger report is written alone, so that it does not delay others. */
const LARGE_REPORT_BYTES = 262_144;

/** A project that is deleted at this moment fails the whole statement. */
function isGone(error: unknown): boolean {
  const failure = translateDatabaseError(error);
  return failure instanceof Failure && failure.kind === 'not_found';
}

async function insertOne(sql: Sql, report: Report): Promise<boolean> {
  try {
    const [isStored = false] = await insertReports(sql, [report]);
    return isStored;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

const insertBatched = batch<Sql, Report, boolean>(MAX_BATCH_REPORTS, insertReports, {
  gather: GATHER_MS,
  apart: (sql, reports, error) =>
    isGone(error) ? reports.map((report) => insertOne(sql, report)) : undefined,
});

/** The spool of one process. */
export function createSpool({ database }: Needs<'database'>): Spool {
  const listeners: (() => void)[] = [];

  let counting: Promise<Depth | undefined> | undefined;
  /** One statement for both gauges, which are read at the same time. */
  const depth = (): Promise<Depth | undefined> => {
    counting ??= countSpool(database.background).finally(() => {
      counting = undefined;
    });
    return counting;
  };
  const gauge = (name: string, help: string, value: (depth: Depth) => number): ReadGauge => ({
    name,
    help,
    labels: [],
    read: async () => {
      const found = await depth();
      return found ? [{ labels: {}, value: value(found) }] : [];
    },
  });

  return {
    async store(report) {
      const write = report.body.length > LARGE_REPORT_BYTES ? insertOne : insertBatched;
      const isStored = await write(database.sql, report);
      if (!isStored) return false;
      for (const listener of listeners) listener();
      return true;
    },
    onStored: (listener) => void listeners.push(listener),
    gauges: [
      gauge('error_spool_rows', 'Reports of applications that are not digested yet.', ({ rows }) => rows),
      gauge(
        'error_spool_oldest_seconds',
        'How long the oldest report has been waiting to be digested.',
        ({ seconds }) => seconds,
      ),
    ],
  };
}
