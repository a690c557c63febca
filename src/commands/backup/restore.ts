/** ashlar restore: fills an empty place from a backup. */
import { createWriteStream, existsSync, readdirSync } from 'node:fs';
import { mkdir, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createApp } from '../../app.ts';
import { liveTraceFile } from '../../domain/ci/index.ts';
import { migrationsFolder, openInstance, RESTORING } from '../../instance.ts';
import type { Config } from '../../kernel/config.ts';
import { blobPath } from '../../platform/blobs/blob-files.ts';
import { DataFolderInUse, readOrCreateSecretFile } from '../../platform/db/data-folder.ts';
import { type ConnectionTarget, connectToCopy } from '../../platform/db/database.ts';
import type { CopyConnection } from '../../platform/db/driver/copy.ts';
import { checkConnections } from '../../platform/git/copies/check.ts';
import { eachOf, syncRepository } from '../../platform/git/copies/copy.ts';
import { layOut, syncFolder, writeSynced } from '../../platform/git/write.ts';
import { createLog } from '../../platform/log.ts';
import { keyId } from '../../platform/secret.ts';
import type { Damage } from './contents.ts';
import { folderOf } from './cut.ts';
import { type Stored, selectStored } from './cut-queries.ts';
import { BadBackup, type Header } from './format.ts';
import { type Progress, sizeInWords } from './progress.ts';
import { held, type Kept, type Keys, readChain, type Sink } from './reading.ts';
import {
  copyIn,
  copyInJobs,
  finishTables,
  type Postponed,
  prepareTables,
  removeMark,
  requireEmpty,
} from './restore-actions.ts';
import { goesOn } from './rules.ts';
import { type Verified, verifyBackup } from './verify.ts';

const foldersOf = ({ data, files, storages }: Config): Set<string> =>
  new Set([data, files, ...storages.values()]);

/** What is in a folder, but for those that are looked at by themselves. */
function inside(config: Config, folder: string): string[] {
  const others = foldersOf(config);
  return readdirSync(folder).filter((name) => name !== 'lost+found' && !others.has(join(folder, name)));
}

function requireEmptyFolders(config: Config): void {
  for (const folder of foldersOf(config)) {
    if (!existsSync(folder)) continue;
    if (existsSync(join(folder, RESTORING)))
      throw new Error(
        `an earlier restore into ${folder} was interrupted: remove what is in the folder, and restore again`,
      );
    const [name] = inside(config, folder);
    if (name !== undefined)
      throw new Error(`${folder} is not empty (${name}): a restore needs an empty place`);
  }
}

/** Of all disks together: which of them gets how much is seen when it is there. */
async function requireRoom(config: Config, { rows, files }: Verified['sizes']): Promise<void> {
  const needed = files + (config.databaseUrl === undefined ? rows : 0);
  const disks = new Map<number, number>();
  for (const folder of foldersOf(config)) {
    const { bavail, bsize } = await statfs(folder);
    disks.set((await stat(folder)).dev, bavail * bsize);
  }
  const free = [...disks.values()].reduce((sum, each) => sum + each, 0);
  if (free < needed)
    throw new Error(
      `the backup needs ${sizeInWords(needed)}, and there is room for ${sizeInWords(free)} in ${[...foldersOf(config)].join(', ')}`,
    );
}

/**
 * Refused, before anything is written, where anything is there already, and for a file that is not whole. What fails later leaves
 * the folders empty; what is killed leaves a mark, by which no program starts there.
 */
export async function restoreBackup(
  config: Config,
  file: string,
  keys: Keys,
  progress: Progress,
): Promise<Damage> {
  requireEmptyFolders(config);
  if (config.databaseUrl !== undefined) {
    const connection = await connectToCopy(config.databaseUrl, 'restore');
    await requireEmpty(connection).finally(connection.end);
  }
  const checked = await verifyBackup(file, keys, progress);
  const { header, end, hasKey, sizes } = checked;
  if (config.secretKey === undefined ? !hasKey : keyId(config.secretKey) !== header.secret_key_id)
    throw new Error('the backup is of a server with another ASHLAR_SECRET_KEY: give that one');
  progress.tell(`${file} is whole: ${end.entries} entries, cut of ${header.created_at}`);
  for (const folder of foldersOf(config)) await mkdir(folder, { recursive: true, mode: 0o700 });
  await requireRoom(config, sizes);
  const mark = join(config.data, RESTORING);
  await writeFile(mark, `${file}\n`, { flush: true, mode: 0o600 });
  await syncFolder(config.data);
  try {
    return await restoreInto(config, checked, keys, progress);
  } catch (error) {
    for (const folder of foldersOf(config))
      for (const name of inside(config, folder).filter((each) => each !== RESTORING))
        await rm(join(folder, name), { recursive: true, force: true });
    // The last: what is killed here has its mark.
    await rm(mark, { force: true });
    if (config.databaseUrl === undefined || error instanceof DataFolderInUse) throw error;
    throw new Error(
      `${(error as Error).message}. The database may be half filled: make an empty one for the next restore`,
      { cause: error },
    );
  }
}

async function restoreInto(
  config: Config,
  { files, header: { id }, large }: Verified,
  keys: Keys,
  progress: Progress,
): Promise<Damage> {
  const opened = await openInstance(config, { restoring: true });
  const { target } = opened;
  const damage: Damage = [];
  try {
    await opened.embedded?.ready();
    const connection = await connectToCopy(target, 'restore');
    try {
      await load({ config, connection, target, damage, progress }, { file: files[0] ?? '', keys, id, large });
      await handOnFacts(config, target);
      await removeMark(connection);
    } finally {
      await connection.end();
    }
    await rm(join(config.data, RESTORING));
    await syncFolder(config.data);
  } finally {
    await opened.close();
  }
  for (const line of damage) progress.tell(`damage: ${line}`);
  progress.tell('restored');
  return damage;
}

/** What was told before the cut and not heard is heard by those who send nothing. */
async function handOnFacts(config: Config, target: ConnectionTarget): Promise<void> {
  const log = createLog((text) => process.stderr.write(text));
  const app = createApp({ config, target, secretKey: '', log });
  try {
    await app.handOnFacts(goesOn);
  } finally {
    await app.stop();
  }
}

type Into = {
  config: Config;
  connection: CopyConnection;
  target: ConnectionTarget;
  damage: Damage;
  progress: Progress;
};

async function writeNew(
  path: string,
  pieces: AsyncIterable<Buffer>,
  mode: number,
  flush: boolean,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await pipeline(pieces, createWriteStream(path, { flags: 'wx', mode, flush }));
}

async function load(
  { config, connection, target, damage, progress }: Into,
  { file, keys, id, large }: { file: string; keys: Keys; id: string; large: readonly string[] },
): Promise<void> {
  const { files, storages } = config;
  let postponed: Postponed | undefined;
  let header: Header | undefined;
  let stored: ReadonlyMap<string, Stored> = new Map();
  let bytes = 0;
  const repositoryFolder = (repository: string): string => {
    const found = stored.get(repository);
    if (!found) throw new BadBackup(`its repository ${repository} belongs to no row`);
    return folderOf(found, storages);
  };
  async function put(entry: Kept, pieces: AsyncIterable<Buffer>): Promise<void> {
    if (!header) throw new BadBackup('it has no header');
    if (entry.kind === 'secret-key') {
      const text = (await held(pieces)).toString('utf8');
      if (keyId(text) !== header.secret_key_id) throw new BadBackup('its secret key is another');
      if (config.secretKey === undefined) await readOrCreateSecretFile(config.data, 'secret-key', () => text);
      return;
    }
    if (entry.kind === 'table') return copyIn(connection, header, entry.table, pieces);
    if (entry.kind === 'jobs') return copyInJobs(connection, pieces);
    if (entry.kind === 'blob')
      return writeNew(blobPath(join(files, 'blobs'), entry.sha256), pieces, 0o600, true);
    if (entry.kind === 'trace') return writeNew(liveTraceFile(files, Number(entry.job)), pieces, 0o600, true);
    if (entry.kind === 'head')
      return layOut(repositoryFolder(entry.repository), (await held(pieces)).toString('latin1'));
    if (entry.kind === 'refs') {
      const refs = await held(pieces);
      const path = join(repositoryFolder(entry.repository), 'packed-refs');
      if (refs.length > 0)
        await writeSynced(path, Buffer.concat([Buffer.from('# pack-refs with: sorted \n'), refs]));
      return;
    }
    const path = join(repositoryFolder(entry.repository), 'objects', entry.file);
    await writeNew(path, pieces, 0o444, false);
  }
  const sink: Sink = async (entry, { size }, pieces) => {
    await put(entry, pieces);
    bytes += size;
    progress.at(`restored: ${sizeInWords(bytes)}`);
  };
  const begin = async (read: Header): Promise<void> => {
    if (read.id !== id) throw new Error('the file was changed meanwhile');
    header = read;
    postponed ??= await prepareTables(connection, target, migrationsFolder, { header, large });
  };
  // The rows of all files of the chain are whole before the first of their files is written: they say where each repository is.
  await readChain(file, keys, { sink, begin, section: 'rows' });
  if (!header || !postponed) throw new BadBackup('it has no header');
  await finishTables(connection, target, migrationsFolder, {
    header,
    postponed,
    storages: [...storages.keys()],
  });
  progress.tell(`${header.tables.length} tables`);
  stored = new Map((await selectStored(connection)).map((each) => [each.id, each]));
  await readChain(file, keys, { sink, begin, section: 'files' });
  const all = [...stored.values()].map((each) => folderOf(each, storages));
  await eachOf(all, async (folder) => {
    if (!existsSync(folder)) {
      damage.push(`the backup has no repository ${folder}`);
      return;
    }
    await syncRepository(folder);
    await checkConnections(folder).catch((error: Error) => damage.push(`${folder}: ${error.message}`));
  });
  progress.tell(`${all.length} repositories`);
}
