/** Writes deliveries of alerts to the database: those that arrive at the same time as one batch. */

import { batch } from '../../../platform/batch.ts';
import { now } from '../../../platform/clock.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { PoolSql, Sql } from '../../../platform/db/driver/sql.ts';
import { isRolledBack, translateDatabaseError } from '../../../platform/db/errors.ts';
import type { Json } from '../../../platform/db/rows.ts';
import { Failure } from '../../../platform/failure.ts';
import type { Kind, ParsedAlert } from '../records.ts';
import { type AlertValues, type IngestKeyValues, takingStatement } from './ingest-actions.ts';
import type { Reading } from './receiver-addresses.ts';

/** The receiver's address, and the digest of the key in the request. */
export type IngestKey = {
  readings: readonly Reading[];
  /** The integration's identifier; without it, the first active one of the reading's kind. */
  identifier: string | undefined;
  keyDigest: Buffer | undefined;
};

/** The kind and mapping by which a payload was parsed, before its integration was known. */
export type Presumed = { kind: Kind; mapping: Json };

export type Delivery = {
  ingestKey: IngestKey;
  /** Undefined where the alerts are the same for every integration. */
  presumed: Presumed | undefined;
  alerts: readonly ParsedAlert[];
  kind: Kind;
};

/** The outcome: `again` when the presumed kind or mapping was wrong. Only `open` wrote anything. */
export type Verdict = 'unknown' | 'inactive' | 'wrong_key' | 'again' | 'open';
export type Receipt = {
  verdict: Verdict;
  projectId: number | null;
  found: Presumed;
  /** The alerts that were inserted, counted up or ended. */
  alerts: { iid: number; title: string }[];
  /** Whether any was inserted or ended, which is announced. */
  news: boolean;
};

/** An alert, or several equal ones of one key. */
type Given = {
  key_index: number;
  ordinal: number;
  kind: Kind;
  alert: ParsedAlert;
  mark: string | null;
  groupMark: string | null;
  events: number;
};

type Row = {
  key_index: number;
  verdict: Verdict;
  project_id: number | null;
  kind: Kind | null;
  mapping: Json;
  ordinal?: number | null;
  iid?: number | null;
  title?: string | null;
  news?: boolean | null;
};

/** A bytea in the form that JSON can carry. */
const hex = (bytes: Buffer | null): string | null => (bytes === null ? null : `\\x${bytes.toString('hex')}`);

function givenRow({ key_index, ordinal, kind, alert, mark, groupMark, events }: Given): AlertValues {
  return {
    key_index,
    ordinal,
    resolves: alert.resolves,
    ended_at: alert.endedAt,
    group_mark: groupMark,
    events,
    fingerprint: mark,
    kind,
    title: alert.title,
    description: alert.description,
    severity: alert.severity,
    service: alert.service,
    monitoring_tool: alert.monitoringTool,
    hosts: alert.hosts,
    environment_name: alert.environmentName,
    runbook: alert.runbook,
    query: alert.query,
    y_label: alert.yLabel,
    incident_markdown: alert.incidentMarkdown,
    started_at: alert.startedAt,
    payload: alert.payload,
  };
}

const ingestKeyRow = (
  key_index: number,
  { readings, identifier, keyDigest }: IngestKey,
  presumed: Presumed | undefined,
): IngestKeyValues => ({
  key_index,
  spaces: readings.map(({ path }) => path.slice(0, path.lastIndexOf('/'))),
  names: readings.map(({ path }) => path.slice(path.lastIndexOf('/') + 1)),
  kinds: readings.map(({ kind }) => kind),
  identifier,
  key: keyDigest === undefined ? undefined : hex(keyDigest),
  presumed_kind: presumed?.kind,
  presumed_mapping: presumed?.mapping,
});

/** Alerts of one statement: it joins outcomes with inputs. */
const MAX_ALERTS = 250;

/**
 * Splits alerts into parts to be written in turn, each of bounded size: where a recovery follows a firing
 * alert of the same fingerprint, or the reverse, a new part begins. Also returns each delivery's alerts.
 */
function arrange(deliveries: readonly Delivery[], keyIndexes: readonly number[], groups: boolean) {
  const parts: Given[][] = [];
  const last = new Map<string, { part: number; resolves: boolean }>();
  const alike = new Map<string, Given>();
  let ordinals = 0;
  const own = deliveries.map(({ alerts, kind }, owner) =>
    alerts.map((alert): Given => {
      const key_index = keyIndexes[owner] ?? 0;
      const { resolves } = alert;
      const mark = hex(alert.fingerprint);
      const before = last.get(mark ?? '');
      const part = before ? before.part + (before.resolves === resolves ? 0 : 1) : 0;
      if (mark !== null) last.set(mark, { part, resolves });
      const groupMark = resolves || groups ? mark : null;
      const name = `${part} ${key_index} ${groupMark}`;
      const known = groupMark === null ? undefined : alike.get(name);
      if (known) {
        known.events += 1;
        return known;
      }
      const given = { key_index, ordinal: ordinals++, kind, alert, mark, groupMark, events: 1 };
      alike.set(name, given);
      const others = parts[part] ?? [];
      parts[part] = others;
      others.push(given);
      return given;
    }),
  );
  return { own, parts: parts.flatMap((part) => cut(part, MAX_ALERTS)) };
}

const cut = <T>(all: readonly T[], most: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / most) }, (_, n) => all.slice(n * most, (n + 1) * most));

/** Writes all deliveries in one transaction, which nearly always is one statement. */
async function deliverAll(
  sql: PoolSql,
  deliveries: readonly Delivery[],
  groups: boolean,
  lockTimeout: boolean,
): Promise<Receipt[]> {
  const moment = now();
  const keyIndexOf = new Map<string, number>();
  const rows: unknown[] = [];
  const keyIndexes = deliveries.map(({ ingestKey, presumed }) => {
    const name = JSON.stringify([
      ingestKey.readings,
      ingestKey.identifier,
      ingestKey.keyDigest?.toString('latin1'),
      presumed,
    ]);
    const known = keyIndexOf.get(name);
    if (known !== undefined) return known;
    keyIndexOf.set(name, rows.length);
    return rows.push(ingestKeyRow(rows.length, ingestKey, presumed)) - 1;
  });
  const { own, parts } = arrange(deliveries, keyIndexes, groups);
  const run = (on: Pick<Sql, 'unsafe'>, part: readonly Given[]): Promise<Row[]> => {
    const fires = part.some(({ alert }) => !alert.resolves);
    const resolves = part.some(({ alert }) => alert.resolves);
    const text = takingStatement(lockTimeout, fires, resolves);
    const parameters = [JSON.stringify(rows)];
    if (part.length > 0) parameters.push(JSON.stringify(part.map(givenRow)), moment.toISOString());
    return on.unsafe<Row[]>(text, parameters, { prepare: true });
  };
  const found: Row[] = [];
  if (parts.length < 2) found.push(...(await run(sql, parts[0] ?? [])));
  else
    await sql.begin(async (tx) => {
      for (const part of parts) found.push(...(await run(tx, part)));
    });
  const byKeyIndex = new Map(found.map((row) => [row.key_index, row]));
  const byOrdinal = Map.groupBy(found, (row) => row.ordinal);
  return own.map((given, owner) => receiptOf(byKeyIndex.get(keyIndexes[owner] ?? 0), given, byOrdinal));
}

function receiptOf(
  row: Row | undefined,
  given: readonly Given[],
  byOrdinal: ReadonlyMap<number | null | undefined, readonly Row[]>,
): Receipt {
  if (!row) throw new Error('every ingest key has its row');
  const alerts = new Map<number, string>();
  let news = false;
  for (const { ordinal } of given) {
    for (const { iid, title, news: isNews } of byOrdinal.get(ordinal) ?? []) {
      // Two equal alerts of a payload have one entry.
      if (iid != null && title != null) alerts.set(iid, title);
      news ||= isNews === true;
    }
  }
  return {
    verdict: row.verdict,
    projectId: row.project_id,
    found: { kind: row.kind ?? 'http', mapping: row.mapping },
    alerts: Array.from(alerts, ([iid, title]) => ({ iid, title })),
    news,
  };
}

/** Deadlocks, and integrations that are deleted meanwhile, do not recur. */
const ATTEMPTS = 3;

async function deliverAlone(sql: PoolSql, delivery: Delivery, groups: boolean): Promise<Receipt> {
  for (let attempt = 1; ; attempt++) {
    try {
      const [receipt] = await deliverAll(sql, [delivery], groups, false);
      if (!receipt) throw new Error('a delivery has its receipt');
      return receipt;
    } catch (error) {
      const code = String((error as { code?: unknown }).code);
      if (/^(22|54)/.test(code))
        throw new Failure('bad_request', '400 Bad request - the payload cannot be stored', { cause: error });
      const translated = translateDatabaseError(error);
      if (attempt < ATTEMPTS && isRolledBack(error)) continue;
      // Internal failures must be 503: monitoring tools repeat only those.
      if (!isRolledBack(error)) throw translated;
      throw new Failure('unavailable', '503 Service Unavailable', {
        cause: error,
        headers: { 'retry-after': '1' },
      });
    }
  }
}

/** The queue of each project. */
const lines = new Map<string, Promise<unknown>>();

/**
 * Writes the deliveries of a project in turn, so that its alerts keep their order, and a locked project uses
 * one connection only; projects do not wait for one another.
 */
function deliverEach(sql: PoolSql, deliveries: readonly Delivery[], groups: boolean): Promise<Receipt>[] {
  return deliveries.map((delivery) => {
    const name = delivery.ingestKey.readings.at(-1)?.path ?? '';
    const mine = (lines.get(name) ?? Promise.resolve()).then(() => deliverAlone(sql, delivery, groups));
    const over = mine
      .catch(() => undefined)
      .then(() => {
        if (lines.get(name) === over) lines.delete(name);
      });
    lines.set(name, over);
    return mine;
  });
}

/** Requests of one batch. */
const MAX_BATCH_DELIVERIES = 64;

/** Batches use `intake`; single deliveries use any connection of `sql`. */
type Connections = Pick<Database, 'intake' | 'sql'>;

const taker = (groups: boolean) =>
  batch<Connections, Delivery, Receipt>(
    MAX_BATCH_DELIVERIES,
    ({ intake }, deliveries) => deliverAll(intake, deliveries, groups, true),
    {
      gather: 0,
      apart({ sql }, deliveries, error) {
        if (!isRolledBack(error)) throw translateDatabaseError(error);
        return deliverEach(sql, deliveries, groups);
      },
    },
  );

/** Two shards of projects: one is parsed and answered while the database works on the other. */
const shards = Array.from({ length: 2 }, () => ({ grouping: taker(true), single: taker(false) }));

/** The shard of a project, always the same. */
function shardOf({ readings }: IngestKey) {
  const sum = Buffer.from(readings.at(-1)?.path ?? '').reduce((total, byte) => total + byte, 0);
  const shard = shards[sum % shards.length];
  if (!shard) throw new Error('there is one for every remainder');
  return shard;
}

/**
 * Writes a delivery with others of the same moment; the receipt says why it was refused. `groups`: open
 * alerts with the same fingerprint are one alert.
 */
export const take = (database: Connections, delivery: Delivery, groups: boolean): Promise<Receipt> =>
  shardOf(delivery.ingestKey)[groups ? 'grouping' : 'single'](database, delivery);

const alone = (groups: boolean) =>
  batch<Connections, Delivery, Receipt>(1, ({ sql }, deliveries) =>
    Promise.all(deliveries.map((delivery) => deliverAlone(sql, delivery, groups))),
  );
const largeTakers = { grouping: alone(true), single: alone(false) };

/**
 * The same for a payload of perhaps thousands of alerts: large ones wait for one another, and delay no
 * others.
 */
export const takeLarge = (database: Connections, delivery: Delivery, groups: boolean): Promise<Receipt> =>
  largeTakers[groups ? 'grouping' : 'single'](database, delivery);
