/**
 * The spool of reports that are not digested yet, for seconds: the collector writes them as received, and
 * only the digest reads them. Reports that arrive at the same time are written as one batch.
 */

import type { Services } from '../../../kernel/services.ts';
import { batch } from '../../../platform/batch.ts';
import { now } from '../../../platform/clock.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import { translateDatabaseError } from '../../../platform/db/errors.ts';
import { Failure } from '../../../platform/failure.ts';
import type { ReadGauge } from '../../../platform/metrics.ts';
import type { Packing } from '../reports/packing.ts';
import type { ReportForm } from '../reports/report.ts';
import { activeIngestKeys } from './ingest-keys.ts';
import { countSpool, type Depth } from './queries.ts';

export type Report = {
  /** A client key of the project. */
  key: string;
  form: ReportForm;
  packing: Packing;
  body: Uint8Array;
  /** The client's address, stored where the project keeps addresses. */
  address: string;
};

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

/** The bodies are sent as one value with offsets: the driver has no arrays of bytes. */
const insertion = `
  with given as materialized (
    select nextval(pg_get_serial_sequence('error_spool', 'id')) as id, g.*
    from unnest($1::text[], $2::text[], $3::text[], $5::integer[], $6::integer[], $8::text[])
      with ordinality as g(key, form, packing, start, length, address, place)),
  stored as (
    insert into error_spool (id, project_id, form, encoding, body, address, received_at) overriding system value
    select g.id, p.id, g.form, g.packing, substring($4::bytea from g.start for g.length),
      case when s.keep_addresses then g.address end, $7::timestamptz
    from given g join (${activeIngestKeys}) on c.public_key = g.key and c.active
    returning id)
  select place from given join stored using (id)`;

/** Whether each report was stored; one with an inactive key was not. */
async function insert(sql: Sql, reports: readonly Report[]): Promise<boolean[]> {
  const lengths = reports.map(({ body }) => body.length);
  const starts: number[] = [];
  let start = 1;
  for (const length of lengths) {
    starts.push(start);
    start += length;
  }
  const rows = await sql.unsafe<{ place: number }[]>(
    insertion,
    [
      reports.map(({ key }) => key),
      reports.map(({ form }) => form),
      reports.map(({ packing }) => packing),
      reports.map(({ body }) => body),
      starts,
      lengths,
      now(),
      reports.map(({ address }) => address),
    ],
    { prepare: true },
  );
  const stored = new Set(rows.map(({ place }) => place));
  return reports.map((_, index) => stored.has(index + 1));
}

/** A project that is deleted at this moment fails the whole statement. */
function isGone(error: unknown): boolean {
  const failure = translateDatabaseError(error);
  return failure instanceof Failure && failure.kind === 'not_found';
}

async function insertOne(sql: Sql, report: Report): Promise<boolean> {
  try {
    const [isStored = false] = await insert(sql, [report]);
    return isStored;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

const insertBatched = batch<Sql, Report, boolean>(
  MAX_BATCH_REPORTS,
  async (sql, reports) => {
    try {
      return await insert(sql, reports);
    } catch (error) {
      if (!isGone(error)) throw error;
      return reports.map((report) => insertOne(sql, report));
    }
  },
  { gather: GATHER_MS },
);

/** The spool of one process. */
export function createSpool({ database }: Pick<Services, 'database'>): Spool {
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
