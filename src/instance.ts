/** The instance that a command works on: its data folder, its database when that is ours, and the migrations. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from './config.ts';
import { packageFolder } from './package.ts';
import { openDataFolder, readOrCreateSecretFile } from './platform/db/data-folder.ts';
import type { ConnectionTarget } from './platform/db/database.ts';
import { type EmbeddedPostgres, launchEmbedded } from './platform/db/embedded.ts';
import { randomHex } from './platform/secret.ts';

export const migrationsFolder = join(packageFolder, 'migrations');

export type Opened = {
  /** Takes connections when migrate() has resolved. */
  target: ConnectionTarget;
  secretKey: string;
  embedded: EmbeddedPostgres | undefined;
  /** Waits for the database and brings it up to date; returns the names of the migrations applied now. */
  migrate(): Promise<string[]>;
  close(): Promise<void>;
};

/** Opens the data folder, takes its lock, and launches the embedded database unless DATABASE_URL names another. */
export async function openInstance(config: Config): Promise<Opened> {
  const folder = await openDataFolder(config.data);
  try {
    // Only below the data folder: elsewhere, a folder that is not there may be a disk that is not mounted.
    for (const storage of config.storages.values())
      if (storage.startsWith(`${folder.path}/`)) await mkdir(storage, { recursive: true, mode: 0o700 });
    const secretKey =
      config.secretKey ?? (await readOrCreateSecretFile(folder.path, 'secret-key', () => randomHex(32)));
    const embedded = config.databaseUrl === undefined ? await launchEmbedded(folder.path) : undefined;
    const target = config.databaseUrl ?? embedded?.connection;
    if (target === undefined) throw new Error('no database');
    let spare: Promise<unknown> | undefined;
    return {
      target,
      secretKey,
      embedded,
      async migrate() {
        await embedded?.ready();
        const applied = await migrateDatabase(target);
        // Where it fails, the next start tries again.
        if (embedded) spare = makeSpareLog(target).catch(() => undefined);
        return applied;
      },
      async close() {
        await embedded?.stop();
        await spare;
        await folder.close();
      },
    };
  } catch (error) {
    await folder.close();
    throw error;
  }
}

/**
 * Gives a cluster that has only the log file it writes to a second one. The server goes down where it needs one and the disk
 * is full; later it keeps those that it is done with, so that it rarely has to make one. Nobody waits for this.
 */
async function makeSpareLog(target: ConnectionTarget): Promise<void> {
  const { connect } = await import('./platform/db/database.ts');
  const sql = connect(target, { max: 1, statementTimeout: 0, name: 'spare log' });
  try {
    const [row] = await sql<{ files: number }[]>`select count(*)::int as files from pg_ls_waldir()`;
    if (row?.files !== 1) return;
    await sql`select pg_switch_wal()`;
    await sql`checkpoint`;
  } finally {
    await sql.end();
  }
}

/** Brings a database up to date; returns the names of the migrations applied now. */
export async function migrateDatabase(target: ConnectionTarget): Promise<string[]> {
  // Loaded late: the embedded database is on its way before this process reads its drivers.
  const { connect } = await import('./platform/db/database.ts');
  const { migrate } = await import('./platform/db/migrations.ts');
  const { migrateJobs } = await import('./platform/jobs/jobs.ts');
  const sql = connect(target, { max: 1, statementTimeout: 0, name: 'migrate' });
  try {
    return await migrate(sql, migrationsFolder, () => migrateJobs(target));
  } finally {
    await sql.end();
  }
}
