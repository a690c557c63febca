/** What goes into a backup: rows, repositories, files, and the traces of jobs that run. */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { liveFolders, liveIn, openLive } from '../../domain/ci/index.ts';
import type { Config } from '../../kernel/config.ts';
import type { OpenBlob } from '../../platform/blobs/blob-store.ts';
import type { CopyConnection } from '../../platform/db/driver/copy.ts';
import { objectFiles } from '../../platform/git/copies/copy.ts';
import { type Cut, folderOf } from './cut.ts';
import { copyOutJobs, copyOutTable, type Stored } from './cut-queries.ts';
import type { Header } from './format.ts';
import type { BaseIndex } from './index-file.ts';
import { isSameDatabase, isUnchanged, type RowsMoment } from './moment-queries.ts';
import { type Progress, sizeInWords } from './progress.ts';
import { isWholeTable } from './rules.ts';
import type { BackupFile } from './writing.ts';

/** Damage that was found on this disk, in words. The backup is whole but for it. */
export type Damage = string[];

const PART_BYTES = 2 * 1_048_576;
const PIECE_BYTES = 262_144;
/** Packs and their indexes end with the SHA-1 of all before it. */
const SEAL_BYTES = 20;
const part = (number: number): string => String(number).padStart(6, '0');
const isMissing = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === 'ENOENT';

/**
 * Adds pieces of rows as entries that end with a row: each can be copied in by itself. One is compressed while the next comes.
 * Returns what the iterator of the pieces does.
 */
export async function addRows<Count>(
  writing: Pick<BackupFile, 'add'>,
  folder: string,
  rows: AsyncIterator<Buffer, Count>,
): Promise<Count> {
  let held: Buffer[] = [];
  let size = 0;
  let parts = 0;
  let adding: Promise<unknown> = Promise.resolve();
  const flush = async (pieces: Buffer[], length: number): Promise<void> => {
    await adding;
    if (length > 0) adding = writing.add(`${folder}/${part(parts++)}`, length, pieces);
    // It is thrown where the next one waits for it.
    adding.catch(() => undefined);
  };
  let next = await rows.next();
  for (; !next.done; next = await rows.next()) {
    const piece = next.value;
    held.push(piece);
    size += piece.length;
    const end = size > PART_BYTES ? piece.lastIndexOf(10) + 1 : 0;
    if (end === 0) continue;
    const rest = piece.length - end;
    await flush([...held.slice(0, -1), piece.subarray(0, end)], size - rest);
    held = [piece.subarray(end)];
    size = rest;
  }
  await flush(held, size);
  await adding;
  return next.value;
}

/** The rows of all tables, and the jobs; a table that is as the base has it is borrowed. */
export async function addTables(
  { writing, base, progress }: Omit<Adding, 'damage'>,
  snapshot: CopyConnection,
  { tables, moment }: { tables: Header['tables']; moment: RowsMoment | null },
): Promise<void> {
  const lent = base && isSameDatabase(base.rows, moment) ? base : undefined;
  for (const table of tables) {
    const { name } = table;
    const before = lent?.tables.get(name);
    if (before && lent?.rows && (await isUnchanged(snapshot, name, lent.rows, before.count))) {
      for (const each of before.parts) await writing.borrow(each);
      await writing.endTable(name, before.count);
    } else {
      const count = await addRows(writing, `tables/${name}`, copyOutTable(snapshot, table));
      if (isWholeTable(name)) await writing.endTable(name, count);
    }
    progress.at(`tables: ${sizeInWords(writing.bytes())}`);
  }
  await addRows(writing, 'jobs', copyOutJobs(snapshot));
  await writing.endRows();
}

/** The live traces: opened before the cut, so that what is archived meanwhile is there still. */
export async function openTraces(files: string, open: Map<number, OpenBlob>): Promise<void> {
  for (const folder of await liveFolders(files))
    for (const job of await liveIn(folder)) {
      const trace = open.has(job) ? undefined : await openLive(files, job);
      if (trace) open.set(job, trace);
    }
}

export type Adding = { writing: BackupFile; base: BaseIndex | undefined; damage: Damage; progress: Progress };

/** Of a pack or index; the last bytes are the seal, which pieces may share. */
async function* sealed(pieces: AsyncIterable<Buffer>, onBroken: () => void): AsyncGenerator<Buffer> {
  const hash = createHash('sha1');
  let tail: Buffer = Buffer.alloc(0);
  for await (const piece of pieces) {
    if (piece.length >= SEAL_BYTES) {
      hash.update(tail);
      hash.update(piece.subarray(0, -SEAL_BYTES));
      tail = Buffer.from(piece.subarray(-SEAL_BYTES));
    } else {
      const all = Buffer.concat([tail, piece]);
      const end = Math.max(0, all.length - SEAL_BYTES);
      hash.update(all.subarray(0, end));
      tail = all.subarray(end);
    }
    yield piece;
  }
  if (!hash.digest().equals(tail)) onBroken();
}

/** The files of the objects. A repack may remove some meanwhile: what it made of them is listed anew. */
async function addObjects(
  { writing, base, damage, progress }: Adding,
  each: Stored,
  folder: string,
): Promise<void> {
  const done = new Set<string>();
  const lent = await base?.at({ kind: 'head', repository: each.id });
  for (let gone = true; gone; ) {
    gone = false;
    const { packs, loose } = await objectFiles(join(folder, 'objects'));
    for (const file of [...packs, ...loose]) {
      if (done.has(file)) continue;
      const handle = await open(join(folder, 'objects', file)).catch((error: unknown) => {
        if (isMissing(error)) return undefined;
        throw error;
      });
      if (!handle) {
        gone = true;
        continue;
      }
      done.add(file);
      try {
        const { size } = await handle.stat();
        const name = `repositories/${each.id}/objects/${file}`;
        const before = lent?.get(name);
        if (before?.size === size) {
          await writing.borrow(before);
          continue;
        }
        const pieces = handle.createReadStream({
          autoClose: false,
          highWaterMark: PIECE_BYTES,
        }) as AsyncIterable<Buffer>;
        let isWhole = true;
        const onBroken = (): void => {
          isWhole = false;
          damage.push(`${join(folder, 'objects', file)} is damaged`);
        };
        const checked = /\.(pack|idx)$/.test(file) ? sealed(pieces, onBroken) : pieces;
        await writing.add(name, size, checked, () => isWhole);
        progress.at(`repositories: ${sizeInWords(writing.bytes())}`);
      } finally {
        await handle.close();
      }
    }
  }
}

export async function addRepositories(
  adding: Adding,
  { stored, refsOf }: Cut,
  storages: Config['storages'],
): Promise<void> {
  for (const each of stored) {
    const text = await readFile(refsOf(each));
    const end = text.indexOf(10) + 1;
    // Of both now: what was added is not read any more.
    const [head, refs] = [text.subarray(0, end), text.subarray(end)];
    const name = `repositories/${each.id}`;
    await adding.writing.add(`${name}/HEAD`, head.length, [head]);
    await adding.writing.add(`${name}/refs`, refs.length, [refs]);
    const folder = folderOf(each, storages);
    await addObjects(adding, each, folder);
    const isGone = !existsSync(join(folder, 'objects'));
    if (isGone && !adding.damage.some((line) => line.startsWith(`${folder} `)))
      adding.damage.push(`${folder} was removed`);
  }
}

/** Returns how many files there are. */
export async function addBlobs(
  { writing, base, damage, progress }: Adding,
  names: string,
  openBlob: (sha256: Buffer) => Promise<OpenBlob | undefined>,
): Promise<number> {
  let count = 0;
  for await (const sha256 of createInterface({ input: createReadStream(names) })) {
    const name = `blobs/${sha256}`;
    const lent = (await base?.at({ kind: 'blob', sha256 }))?.get(name);
    if (lent) {
      await writing.borrow(lent);
      count += 1;
      continue;
    }
    const blob = await openBlob(Buffer.from(sha256, 'hex'));
    if (!blob) {
      damage.push(`the file ${sha256}, which rows name, is missing`);
      continue;
    }
    // Under another name a file that is damaged cannot be restored.
    const digest = await writing.add(name, blob.size, blob.stream(), (read) => read === sha256);
    if (digest !== sha256) damage.push(`the file ${sha256} is damaged`);
    count += 1;
    progress.at(`files: ${count}, ${sizeInWords(writing.bytes())}`);
  }
  return count;
}
