/** The instance of a command: its data folder, its database when embedded, and the migrations. */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from './kernel/config.ts';
import { packageFolder } from './package.ts';
import {
  DataFolderInUse,
  isDataFolder,
  narrowDataFolder,
  openDataFolder,
  readOrCreateSecretFile,
  readSecretFile,
} from './platform/db/data-folder.ts';
import type { ConnectionTarget } from './platform/db/database.ts';
import {
  damagedDatabase,
  type LaunchedPostgres,
  launchEmbedded,
  reachEmbedded,
} from './platform/db/embedded/embedded.ts';
import { makeSpareLog } from './platform/db/embedded/spare-log.ts';
import { keyId, randomHex } from './platform/secret.ts';

export const migrationsFolder = join(packageFolder, 'migrations');

/** A file in a data folder while a restore fills it. */
export const RESTORING = '.restore-unfinished';

export type Opened = {
  /** Accepts connections when migrate() has resolved. */
  target: ConnectionTarget;
  secretKey: SecretKey;
  embedded: LaunchedPostgres | undefined;
  /** Waits for the database and migrates it; returns the names of the new migrations. */
  migrate(): Promise<string[]>;
  close(): Promise<void>;
};

/** Opens the data folder, takes its lock, and launches the embedded database unless DATABASE_URL names another. */
export async function openInstance(config: Config, { restoring = false } = {}): Promise<Opened> {
  if (!restoring && existsSync(join(config.data, RESTORING)))
    throw new Error(
      `a restore into ${config.data} was interrupted: remove what is in the folder, and restore again`,
    );
  const folder = await openDataFolder(config.data);
  try {
    for (const line of narrowDataFolder(folder.path)) process.stderr.write(`ashlar: ${line}\n`);
    // Only below the data folder: elsewhere a missing folder may be an unmounted disk.
    for (const storage of config.storages.values())
      if (storage.startsWith(`${folder.path}/`)) await mkdir(storage, { recursive: true, mode: 0o700 });
    requireFiles(config);
    const secretKey = await readSecretKey(config);
    const embedded =
      config.databaseUrl === undefined ? await launchEmbedded(folder.path, { makeTables }) : undefined;
    const target = config.databaseUrl ?? embedded?.connection;
    if (target === undefined) throw new Error('no database');
    let spare: Promise<unknown> | undefined;
    return {
      target,
      secretKey,
      embedded,
      async migrate() {
        await embedded?.ready();
        const applied = await migrateDatabase(target, config).catch((error: unknown) => {
          throw embedded && isDamage(error) ? damagedDatabase(folder.path, error) : error;
        });
        // If it fails, the next start tries again.
        if (embedded) spare = makeSpareLog(target).catch(() => undefined);
        return applied;
      },
      async close() {
        // First: a connection that the server closes while it opens throws where nothing catches it.
        await spare;
        await embedded?.stop();
        await folder.close();
      },
    };
  } catch (error) {
    await folder.close();
    throw error;
  }
}

type Folders = Pick<Config, 'data' | 'files'>;

/** Files in a folder of their own are all there: what the data folder has of them would be missing. */
function requireFiles({ data, files }: Folders): void {
  if (files === data) return;
  // A missing folder may be an unmounted disk.
  if (!existsSync(files)) throw new Error(`ASHLAR_FILES names ${files}, which is not there`);
  const left = ['blobs', 'ci'].map((name) => join(data, name)).filter((folder) => existsSync(folder));
  if (left.length > 0)
    throw new Error(
      `there are files in ${left.join(' and ')} still: move them to ${files}, into folders of these names`,
    );
}

/** PostgreSQL's codes for a missing or damaged database, file or page. */
const isDamage = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && /^(3D000|58P01|XX...)$/.test(String(error.code));

export type Reached = { target: ConnectionTarget; close(): Promise<void> };

/**
 * The database for a command that changes a few rows, beside a running server or without one. It neither
 * creates a data folder nor migrates a database that other processes may be using.
 */
export async function reachDatabase(config: Config): Promise<Reached> {
  if (config.databaseUrl !== undefined) return reachCurrent(config.databaseUrl);
  if (!isDataFolder(config.data)) {
    throw new Error(
      `no Ashlar has been started on ${config.data} yet: name the data folder in ASHLAR_DATA, or start the server once`,
    );
  }
  try {
    const opened = await openInstance(config);
    try {
      await opened.migrate();
      return opened;
    } catch (error) {
      await opened.close();
      throw error;
    }
  } catch (error) {
    if (!(error instanceof DataFolderInUse)) throw error;
    const target = await reachEmbedded(config.data);
    const busy = `process ${error.holder} holds ${config.data}, and its database takes no connections: it is starting or stopping; try again in a moment`;
    if (target === undefined) throw new Error(busy);
    return reachCurrent(target, busy);
  }
}

async function reachCurrent(target: ConnectionTarget, whenUnreachable?: string): Promise<Reached> {
  const { connect, pingDatabase } = await import('./platform/db/database.ts');
  const { requireCurrent } = await import('./platform/db/migrations.ts');
  const sql = connect(target, { max: 1, statementTimeout: 10_000, name: 'command' });
  try {
    if (whenUnreachable !== undefined) {
      await pingDatabase(sql).catch((cause: unknown) => {
        throw new Error(whenUnreachable, { cause });
      });
    }
    await requireCurrent(sql, migrationsFolder);
  } finally {
    await sql.end();
  }
  return { target, close: async () => {} };
}

export type SecretKey = {
  text: string;
  /**
   * Stores a new key if `started`, the id of the key that the database was started with, matches it; throws
   * the problem and its remedy otherwise.
   */
  accept(started: string): Promise<void>;
};

/** The key from the setting, else from the data folder; without either, a new one that accept() stores. */
export async function readSecretKey(config: Config): Promise<SecretKey> {
  const name = 'secret-key';
  const file = join(config.data, name);
  const stored = config.secretKey ?? (await readSecretFile(config.data, name));
  const text = stored ?? randomHex(32);
  return {
    text,
    async accept(started) {
      if (keyId(text) === started) {
        if (stored === undefined) await readOrCreateSecretFile(config.data, name, () => text);
        return;
      }
      if (stored === undefined) {
        throw new Error(
          `${file} is missing, and only its key opens what this database has sealed: two-factor secrets, the keys that sign ` +
            'identities, passwords of other services. Put the file back from a backup, or give its text in ASHLAR_SECRET_KEY; ' +
            'processes that share a database are all given the same',
        );
      }
      const kept = config.secretKey === undefined ? undefined : await readSecretFile(config.data, name);
      const advice =
        kept !== undefined && keyId(kept) === started
          ? `${file} holds that one, so unset ASHLAR_SECRET_KEY`
          : `give that one in ASHLAR_SECRET_KEY, or put it back into ${file} from a backup`;
      throw new Error(
        `${config.secretKey === undefined ? file : 'ASHLAR_SECRET_KEY'} is not the key that this database was started with: ${advice}`,
      );
    },
  };
}

/** Makes the tables that an older server's database has, as its migrations say, in an empty one. */
async function makeTables(older: ConnectionTarget, ours: ConnectionTarget): Promise<void> {
  const { connect } = await import('./platform/db/database.ts');
  const { migrateAsFar } = await import('./platform/db/migrations.ts');
  const { migrateJobs } = await import('./platform/jobs/jobs.ts');
  const options = { max: 2, statementTimeout: 0, name: 'move' };
  const [from, to] = [connect(older, options), connect(ours, options)];
  try {
    // The tables of the jobs' library are its own matter: both servers have them as it has them now.
    await migrateAsFar(from, to, migrationsFolder);
    for (const target of [older, ours]) await migrateJobs(target);
  } finally {
    await from.end();
    await to.end();
  }
}

/** Migrates a database and its data folder; returns the names of the new migrations. */
export async function migrateDatabase(target: ConnectionTarget, folders: Folders): Promise<string[]> {
  // Loaded late: the embedded database starts before this process reads its drivers.
  const { connect } = await import('./platform/db/database.ts');
  const { migrate } = await import('./platform/db/migrations.ts');
  const { migrateJobs } = await import('./platform/jobs/jobs.ts');
  const { adoptFiles } = await import('./kernel/files/adopt-actions.ts');
  const sql = connect(target, { max: 2, statementTimeout: 0, name: 'migrate' });
  try {
    return await migrate(sql, migrationsFolder, async () => {
      await migrateJobs(target);
      await adoptFiles(sql, folders, (line) => process.stderr.write(`ashlar: ${line}\n`));
    });
  } finally {
    await sql.end();
  }
}
