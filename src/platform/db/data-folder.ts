/** The data folder: created, locked by one process at a time, with the program's own secrets in it. */
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { link, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export type DataFolder = {
  /** Absolute. */
  path: string;
  close(): Promise<void>;
};

/** Thrown when another process has opened the folder. */
export class DataFolderInUse extends Error {
  /** The process's id, or `(unknown)`. */
  readonly holder: string;

  constructor(folder: string, holder: string) {
    super(
      `data folder ${folder}: in use by process ${holder}; stop that first, or choose another folder with ASHLAR_DATA`,
    );
    this.holder = holder;
  }
}

/**
 * Creates the folder where it is missing (mode 700) and locks it until `close` or the end of the process.
 * Throws a one-line Error when it cannot be written, has other files, or is locked; the locking process is
 * named.
 */
export async function openDataFolder(path: string): Promise<DataFolder> {
  const folder = resolve(path);
  try {
    const made = await makeFolder(folder);
    if (made === undefined) refuseForeignFolder(folder);
    else await syncFolder(dirname(made));
    const release = hold(folder);
    return { path: folder, close: async () => release() };
  } catch (error) {
    if (error instanceof DataFolderInUse) throw error;
    throw problemOf(folder, error);
  }
}

function problemOf(folder: string, error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  const advice =
    code === 'EACCES' || code === 'EPERM'
      ? '; run this as the user that the folder belongs to, or name another in ASHLAR_DATA'
      : '';
  return new Error(`data folder ${folder}: ${message}${advice}`, { cause: error });
}

/**
 * Creates the folder and its missing parents; returns the topmost new one. Level by level: below /proc, where
 * mkdir says that an existing parent is missing, Node's own `recursive` retries for ever.
 */
async function makeFolder(folder: string): Promise<string | undefined> {
  const missing: string[] = [];
  for (let path = folder; !existsSync(path); path = dirname(path)) missing.unshift(path);
  for (const path of missing) {
    await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error; // another start made it meanwhile
    });
  }
  if (!statSync(folder).isDirectory()) throw new Error('is not a folder');
  return missing[0];
}

/**
 * Every start creates the first; a copied folder may lack it, but has one of the others. Also of earlier
 * versions.
 */
const markers = ['lock', 'secret-key', 'postgres-password'];

/** Names permitted before the first start: mounts, a password to use, files of a new disk or home. */
const mayBeThereFirst = /^(repositories|uploads|mail|root-password|lost\+found|\..*)$/;

const isMarked = (folder: string): boolean =>
  markers.some((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile());

/** Whether this program has used the folder. Throws where it cannot be read. */
export function isDataFolder(folder: string): boolean {
  try {
    return isMarked(folder);
  } catch (error) {
    throw problemOf(folder, error);
  }
}

/** Files would mix, and mode and backups of another program's folder would be applied to ours. */
function refuseForeignFolder(folder: string): void {
  if (isMarked(folder)) return;
  const foreign = readdirSync(folder)
    .filter((name) => !mayBeThereFirst.test(name))
    .sort();
  if (foreign.length === 0) return;
  const shown = foreign.slice(0, 3).join(', ') + (foreign.length > 3 ? ', …' : '');
  throw new Error(`holds files of something else (${shown}): name a new or empty folder in ASHLAR_DATA`);
}

/**
 * The lock is the kernel's, by way of SQLite, the one part of Node that locks files: it ends with its
 * process, so no stale lock must be judged by a pid that may be reused or of another container. No other code
 * may open the file: closing it anywhere in a process would drop that process's lock.
 */
function hold(folder: string): () => void {
  const file = join(folder, 'lock');
  const pidFile = join(folder, 'pid');
  const lock = new DatabaseSync(file, { timeout: 0 });
  try {
    lock.exec('PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    const SQLITE_BUSY = 5;
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    throw new DataFolderInUse(folder, holder(pidFile));
  }
  chmodSync(file, 0o600);
  writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
  return () => {
    if (!lock.isOpen) return;
    rmSync(pidFile, { force: true });
    lock.close();
  };
}

function holder(pidFile: string): string {
  try {
    return readFileSync(pidFile, 'utf8').trim();
  } catch {
    return '(unknown)';
  }
}

/** The program's own files, which no other user needs to read; PostgreSQL protects its own. */
const ours = [
  ...['lock', 'pid', 'secret-key', 'root-password', 'postgres-password', 'postgres-run', 'postgres.log'],
  ...['repositories', 'blobs', 'ci', 'uploads', 'mail', 'empty.git'],
];

/**
 * Removes other users' access to the data folder and the program's files: a folder that was created by hand,
 * or copied, is often open. Returns a line for each open one, also where it could not be changed.
 */
export function narrowDataFolder(folder: string): string[] {
  if (process.platform === 'win32') return [];
  // Root's PostgreSQL runs as another user, who must pass through except on Linux.
  const passable = process.platform !== 'linux' && process.getuid?.() === 0;
  return [
    ...narrow(folder, passable ? 0o711 : 0o700),
    ...ours.flatMap((name) => narrow(join(folder, name), 0o700)),
  ];
}

function narrow(path: string, most: number): string[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  const mode = (found?.mode ?? 0) & 0o777;
  if (!found || found.isSymbolicLink() || (mode & ~most) === 0) return [];
  const [was, is] = [mode.toString(8), (mode & most).toString(8)];
  try {
    chmodSync(path, mode & most);
    return [`${path} was open to other users (mode ${was}) and is not any more (${is})`];
  } catch (error) {
    const { message } = error as Error;
    return [`${path} is open to other users (mode ${was}), which only its owner can change: ${message}`];
  }
}

/**
 * The text of a secret file in the data folder; where it is missing, `make` gives the text, which is stored
 * durably with mode 600 first. Concurrent processes all get the first one's text.
 */
export async function readOrCreateSecretFile(
  dataFolder: string,
  name: string,
  make: () => string,
): Promise<string> {
  const path = join(dataFolder, name);
  const stored = await readSecretFile(dataFolder, name);
  if (stored !== undefined) return stored;
  const text = make();
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, `${text}\n`, { flag: 'wx', mode: 0o600, flush: true });
    // A link appears whole or not at all, and never replaces a file.
    await link(draft, path);
  } catch (error) {
    const other = await readSecretFile(dataFolder, name);
    if (other === undefined) throw error;
    return other;
  } finally {
    await rm(draft, { force: true });
  }
  await syncFolder(dataFolder);
  return text;
}

/** The text of a secret file in the data folder; undefined where it is missing. */
export async function readSecretFile(dataFolder: string, name: string): Promise<string | undefined> {
  try {
    return (await readFile(join(dataFolder, name), 'utf8')).trimEnd();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Makes creations and renames in a folder durable, so that they survive a power failure. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
