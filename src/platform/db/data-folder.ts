/** The data folder: made, held by one process at a time, and the place of the secrets that the program makes for itself. */
import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { link, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export type DataFolder = {
  /** Absolute. */
  path: string;
  close(): Promise<void>;
};

/**
 * Makes the folder where it is missing (mode 700) and holds it until `close` or the end of the process. Throws an Error
 * of one line when it cannot be written or another process holds it; that process is named.
 */
export async function openDataFolder(path: string): Promise<DataFolder> {
  const folder = resolve(path);
  try {
    const made = await makeFolder(folder);
    if (made !== undefined) await syncFolder(dirname(made));
    const release = hold(folder);
    return { path: folder, close: async () => release() };
  } catch (error) {
    throw new Error(`data folder ${folder}: ${(error as Error).message}`, { cause: error });
  }
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
    throw new Error(`in use by process ${holder(pidFile)}; stop that first, or choose another folder`);
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
  const stored = await readSecret(path);
  if (stored !== undefined) return stored;
  const text = make();
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, `${text}\n`, { flag: 'wx', mode: 0o600, flush: true });
    // A link appears whole or not at all, and never replaces what is there.
    await link(draft, path);
  } catch (error) {
    const other = await readSecret(path);
    if (other === undefined) throw error;
    return other;
  } finally {
    await rm(draft, { force: true });
  }
  await syncFolder(dataFolder);
  return text;
}

async function readSecret(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trimEnd();
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
