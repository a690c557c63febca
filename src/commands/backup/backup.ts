/** ashlar backup: one cut of the database, the repositories and the files, beside a running program or without one. */
import { createWriteStream, existsSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { backupName, baseOf, prune } from '../../domain/backups/index.ts';
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
import { retire as retireSpawner } from '../../platform/git/program/spawner.ts';
import { createLog } from '../../platform/log.ts';
import { keyId, randomHex } from '../../platform/secret.ts';
import { type Adding, addBlobs, addRepositories, addTables, type Damage, openTraces } from './contents.ts';
import { folderOf, takeCut } from './cut.ts';
import {
  areRepacked,
  copyOutBlobs,
  describeDatabase,
  holdBlobs,
  holdRepositories,
  releaseRepositories,
} from './cut-queries.ts';
import { FORMAT, type Header } from './format.ts';
import { openIndex } from './index-file.ts';
import { describeMoment } from './moment-queries.ts';
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
  /** The cut is taken: nobody waits for the backup from now on. */
  onCut(): void;
};

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
    order.onCut();
    // No program of git is needed any more.
    retireSpawner();
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
    const moment = await describeMoment(snapshot, header);
    const first = { id: header.id, base: header.base?.name ?? null, rows: moment };
    writing = await startWriting(order.target, { first, recipients: order.recipients, time: now() });
    const text = Buffer.from(JSON.stringify(header));
    await writing.add('header.json', text.length, [text]);
    // One that comes by the environment stays with whoever keeps it.
    if (config.secretKey === undefined)
      await writing.add('secret-key', secret.text.length, [Buffer.from(secret.text)]);
    const adding: Adding = { writing, base, damage, progress };
    await addTables(adding, snapshot, { tables: header.tables, moment });
    const names = join(spool, 'blobs');
    await pipeline(copyOutBlobs(snapshot), createWriteStream(names));
    // PostgreSQL keeps old rows for the sake of a snapshot.
    await snapshot.ask('commit');
    progress.tell(`${header.tables.length} tables: ${sizeInWords(writing.bytes())}`);
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
