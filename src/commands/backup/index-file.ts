/**
 * The index of a backup lies beside it, as FILE.index: a line for each part of rows, file of repositories and blob that the backup
 * has, itself or by its base. A later backup borrows by it, without reading the backup, which may be encrypted for others.
 */

import { once } from 'node:events';
import { open, rename, rm } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { indexOf } from '../../domain/backups/index.ts';
import { type Entry, FORMAT, type Listed, manifestLine, parseEntry, parseListed, placeOf } from './format.ts';
import type { RowsMoment } from './moment-queries.ts';

const END = 'end';
const ROWS = 'rows';

/** What an index is of, what its backup borrows from, and of which moment its rows are. */
export type FirstLine = { id: string; base: string | null; rows: RowsMoment | null };

/** The rows of a table. */
export type TableParts = { count: number; parts: readonly Listed[] };

export type IndexWriting = {
  add(listed: Listed): Promise<void>;
  /** The parts of a table are all there, and have so many rows. */
  endTable(table: string, count: number): Promise<void>;
  /** The file has its name then. */
  finish(): Promise<void>;
  discard(): Promise<void>;
};

export async function startIndex(file: string, first: FirstLine): Promise<IndexWriting> {
  const draft = `${indexOf(file)}.part`;
  const handle = await open(draft, 'w', 0o600);
  const output = handle.createWriteStream({ flush: true });
  let failed: unknown;
  output.on('error', (error) => {
    failed = error;
  });
  const put = async (line: string): Promise<void> => {
    if (failed) throw failed;
    if (!output.write(line)) await once(output, 'drain');
  };
  await put(`${JSON.stringify({ format: FORMAT, ...first })}\n`);
  return {
    add: (listed) => put(manifestLine(listed)),
    endTable: (table, count) => put(`${ROWS} ${count} ${table}\n`),
    async finish() {
      output.end(`${END}\n`);
      await finished(output);
      await rename(draft, indexOf(file));
    },
    async discard() {
      output.destroy();
      await finished(output).catch(() => undefined);
      await rm(draft, { force: true });
    },
  };
}

function parseFirst(line: string): FirstLine | undefined {
  try {
    const { format, id, base, rows = null } = JSON.parse(line);
    const isMoment = rows === null || [rows.database, rows.schema].every((each) => typeof each === 'string');
    const isWhole = isMoment && /^\d{1,20}$/.test(rows?.before ?? '0');
    return isWhole && format === FORMAT && /^[0-9a-f]{32}$/.test(id) ? { id, base, rows } : undefined;
  } catch {
    return undefined;
  }
}

async function* linesOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of pieces) {
    const lines = `${rest}${piece.toString('latin1')}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

export type BaseIndex = {
  /** Of the backup. */
  readonly id: string;
  readonly rows: RowsMoment | null;
  /** Those whose rows a later backup may borrow. */
  readonly tables: ReadonlyMap<string, TableParts>;
  /** What it lists at the place of the entry, by name. Entries are asked for in the order of a backup. */
  at(entry: Entry): Promise<ReadonlyMap<string, Listed>>;
  close(): Promise<void>;
};

/** Throws where there is none, or a damaged one. */
export async function openIndex(file: string): Promise<BaseIndex> {
  const path = indexOf(file);
  const handle = await open(path).catch(() => {
    throw new Error(`${path} is missing, by which a backup borrows from ${file}: make one without --base`);
  });
  const damaged = () => new Error(`${path} is damaged: make a backup without --base`);
  const lines = linesOf(handle.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>);
  const nextLine = async (): Promise<string> => {
    const { value, done } = await lines.next().catch(() => ({ value: undefined, done: true }));
    if (done || value === undefined) throw damaged();
    return value;
  };
  let next: Listed | undefined;
  const parse = (line: string): Listed | undefined => {
    const listed = line === END ? undefined : parseListed(line);
    if (line !== END && !listed) throw damaged();
    return listed;
  };
  const tables = new Map<string, TableParts>();
  let first: FirstLine | undefined;
  /** The lines of tables come before all others. Of a table without a number some rows alone are there, which nobody borrows. */
  const readTables = async (): Promise<void> => {
    const parts = new Map<string, Listed[]>();
    for (;;) {
      const line = await nextLine();
      const [, count, table] = /^rows (\d{1,15}) ([a-z_][a-z0-9_]{0,62})$/.exec(line) ?? [];
      if (table !== undefined) {
        tables.set(table, { count: Number(count), parts: parts.get(table) ?? [] });
        continue;
      }
      next = parse(line);
      const entry = next && parseEntry(next.name);
      if (!next || entry?.kind !== 'table') return;
      const listed = parts.get(entry.table);
      if (listed) listed.push(next);
      else parts.set(entry.table, [next]);
    }
  };
  try {
    first = parseFirst(await nextLine());
    if (!first) throw damaged();
    await readTables();
  } catch (error) {
    await handle.close();
    throw error;
  }
  return {
    ...{ id: first.id, rows: first.rows, tables },
    async at(entry) {
      const place = placeOf(entry);
      const found = new Map<string, Listed>();
      while (next) {
        const there = placeOf(parseEntry(next.name));
        if (there > place) break;
        if (there === place) found.set(next.name, next);
        next = parse(await nextLine());
      }
      return found;
    },
    close: () => handle.close(),
  };
}
