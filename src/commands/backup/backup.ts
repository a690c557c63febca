/** ashlar backup: one cut of the database, the repositories and the files, beside a running program or without one. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, statSync } from 'node:fs';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { backupName, baseOf, prune } from '../../domain/backups/index.ts';
import { liveFolders, liveIn, openLive } from '../../domain/ci/index.ts';
import { reachDatabase, readSecretKey } from '../../instance.ts';
import type { Config } from '../../kernel/config.ts';
import { version } from '../../package.ts';
import type { OpenBlob } from '../../platform/blobs/blob-store.ts';
import { createBlobs } from '../../platform/blobs/blobs.ts';
import { createObjectStore } from '../../platform/blobs/object-store.ts';
import { now } from '../../platform/clock.ts';
import { connectToCopy, openDatabase } from '../../platform/db/database.ts';
import type { CopyConnection } from '../../platform/db/driver/copy.ts';
import { createPresence } from '../../platform/db/processes.ts';
import { objectFiles } from '../../platform/git/copies/copy.ts';
import { createLog } from '../../platform/log.ts';
import { keyId, randomHex } from '../../platform/secret.ts';
import { type Cut, folderOf, takeCut } from './cut.ts';
import {
  areRepacked,
  copyOutBlobs,
  copyOutJobs,
  copyOutTable,
  describeDatabase,
  holdBlobs,
  holdRepositories,
  releaseRepositories,
  type Stored,
} from './cut-queries.ts';
import { FORMAT, type Header } from './format.ts';
import { type BaseIndex, openIndex } from './index-file.ts';
import { type Progress, sizeInWords } from './progress.ts';
import { type BackupFile, checkRecipients, STANDARD_OUTPUT, startWriting } from './writing.ts';

export type BackupOrder = {
  /** The file, or a folder in which it is named by the time; `-` is standard output. */
  target: string;
  recipients: readonly string[];
  /** An earlier backup, whose files are not written again. */
  base: string | undefined;
  /** Of a folder: so many backups stay there. All, where it is undefined. */
  keep: number | undefined;
};

/** Damage that was found on this disk, in words. The backup is whole but for it. */
export type Damage = string[];

const PART_BYTES = 8 * 1_048_576;
const PIECE_BYTES = 262_144;
/** PostgreSQL, git and this program name a pack's seal so: the SHA-1 of all before it. */
const SEAL_BYTES = 20;
const part = (number: number): string => String(number).padStart(6, '0');
const isMissing = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === 'ENOENT';

/** Adds pieces of rows as entries that end with a row: each can be copied in by itself. One is compressed while the next comes. */
export async function addRows(
  writing: Pick<BackupFile, 'add'>,
  folder: string,
  rows: AsyncIterable<Buffer>,
): Promise<void> {
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
  for await (const piece of rows) {
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
}

/** The live traces: opened before the cut, so that what is archived meanwhile is there still. */
async function openTraces(files: string, open: Map<number, OpenBlob>): Promise<void> {
  for (const folder of await liveFolders(files))
    for (const job of await liveIn(folder)) {
      const trace = open.has(job) ? undefined : await openLive(files, job);
      if (trace) open.set(job, trace);
    }
}

type Adding = { writing: BackupFile; base: BaseIndex | undefined; damage: Damage; progress: Progress };

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

async function addRepositories(
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
async function addBlobs(
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

/** Writes the backup; throws in words, and leaves no file of the name then. */
export async function backUp(config: Config, order: BackupOrder, progress: Progress): Promise<Damage> {
  await checkRecipients(order.recipients);
  const isFolder =
    order.target !== STANDARD_OUTPUT && statSync(order.target, { throwIfNoEntry: false })?.isDirectory();
  if (!isFolder && order.keep !== undefined)
    throw new Error(`${order.target} is no folder: backups are kept by number in a folder of them`);
  const target = isFolder ? join(order.target, backupName(now())) : order.target;
  if (order.base !== undefined && dirname(resolve(order.base)) !== dirname(resolve(target)))
    throw new Error(`${order.base} is in another folder: a backup and its base lie side by side`);
  if (isFolder && [target, `${target}.part`].some((path) => existsSync(path)))
    throw new Error(`${target} is there already: another program makes backups in this folder`);
  if (order.base !== undefined) await checkBases(order.base, target);
  const damage = await writeBackup(config, { ...order, target }, progress);
  if (!isFolder || order.keep === undefined) return damage;
  // The earlier ones may have what is damaged now.
  if (damage.length > 0) progress.tell('earlier backups are all kept, since files are damaged');
  else
    for (const name of await prune(order.target, order.keep, now(), basename(target)))
      progress.tell(`removed ${name}`);
  return damage;
}

/** A backup that borrows is worth nothing without its bases; it may take the place of none of them. */
async function checkBases(base: string, target: string): Promise<void> {
  if (existsSync(target))
    throw new Error(`${target} is there already: name another file for a backup with --base`);
  const seen = new Set<string>();
  for (let file: string | undefined = base; file !== undefined && !seen.has(file); ) {
    if (!existsSync(file))
      throw new Error(
        `${file} is missing, which a backup with --base ${base} needs: make one without --base`,
      );
    seen.add(file);
    const next: string | undefined = await baseOf(file);
    file = next === undefined ? undefined : join(dirname(base), next);
  }
}

const REPACK_POLLS = 100;
const REPACK_POLL_MS = 100;

async function writeBackup(config: Config, order: BackupOrder, progress: Progress): Promise<Damage> {
  const base = order.base === undefined ? undefined : await openIndex(order.base);
  const reached = await reachDatabase(config).catch(async (error: unknown) => {
    await base?.close();
    throw error;
  });
  const log = createLog((text) => process.stderr.write(text));
  const database = openDatabase(reached.target, { requests: 2, background: 1 });
  const presence = createPresence(database.sql, log);
  const spool = await mkdtemp(join(tmpdir(), 'ashlar-backup-'));
  const connections: CopyConnection[] = [];
  const connect = async (): Promise<CopyConnection> => {
    const made = await connectToCopy(reached.target, 'backup');
    connections.push(made);
    return made;
  };
  const traces = new Map<number, OpenBlob>();
  const damage: Damage = [];
  let writing: BackupFile | undefined;
  try {
    const [snapshot, others, holder] = [await connect(), await connect(), await connect()];
    if (!(await holdBlobs(holder))) throw new Error('another backup of this database runs');
    await presence.announce();
    await holdRepositories(others, presence.id);
    // Those that are given up for a backup are over then. Others remove nothing that refs had.
    for (let poll = 0; poll < REPACK_POLLS && (await areRepacked(others)); poll++)
      await sleep(REPACK_POLL_MS);
    await openTraces(config.files, traces);
    const { storages } = config;
    const cut = await takeCut(
      { snapshot, others, keeper: holder },
      {
        ...{ storages, spool, processId: presence.id },
        onDamage: (each, problem) => damage.push(`${folderOf(each, storages)} cannot be read: ${problem}`),
      },
    );
    await openTraces(config.files, traces);
    const header: Header = {
      ...{ format: FORMAT, id: randomHex(16), created_at: now().toISOString(), version: version.own },
      ...(await describeDatabase(snapshot)),
      base: base && order.base !== undefined ? { id: base.id, name: basename(order.base) } : null,
    };
    const secret = await readSecretKey(config);
    if (keyId(secret.text) !== header.secret_key_id)
      throw new Error(
        'the secret key is not the one that this database was started with: set ASHLAR_SECRET_KEY as the server has it',
      );
    const first = { id: header.id, base: header.base?.name ?? null };
    writing = await startWriting(order.target, { first, recipients: order.recipients, time: now() });
    const text = Buffer.from(JSON.stringify(header));
    await writing.add('header.json', text.length, [text]);
    // One that comes by the environment stays with whoever keeps it.
    if (config.secretKey === undefined)
      await writing.add('secret-key', secret.text.length, [Buffer.from(secret.text)]);
    for (const table of header.tables) {
      await addRows(writing, `tables/${table.name}`, copyOutTable(snapshot, table));
      progress.at(`tables: ${sizeInWords(writing.bytes())}`);
    }
    await addRows(writing, 'jobs', copyOutJobs(snapshot));
    const names = join(spool, 'blobs');
    await pipeline(copyOutBlobs(snapshot), createWriteStream(names));
    // PostgreSQL keeps old rows for the sake of a snapshot.
    await snapshot.ask('commit');
    progress.tell(`${header.tables.length} tables: ${sizeInWords(writing.bytes())}`);
    const adding: Adding = { writing, base, damage, progress };
    await addRepositories(adding, cut, storages);
    progress.tell(`${cut.stored.length} repositories`);
    const objects = config.objectStore === undefined ? undefined : createObjectStore(config.objectStore);
    const disk = { refuseWritesOf: async () => {} };
    const blobs = createBlobs(join(config.files, 'blobs'), database, { log, objects, disk });
    const count = await addBlobs(adding, names, blobs.open);
    for (const [job, trace] of [...traces].sort(([left], [right]) => left - right))
      await writing.add(`traces/${job}`, trace.size, trace.stream());
    progress.tell(`${count} files, ${traces.size} traces of jobs that run`);
    const { entries, bytes } = await writing.finish();
    writing = undefined;
    const to = order.target === STANDARD_OUTPUT ? 'standard output' : order.target;
    progress.tell(
      `${to}: ${entries} entries, ${sizeInWords(bytes)} before compression, cut of ${header.created_at}`,
    );
    for (const line of damage) progress.tell(`damage: ${line}`);
    return damage;
  } finally {
    await writing?.discard();
    for (const trace of traces.values()) await trace.close().catch(() => undefined);
    const others = connections[1];
    await others?.ask('rollback').catch(() => undefined);
    if (others) await releaseRepositories(others, presence.id).catch(() => undefined);
    await presence.stop();
    for (const connection of connections) await connection.end().catch(() => undefined);
    await database.close();
    await base?.close();
    await rm(spool, { recursive: true, force: true });
    await reached.close();
  }
}
