/** The statements of a digest: each takes the rows of a whole batch as one JSON text. */
import { type RawBuilder, sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { ReportRow } from './digest-report.ts';
import { type Addition, errorKey, eventKey, type Occurrence } from './fold.ts';

/** Reports of one batch, and their packed bytes: well-packed reports take a multiple when unpacked. */
export const MAX_BATCH_REPORTS = 250;
const MAX_BATCH_BYTES = 8_388_608;

/** The idle timeout of the transaction, long enough for a batch of the costliest reports. */
const IDLE_TIMEOUT = '10min';

/** Bounds of an error's counted users, tag keys, and values of a key. */
const MAX_PEOPLE = 10_000;
const MAX_KEYS = 50;
const MAX_VALUES = 100;

export type TakenReport = ReportRow & { id: number };

/** A table of the given columns. */
const table = (rows: readonly object[], columns: string): RawBuilder<unknown> =>
  sql`json_to_recordset(${JSON.stringify(rows)}::text::json) as g(${sql.raw(columns)})`;

/** Attempts after which a report that ends the digest is given up. */
const MAX_ATTEMPTS = 3;

/** Whether the spool has reports, locked ones included. */
export async function hasReports(db: Db): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`select exists (select from error_spool) as has`.execute(db);
  return rows[0]?.has ?? false;
}

/**
 * Locks the oldest `most` unlocked reports, and with each its project; reports of a project that is being
 * deleted are skipped, and deleted with it.
 */
export async function takeReports(tx: Db, most: number): Promise<TakenReport[]> {
  const { rows } = await sql<TakenReport>`
    with next as materialized (
      select s.id, octet_length(s.body) as size from error_spool s join projects p on p.id = s.project_id
      order by s.id limit ${most} for update of s skip locked for key share of p skip locked),
    idle_timeout as materialized (select set_config('idle_in_transaction_session_timeout', ${IDLE_TIMEOUT}, true)),
    few as (
      select id from (select id, sum(size) over (order by id) - size as before from next) sized
      where before < ${MAX_BATCH_BYTES})
    select s.id, s.project_id, s.form, s.encoding, s.body, s.address, s.received_at,
      coalesce(t.keep_addresses, false) as keep_addresses
    from idle_timeout, error_spool s left join error_tracking_settings t on t.project_id = s.project_id
    where s.id in (select id from few) order by s.id`.execute(tx);
  return rows;
}

/** Removes digested reports. */
export async function removeReports(tx: Db, done: readonly number[]): Promise<void> {
  if (done.length > 0) await sql`delete from error_spool where id = any(${[...done]}::bigint[])`.execute(tx);
}

/**
 * Counts the attempts of reports that ended the digest, and gives up those with too many; returns their
 * number.
 */
export async function blameReports(db: Db, culprits: readonly number[]): Promise<number> {
  if (culprits.length === 0) return 0;
  const ids = [...culprits];
  await sql`update error_spool set attempts = attempts + 1 where id = any(${ids}::bigint[])`.execute(db);
  const { numAffectedRows } = await sql`
    delete from error_spool where id = any(${ids}::bigint[]) and attempts >= ${MAX_ATTEMPTS}`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** The events that are not stored yet. */
export async function withoutKnown(tx: Db, events: readonly Occurrence[]): Promise<Occurrence[]> {
  const given = events.map(({ project_id, event_id }) => ({ project_id, event_id }));
  const { rows } = await sql<{ project_id: number; event_id: string }>`
    select e.project_id, replace(e.event_id::text, '-', '') as event_id
    from ${table(given, 'project_id bigint, event_id uuid')} join error_events e using (project_id, event_id)`.execute(
    tx,
  );
  const known = new Set(rows.map(eventKey));
  return events.filter((event) => !known.has(eventKey(event)));
}

export type Found = { id: number; project_id: number; fingerprint: string };

/**
 * Locks the errors in the order of their ids, so that two digests do not deadlock, and inserts missing ones.
 * Returns their ids by key.
 */
export async function lockErrors(
  tx: Db,
  additions: ReadonlyMap<string, Addition & { project_id: number; fingerprint: string }>,
): Promise<Map<string, number>> {
  const given = [...additions.values()];
  const keys = given.map(({ project_id, fingerprint }) => ({ project_id, fingerprint }));
  const found = await sql<Found>`
    select id, project_id, encode(fingerprint, 'hex') as fingerprint from errors
    where (project_id, fingerprint) in (
      select project_id, decode(fingerprint, 'hex') from ${table(keys, 'project_id bigint, fingerprint text')})
    order by id for update`.execute(tx);
  const ids = new Map(found.rows.map((row) => [errorKey(row), row.id]));
  const fresh = given
    .filter((each) => !ids.has(errorKey(each)))
    .map(({ counts, people, tags, ...row }) => row);
  if (fresh.length === 0) return ids;
  const moment = now();
  const made = await sql<Found>`
    insert into errors (project_id, fingerprint, name, description, actor, platform, level, first_seen_at, last_seen_at,
      first_release, last_release, created_at, updated_at)
    select project_id, decode(fingerprint, 'hex'), name, description, actor, platform, level, first_seen_at,
      last_seen_at, first_release, last_release, ${moment}, ${moment}
    from ${table(
      fresh,
      `project_id bigint, fingerprint text, name text, description text, actor text, platform text, level text,
      first_seen_at timestamptz, last_seen_at timestamptz, first_release text, last_release text`,
    )}
    order by project_id, fingerprint
    on conflict (project_id, fingerprint) do update set updated_at = errors.updated_at
    returning id, project_id, encode(fingerprint, 'hex') as fingerprint`.execute(tx);
  for (const row of made.rows) ids.set(errorKey(row), row.id);
  return ids;
}

/** Inserts the events; returns the keys of those that no other digest inserted meanwhile. */
export async function insertEvents(
  tx: Db,
  events: readonly (Occurrence & { error_id: number })[],
): Promise<Set<string>> {
  // Payloads are sent as one value with offsets: the driver has no arrays of bytes.
  const payloads: Uint8Array[] = [];
  let start = 1;
  const given = events.map(({ payload, ...event }) => {
    const { error_id, project_id, event_id, level, environment, release, abridged } = event;
    const { occurred_at, received_at } = event;
    payloads.push(payload);
    const from = start;
    start += payload.length;
    const span = { start: from, length: payload.length };
    const row = { error_id, project_id, event_id, level, environment, release, abridged };
    return { ...row, occurred_at, received_at, ...span };
  });
  const { rows } = await sql<{ project_id: number; event_id: string }>`
    insert into error_events
      (error_id, project_id, event_id, level, environment, release, abridged, payload, occurred_at, received_at)
    select error_id, project_id, event_id, level, environment, release, abridged,
      substring(${payloads}::bytea from start for length), occurred_at, received_at
    from ${table(
      given,
      `error_id bigint, project_id bigint, event_id uuid, level text, environment text, release text, abridged boolean,
      occurred_at timestamptz, received_at timestamptz, start integer, length integer`,
    )}
    order by project_id, event_id
    on conflict (project_id, event_id) do nothing
    returning project_id, replace(event_id::text, '-', '') as event_id`.execute(tx);
  return new Set(rows.map(eventKey));
}

export type Counted = Addition & { error_id: number };

/** The number of an error's events, before and after the batch. */
export type ErrorTotal = { id: number; before: number; after: number };

/**
 * Adds to locked errors. A resolved one that happened again afterwards becomes unresolved; an ignored one
 * stays ignored.
 */
export async function addToErrors(tx: Db, additions: readonly Counted[]): Promise<ErrorTotal[]> {
  const people = additions.flatMap(({ error_id, people }) => people.map((person) => ({ error_id, person })));
  const counts = additions.flatMap(({ error_id, counts }) => counts.map((count) => ({ error_id, ...count })));
  const rows = additions.map(({ people, counts, tags, ...row }) => row);
  const { rows: totals } = await sql<ErrorTotal>`
    with changes as materialized (
      select g.*, g.first_seen_at < e.first_seen_at as is_earlier, g.last_seen_at >= e.last_seen_at as is_latest,
        e.status = 'resolved' and g.last_seen_at > coalesce(e.resolved_at, '-infinity') as is_regression
      from ${table(
        rows,
        `error_id bigint, events integer, first_seen_at timestamptz, last_seen_at timestamptz, first_release text,
      last_release text, name text, description text, actor text, platform text, level text`,
      )} join errors e on e.id = g.error_id),
    met as (
      insert into error_users (error_id, person)
      select g.error_id, decode(g.person, 'hex') from ${table(people, 'error_id bigint, person text')}
        join errors e on e.id = g.error_id and e.users_count < ${MAX_PEOPLE}
      on conflict do nothing returning error_id),
    counted as (
      insert into error_counts (error_id, hour, events)
      select error_id, hour, events from ${table(counts, 'error_id bigint, hour timestamptz, events integer')}
      on conflict (error_id, hour) do update set events = error_counts.events + excluded.events)
    update errors e set
      events_count = e.events_count + c.events,
      users_count = e.users_count + (select count(*) from met where met.error_id = e.id),
      first_seen_at = least(e.first_seen_at, c.first_seen_at),
      last_seen_at = greatest(e.last_seen_at, c.last_seen_at),
      first_release = case when c.is_earlier
        then coalesce(c.first_release, e.first_release) else coalesce(e.first_release, c.first_release) end,
      last_release = case when c.is_latest
        then coalesce(c.last_release, e.last_release) else coalesce(e.last_release, c.last_release) end,
      name = case when c.is_latest then c.name else e.name end,
      description = case when c.is_latest then c.description else e.description end,
      actor = case when c.is_latest then c.actor else e.actor end,
      platform = case when c.is_latest then c.platform else e.platform end,
      level = case when c.is_latest then c.level else e.level end,
      status = case when c.is_regression then 'unresolved' else e.status end,
      resolved_at = case when c.is_regression then null else e.resolved_at end,
      regressed_at = case when c.is_regression then c.last_seen_at else e.regressed_at end,
      updated_at = case when c.is_regression then ${now()} else e.updated_at end
    from changes c where e.id = c.error_id
    returning e.id, e.events_count - c.events as before, e.events_count as after`.execute(tx);
  await countTags(tx, additions);
  return totals;
}

/** Counts the tags of events; new keys and values of an error only up to their bounds. */
async function countTags(tx: Db, additions: readonly Counted[]): Promise<void> {
  const tags = additions.flatMap(({ error_id, tags }) => tags.map((tag) => ({ error_id, ...tag })));
  if (tags.length === 0) return;
  await sql`
    with given as materialized (select * from ${table(
      tags,
      'error_id bigint, key text, value text, events bigint, last_seen_at timestamptz',
    )}),
    fresh as materialized (
      select given.* from given left join error_tags t using (error_id, key, value) where t.error_id is null),
    held as materialized (
      select error_id, key, count(*) as had, count(*) over (partition by error_id) as keys from error_tags
      where error_id in (select error_id from fresh) group by error_id, key),
    ranked as (
      select fresh.*, held.key is null as is_new, coalesce(held.had, 0) as had,
        coalesce((select max(k.keys) from held k where k.error_id = fresh.error_id), 0) as keys,
        row_number() over (partition by fresh.error_id, fresh.key order by fresh.events desc, fresh.value) as place,
        dense_rank() over (partition by fresh.error_id, held.key is null order by fresh.key) as key_place
      from fresh left join held using (error_id, key))
    insert into error_tags (error_id, key, value, events, last_seen_at)
    select given.* from given join error_tags using (error_id, key, value)
    union all
    select error_id, key, value, events, last_seen_at from ranked
    where had + place <= ${MAX_VALUES} and (not is_new or keys + key_place <= ${MAX_KEYS})
    on conflict (error_id, key, value) do update set
      events = error_tags.events + excluded.events,
      last_seen_at = greatest(error_tags.last_seen_at, excluded.last_seen_at)`.execute(tx);
}
