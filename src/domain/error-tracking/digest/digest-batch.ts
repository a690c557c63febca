/** One batch of the digest: reports of the spool become errors and events in one transaction. */
import { sql } from 'kysely';
import { monotonic } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import type { Digested } from './digest-report.ts';
import { type Addition, distinctEvents, errorKey, eventKey, foldEvents, type Occurrence } from './fold.ts';
import {
  addToErrors,
  blameReports,
  type Counted,
  type ErrorTotal,
  insertEvents,
  lockErrors,
  removeReports,
  type TakenReport,
  takeReports,
  withoutKnown,
} from './queries.ts';

/** Milliseconds after which the rest of a batch is left for later. */
const BATCH_TIMEOUT_MS = 15_000;
/** Bytes that a batch writes before the rest of it is left for later; and of an event beside its payload. */
const MAX_WRITTEN_BYTES = 16_777_216;
const ROW_OVERHEAD_BYTES = 4_096;

/** Digests a report, or leaves it for later. */
export type DigestOne = (report: TakenReport) => Promise<Digested | 'later'>;

/** Events by their outcome, and reports that were given up. */
export type Counts = { kept: number; repeated: number; unreadable: number; fatal: number };

/** The outcome of a batch; the crowded errors have more events than are kept. */
export type Batch = {
  taken: number;
  counts: Counts;
  /** The types of the items that are not events. */
  others: readonly string[];
  crowded: readonly number[];
};

export const noCounts = (): Counts => ({ kept: 0, repeated: 0, unreadable: 0, fatal: 0 });

const sizeOf = ({ events }: Digested): number =>
  events.reduce((sum, { payload }) => sum + payload.length + ROW_OVERHEAD_BYTES, 0);

/** A report that is digested, and its events. */
type Task = {
  id: number;
  events: readonly Occurrence[];
  unreadable: number;
  others: readonly string[];
};

/** Digests the reports in turn; those that exceed the batch's time or size are left for later. */
async function digestReports(reports: readonly TakenReport[], digestOne: DigestOne): Promise<Task[]> {
  const tasks: Task[] = [];
  const end = monotonic() + BATCH_TIMEOUT_MS;
  let written = 0;
  for (const report of reports) {
    if (monotonic() >= end || written >= MAX_WRITTEN_BYTES) break;
    const digested = await digestOne(report);
    if (digested === 'later') break;
    written += sizeOf(digested);
    const { id, project_id, received_at } = report;
    const events = digested.events.map((event) => ({ ...event, project_id, received_at }));
    tasks.push({ ...digested, id, events });
  }
  return tasks;
}

const byError = (events: readonly Occurrence[]): [Occurrence, ...Occurrence[]][] => {
  const errors = new Map<string, [Occurrence, ...Occurrence[]]>();
  for (const event of events) {
    const key = errorKey(event);
    const known = errors.get(key);
    if (known) known.push(event);
    else errors.set(key, [event]);
  }
  return [...errors.values()];
};

/**
 * Whether the error is over its limit, and the batch passed another quarter of it: then the surplus is
 * deleted.
 */
function isCrowded({ before, after }: ErrorTotal, most: number): boolean {
  const part = Math.ceil(most / 4);
  return after > most && Math.floor(before / part) !== Math.floor(after / part);
}

type New = Addition & { project_id: number; fingerprint: string };

const additionOf = (events: [Occurrence, ...Occurrence[]]): New => {
  const [{ project_id, fingerprint }] = events;
  return { ...foldEvents(events), project_id, fingerprint };
};

type Written = { kept: number; crowded: readonly number[] };

/** Writes the events that are not known yet. */
async function writeEvents(tx: Db, events: readonly Occurrence[], most: number): Promise<Written> {
  const fresh = await withoutKnown(tx, distinctEvents(events));
  if (fresh.length === 0) return { kept: 0, crowded: [] };
  const additions = new Map(byError(fresh).map((own) => [errorKey(own[0]), additionOf(own)]));
  const ids = await lockErrors(tx, additions);
  const placed = fresh.flatMap((event) => {
    const error_id = ids.get(errorKey(event));
    return error_id === undefined ? [] : [{ ...event, error_id }];
  });
  const inserted = await insertEvents(tx, placed);
  const kept = placed.filter((event) => inserted.has(eventKey(event)));
  const counted = byError(kept).flatMap((own): Counted[] => {
    const error_id = ids.get(errorKey(own[0]));
    // The first addition is right unless another process inserted one of the events just now.
    const addition = kept.length === fresh.length ? additions.get(errorKey(own[0])) : foldEvents(own);
    return error_id === undefined || !addition ? [] : [{ ...addition, error_id }];
  });
  const totals = counted.length > 0 ? await addToErrors(tx, counted) : [];
  return { kept: kept.length, crowded: totals.filter((each) => isCrowded(each, most)).map(({ id }) => id) };
}

/** Whether the database refused a value (SQLSTATE classes 22, 23 and 54). */
const isRefusal = (error: unknown): boolean => /^(22|23|54)/.test(String((error as { code?: unknown }).code));

/**
 * Writes the events. Where the database refuses one it writes none and throws, and the transaction goes on.
 */
async function tryWriting(tx: Db, events: readonly Occurrence[], most: number): Promise<Written> {
  await sql`savepoint writing`.execute(tx);
  try {
    return await writeEvents(tx, events, most);
  } catch (error) {
    if (isRefusal(error)) await sql`rollback to savepoint writing`.execute(tx);
    throw error;
  }
}

/**
 * Writes the events of all reports; where that is refused, of each report alone, so that one cannot stop the
 * others.
 */
async function writeReports(
  tx: Db,
  tasks: readonly Task[],
  most: number,
): Promise<Written & { refused: ReadonlySet<number> }> {
  const events = tasks.flatMap((task) => task.events);
  const refused = new Set<number>();
  if (events.length === 0) return { kept: 0, crowded: [], refused };
  try {
    return { ...(await tryWriting(tx, events, most)), refused };
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
  const written: Written[] = [];
  for (const task of tasks) {
    try {
      written.push(await tryWriting(tx, task.events, most));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refused.add(task.id);
    }
  }
  return {
    kept: written.reduce((sum, { kept }) => sum + kept, 0),
    crowded: [...new Set(written.flatMap(({ crowded }) => crowded))],
    refused,
  };
}

/**
 * Digests the oldest `batchSize` reports in one transaction; an error keeps the `most` newest events.
 * `onDigested` is called when the reports are digested and only the writing is left.
 */
export const digestBatch = (
  db: Db,
  digestOne: DigestOne,
  { most, batchSize }: { most: number; batchSize: number },
  onDigested: () => void,
): Promise<Batch> =>
  inTransaction(db, async (tx) => {
    const reports = await takeReports(tx, batchSize);
    if (reports.length === 0) return { taken: 0, counts: noCounts(), others: [], crowded: [] };
    const tasks = await digestReports(reports, digestOne);
    onDigested();
    const { kept, crowded, refused } = await writeReports(tx, tasks, most);
    const done = tasks.filter(({ id }) => !refused.has(id));
    await removeReports(
      tx,
      done.map(({ id }) => id),
    );
    const fatal = await blameReports(tx, [...refused]);
    const sum = (count: (task: Task) => number) => done.reduce((total, task) => total + count(task), 0);
    const repeated = sum(({ events }) => events.length) - kept;
    const counts = { kept, repeated, unreadable: sum(({ unreadable }) => unreadable), fatal };
    return { taken: reports.length, counts, others: done.flatMap((task) => task.others), crowded };
  });
