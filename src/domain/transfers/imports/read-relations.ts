/** Reads the relations of an archive into the database, in the transaction in which all of them become visible. */
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { isRolledBack, violatedIndex } from '../../../platform/db/errors.ts';
import { Failure } from '../../../platform/failure.ts';
import { type Line, linesOfFile, type UnpackedFile } from '../archive/unpack.ts';
import type { Owner } from '../relations/export-queries.ts';
import { connectEpics, insertRecords, nextMilestoneIid, selectNamed } from '../relations/insert-actions.ts';
import { labels, milestones } from '../relations/planning-relations.ts';
import {
  iidOf,
  namedIn,
  type ReadRecord,
  type References,
  readLine,
  unknownNames,
} from '../relations/read-line.ts';
import type { JsonObject, Relation } from '../relations/relation.ts';
import { parentsOf } from './parents.ts';
import type { ImportUsers } from './users.ts';

/** What was not imported, and why. */
export type FailedRelation = { relation: string; line: number | null; message: string };

export type Reading = {
  owner: Owner;
  importer: number;
  users: ImportUsers;
  rewrite(text: string): string;
  fail(failure: FailedRelation): void;
  passOver(name: string): void;
  /** Numbers of records that are there already, where their relation is not read. */
  known?: Partial<Record<'issue' | 'merge_request', Map<number, number>>>;
  /** Why a record cannot be imported. */
  refuse?(relation: Relation, record: ReadRecord): string | undefined;
  /** Changes rows before they are inserted, and is told their ids. */
  around?(relation: Relation, records: readonly ReadRecord[]): ((ids: readonly number[]) => void) | undefined;
};

/** Lines, and bytes of them, that are inserted at once. */
const MAX_BATCH_LINES = 200;
const MAX_BATCH_BYTES = 1_048_576;
/** Lines of a relation: those that have numbers are in memory by them until the last one is read. */
const MAX_LINES = 2_000_000;

/** A refusal of the database in words that say no more than whoever brought the line may know. */
export function refusalOf(error: unknown): string | undefined {
  if (error instanceof Failure && error.kind !== 'unavailable') return 'was refused by the database';
  if (violatedIndex(error) !== undefined) return 'has already been taken';
  return isRolledBack(error) ? 'was refused by the database' : undefined;
}

type Numbered = 'issue' | 'merge_request' | 'epic';

/** Reads the files of the relations, in the order of the table. */
export async function readRelations(
  tx: Db,
  relations: readonly Relation[],
  files: (relation: Relation) => UnpackedFile | undefined,
  reading: Reading,
): Promise<void> {
  const named = { label: new Map<string, number>(), milestone: new Map<string, number>() };
  const numbered = new Map<Numbered, Map<number, number>>(
    Object.entries(reading.known ?? {}) as [Numbered, Map<number, number>][],
  );
  const references: References = {
    owner: reading.owner.id,
    importer: reading.importer,
    user: (id) => reading.users.idOf(id),
    nameOf: (id) => reading.users.nameOf(id),
    label: (title) => named.label.get(title),
    milestone: (title) => named.milestone.get(title),
    numbered: (kind, iid) => numbered.get(kind)?.get(iid),
    rewrite: reading.rewrite,
  };

  /** Finds the labels or milestones that lines name, and makes those that are nowhere. */
  async function provide(
    relation: Relation,
    kind: 'label' | 'milestone',
    lines: readonly JsonObject[],
  ): Promise<void> {
    const missing = new Map<string, JsonObject>();
    for (const line of lines)
      for (const one of namedIn(relation, line, kind)) {
        const title = one.title ?? one.name;
        if (typeof title === 'string' && !named[kind].has(title)) missing.set(title, one);
      }
    if (missing.size === 0) return;
    const table = kind === 'label' ? 'labels' : 'milestones';
    const take = (found: ReadonlyMap<string, number>) => {
      for (const [title, id] of found) {
        named[kind].set(title, id);
        missing.delete(title);
      }
    };
    const titles = [...missing.keys()].filter((title) => !title.includes('\u0000'));
    take(await selectNamed(tx, table, reading.owner, titles));
    const made = kind === 'label' ? labels : milestones;
    let iid = kind === 'milestone' && missing.size > 0 ? await nextMilestoneIid(tx, reading.owner) : 0;
    const records = [...missing.values()].flatMap((one) => {
      const { record } = readLine(made, { ...one, title: one.title ?? one.name, iid: iid++ }, references);
      return record ? [{ ...record, children: [] }] : [];
    });
    await insertRecords(tx, reading.owner, made, records);
    take(await selectNamed(tx, table, reading.owner, titles));
  }

  async function insert(relation: Relation, records: readonly ReadRecord[]): Promise<void> {
    const done = reading.around?.(relation, records);
    const ids = await insertRecords(tx, reading.owner, relation, records);
    done?.(ids);
    const kind = relation.numbered;
    if (kind === undefined || kind === 'milestone') return;
    const map = numbered.get(kind) ?? new Map<number, number>();
    numbered.set(kind, map);
    for (const [index, { row }] of records.entries()) map.set(Number(row.iid), ids[index] ?? 0);
  }

  /** All of them, or each for itself where the database refuses one. */
  async function insertEach(
    relation: Relation,
    records: readonly { line: number; record: ReadRecord }[],
  ): Promise<void> {
    if (records.length === 0) return;
    const together = (some: typeof records) =>
      inTransaction(tx, () =>
        insert(
          relation,
          some.map(({ record }) => record),
        ),
      );
    try {
      await together(records);
    } catch (error) {
      const message = refusalOf(error);
      if (message === undefined) throw error;
      if (records.length === 1) {
        reading.fail({ relation: relation.name, line: records[0]?.line ?? null, message });
        return;
      }
      for (const one of records) await insertEach(relation, [one]);
    }
  }

  async function readBatch(
    relation: Relation,
    lines: readonly { line: number; value: JsonObject }[],
  ): Promise<void> {
    for (const kind of ['label', 'milestone'] as const)
      await provide(
        relation,
        kind,
        lines.map(({ value }) => value),
      );
    const records = lines.flatMap(({ line, value }) => {
      const { record, problems } = readLine(relation, value, references);
      for (const { relation: of, text } of problems) reading.fail({ relation: of, line, message: text });
      const refusal = record && reading.refuse?.(relation, record);
      if (refusal !== undefined) reading.fail({ relation: relation.name, line, message: refusal });
      return record && refusal === undefined ? [{ line, record }] : [];
    });
    await insertEach(relation, records);
  }

  for (const relation of relations) {
    const file = files(relation);
    if (!file) continue;
    let batch: { line: number; value: JsonObject }[] = [];
    let bytes = 0;
    let isFirst = true;
    /** Numbers of epics, by those that are inside of them. */
    const inside = new Map<number, number>();
    for await (const line of linesOfFile(file)) {
      if (line.number > MAX_LINES) {
        const message = `the file has more than ${MAX_LINES} lines`;
        reading.fail({ relation: relation.name, line: line.number, message });
        break;
      }
      const value = parsed(relation, line, reading);
      if (value === undefined) continue;
      if (isFirst)
        for (const name of unknownNames(relation, value)) reading.passOver(`${relation.name}.${name}`);
      isFirst = false;
      if (relation.numbered === 'epic' && value.parent)
        inside.set(Number(value.iid), Number(iidOf(value.parent)));
      batch.push({ line: line.number, value });
      bytes += line.size;
      if (batch.length < MAX_BATCH_LINES && bytes < MAX_BATCH_BYTES) continue;
      await readBatch(relation, batch);
      batch = [];
      bytes = 0;
    }
    await readBatch(relation, batch);
    if (relation.numbered === 'epic') await connectEpics(tx, parentsOf(inside, numbered.get('epic')));
  }
}

function parsed(relation: Relation, line: Line, reading: Pick<Reading, 'fail'>): JsonObject | undefined {
  const fail = (message: string) => {
    reading.fail({ relation: relation.name, line: line.number, message });
    return undefined;
  };
  if ('isTooLong' in line) return fail('the line is too long');
  try {
    const value: unknown = JSON.parse(line.text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : fail('the line is no object');
  } catch {
    return fail('the line is no JSON');
  }
}
