/** The data folder: made, held by one process at a time, and the place of the secrets that the program makes for itself. */
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
  /** The process's id, as far as it is known. */
  readonly holder: string;

  constructor(folder: string, holder: string) {
    super(
      `data folder ${folder}: in use by process ${holder}; stop that first, or choose another folder with ASHLAR_DATA`,
    );
    this.holder = holder;
  }
}

/**
 * Makes the folder where it is missing (mode 700) and holds it until `close` or the end of the process. Throws an Error
 * of one line when it cannot be written, belongs to something else, or another process holds it; that process is named.
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
 * Makes the folder and what is missing above it; returns the topmost that was made. Level by level: where making says
 * that the parent is missing though it is there (below /proc), Node's own `recursive` tries again for ever.
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

/** Every start makes the first; a copy of a folder may lack it, and has one of the others. Also from earlier versions. */
const markers = ['lock', 'secret-key', 'postgres-password'];

/** May be there before the first start: mounts, a password to use, what a disk or a new home begins with. */
const mayBeThereFirst = /^(repositories|uploads|mail|root-password|lost\+found|\..*)$/;

const isMarked = (folder: string): boolean =>
  markers.some((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile());

/** Whether a start of this program has used the folder. Throws where that cannot be seen. */
export function isDataFolder(folder: string): boolean {
  try {
    return isMarked(folder);
  } catch (error) {
    throw problemOf(folder, error);
  }
}

/** A folder of something else would get our files among its own, and its mode and backups would be taken for ours. */
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
 * The lock is the kernel's, by way of SQLite, the one part of Node that locks files: it ends with its process however
 * that ends, so there is no stale lock to judge, by a pid that may be another's by now or be in another container.
 * No other code may open the file: closing it anywhere in a process would drop that process's lock.
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

/** What the program itself puts into the folder, and nobody else need read; PostgreSQL looks after its own. */
const ours = [
  ...['lock', 'pid', 'secret-key', 'root-password', 'postgres-password', 'postgres-run', 'postgres.log'],
  ...['repositories', 'uploads', 'mail', 'empty.git'],
];

/**
 * Takes the data folder, and what the program keeps in it, from everybody but its owner: a folder that was made by hand, or
 * copied, is often open. Returns a line for each that was open, also where that could not be changed.
 */
export function narrowDataFolder(folder: string): string[] {
  if (process.platform === 'win32') return [];
  // Root's PostgreSQL runs as another user, who elsewhere than on Linux has to pass through.
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
 * The text of a secret file in the data folder; where it is missing, `make` gives the text and it is stored, mode 600
 * and durable, before this returns. Of several processes at once, all get the text of the first.
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
    // A link appears whole or not at all, and never replaces what is there.
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

/** Makes the names in a folder durable: what was created or renamed in it is still there after a power failure. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
