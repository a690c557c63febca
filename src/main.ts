/** serve: opens the data folder, starts the database when it is ours, starts the app, and stops on signals. */
import { mkdir } from 'node:fs/promises';
import { type AppOptions, createApp, migrationsFolder } from './app.ts';
import type { Config } from './config.ts';
import { prepareInstance } from './domain/accounts/first-start.ts';
import { openDataFolder, readOrCreateSecretFile } from './platform/db/data-folder.ts';
import { type ConnectionTarget, connect } from './platform/db/database.ts';
import { type EmbeddedPostgres, startEmbedded } from './platform/db/embedded.ts';
import { migrate } from './platform/db/migrations.ts';
import { forgetProcesses } from './platform/db/processes.ts';
import { migrateJobs } from './platform/jobs/jobs.ts';
import { createLog } from './platform/log.ts';
import { releaseStartMemory } from './platform/memory.ts';
import { randomHex, randomText } from './platform/secret.ts';

export type Opened = {
  target: ConnectionTarget;
  secretKey: string;
  embedded: EmbeddedPostgres | undefined;
  close(): Promise<void>;
};

/** Opens the data folder, takes its lock, and starts the embedded database unless DATABASE_URL names another. */
export async function openInstance(config: Config): Promise<Opened> {
  const folder = await openDataFolder(config.data);
  try {
    // Only below the data folder: elsewhere, a folder that is not there may be a disk that is not mounted.
    for (const storage of config.storages.values())
      if (storage.startsWith(`${folder.path}/`)) await mkdir(storage, { recursive: true, mode: 0o700 });
    const secretKey =
      config.secretKey ?? (await readOrCreateSecretFile(folder.path, 'secret-key', () => randomHex(32)));
    const embedded = config.databaseUrl === undefined ? await startEmbedded(folder.path) : undefined;
    const target = config.databaseUrl ?? embedded?.connection;
    if (target === undefined) throw new Error('no database');
    return {
      target,
      secretKey,
      embedded,
      async close() {
        await embedded?.stop();
        await folder.close();
      },
    };
  } catch (error) {
    await folder.close();
    throw error;
  }
}

/** Brings the database up to date; returns the names of the migrations applied now. */
export async function migrateInstance(target: ConnectionTarget): Promise<string[]> {
  const sql = connect(target, { max: 1, statementTimeout: 0, name: 'migrate' });
  try {
    return await migrate(sql, migrationsFolder, () => migrateJobs(target));
  } finally {
    await sql.end();
  }
}

type Ending = { reason: string; code: number };

/** Serves until a signal; resolves with the exit code. */
export async function serve(config: Config, options: Pick<AppOptions, 'capabilities'> = {}): Promise<number> {
  const log = createLog((text) => process.stdout.write(text));
  // Heard from the first moment on: a signal during the start is obeyed when the start is done.
  const { promise: ended, resolve: end } = Promise.withResolvers<Ending>();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => end({ reason: signal, code: 0 }));
  // The driver can throw outside any request when its connection is cut off under load. Nothing acknowledged is lost by
  // ending in good order; going on with a driver in an unknown state could hang.
  process.on('uncaughtException', (error) => {
    log.error('fault outside any request', error);
    end({ reason: 'a fault outside any request', code: 1 });
  });
  const opened = await openInstance(config);
  let app: ReturnType<typeof createApp> | undefined;
  try {
    void opened.embedded?.exited.then(() => end({ reason: 'the embedded database ended', code: 1 }));
    await migrateInstance(opened.target);
    app = createApp({ ...options, config, target: opened.target, secretKey: opened.secretKey, log });
    // The data folder's lock is ours, so nobody else is on its database: what the last process held is free at once.
    if (opened.embedded) await forgetProcesses(app.services.database.background);
    const password =
      config.rootPassword ??
      (await readOrCreateSecretFile(config.data, 'root-password', () => randomText(18)));
    await prepareInstance(app.services, { rootPassword: password });
    const address = await app.start();
    process.stdout.write(
      [
        `Ashlar serves ${config.url ?? address}${config.url && config.url !== address ? ` (listening on ${address})` : ''}`,
        `  data folder     ${config.data}`,
        `  root's password ${config.rootPassword === undefined ? `${config.data}/root-password` : 'as ASHLAR_ROOT_PASSWORD says'}`,
        '',
      ].join('\n'),
    );
    releaseStartMemory();
    const { reason, code } = await ended;
    process.stdout.write(`Ashlar stops: ${reason}\n`);
    if (code !== 0) await endAtOnce(opened, code);
    return code;
  } finally {
    await app?.stop();
    await opened.close();
  }
}

/**
 * Ends without waiting for what is in flight: with the database gone, or the driver in an unknown state, it might wait
 * for ever. What was acknowledged is durable, and the next start finds it.
 */
async function endAtOnce(opened: Opened, code: number): Promise<never> {
  const patience = setTimeout(() => process.exit(code), 5_000);
  await opened.close().catch(() => {});
  clearTimeout(patience);
  process.exit(code);
}
