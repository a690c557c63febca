/**
 * The embedded PostgreSQL: created in the data folder at first start, run for one process, reached by a Unix
 * socket only.
 */
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomText } from '../../secret.ts';
import { readOrCreateSecretFile, readSecretFile, syncFolder } from '../data-folder.ts';
import { draftOf, finishMove, type MakeTables, moveCluster } from './move-cluster.ts';
import { findPrograms, isPassable, preparePrograms, type ServerUser } from './programs.ts';
import {
  createCluster,
  defaults,
  launch,
  logFile,
  PORT,
  type RunningServer,
  type ServerLocation,
  USER,
  VERSION,
} from './server.ts';
import { stopOrphans } from './shutdown.ts';

export type EmbeddedPostgres = Omit<RunningServer, 'ready'> & {
  /** For the driver. `host` is the socket's folder. */
  connection: { host: string; port: number; user: string; password: string; database: string };
};

/** The user that owns no files on any system; PostgreSQL refuses root. */
const nobody: ServerUser = { uid: 65534, gid: 65534 };

/** A server that may not take connections yet, or has no cluster yet. */
export type LaunchedPostgres = Omit<EmbeddedPostgres, 'pid'> & {
  /**
   * Resolves when it accepts connections, which takes longer after a crash, while it replays its log. Throws
   * with the server's messages.
   */
  ready(): Promise<EmbeddedPostgres>;
};

type LaunchOptions = {
  settings?: Record<string, string>;
  /** Without it a cluster of an older PostgreSQL is refused; with it, all is copied. */
  makeTables?: MakeTables;
};

/**
 * Starts the server on `<dataFolder>/postgres`, or at first the program that creates the cluster, and waits for neither: the
 * caller computes meanwhile. The caller has locked the data folder. An orphaned server is stopped first, never adopted.
 */
export async function launchEmbedded(
  dataFolder: string,
  options: LaunchOptions = {},
): Promise<LaunchedPostgres> {
  const cluster = join(dataFolder, 'postgres');
  const programs = findPrograms();
  await finishMove(dataFolder, cluster);
  refuseLoss(dataFolder, cluster);
  const password = await readOrCreateSecretFile(dataFolder, 'postgres-password', () => randomText(24));
  const user = serverUser(cluster);
  await stopOrphans(cluster);
  await stopOrphans(draftOf(cluster));
  removeRunFolder(dataFolder);
  const host = makeRunFolder(dataFolder, user);
  const starting = startServer(dataFolder, { cluster, user, host, programs }, password, options);
  const started = starting.catch(() => undefined);
  const connection = { host, port: PORT, user: USER, password, database: 'postgres' };
  return {
    connection,
    async ready() {
      const server = await starting;
      await server.ready();
      return { connection, ...server };
    },
    stop: async () => (await started)?.stop(),
    exited: started.then((server) => server?.exited),
  };
}

/** Starts the programs from where the server's user can reach them. */
async function startServer(
  dataFolder: string,
  reached: ServerLocation,
  password: string,
  options: LaunchOptions,
): Promise<RunningServer> {
  const { cluster, user, host } = reached;
  try {
    const programs = preparePrograms(reached.programs, user, join(host, 'native'));
    const place = { ...reached, programs };
    if (!existsSync(cluster)) {
      await createCluster({ ...place, cluster: draftOf(cluster) }, password);
      renameSync(draftOf(cluster), cluster);
      await syncFolder(dataFolder);
    }
    const version = versionOf(cluster);
    if (version !== VERSION) await moveCluster(dataFolder, place, password, version, options.makeTables);
    return launch(dataFolder, place, { ...defaults, ...options.settings });
  } catch (error) {
    rmSync(host, { recursive: true, force: true });
    throw error;
  }
}

/** The same, and waits until it is ready. */
export async function startEmbedded(
  dataFolder: string,
  options: LaunchOptions = {},
): Promise<EmbeddedPostgres> {
  const launched = await launchEmbedded(dataFolder, options);
  return launched.ready();
}

/** The connection to another process's server on the data folder; undefined without a record of one. */
export async function reachEmbedded(dataFolder: string): Promise<EmbeddedPostgres['connection'] | undefined> {
  const record = runFolderRecord(dataFolder);
  if (!existsSync(record)) return undefined;
  const password = (await readSecretFile(dataFolder, 'postgres-password')) ?? '';
  return { host: readFileSync(record, 'utf8'), port: PORT, user: USER, password, database: 'postgres' };
}

/** Root runs the server as the cluster's owner. Undefined: as the current user. */
function serverUser(cluster: string): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  if (!existsSync(cluster)) return nobody;
  const { uid, gid } = statSync(cluster);
  return uid === 0 ? nobody : { uid, gid };
}

/**
 * A folder with a path short enough for a socket (107 bytes), which only the server's user can enter. It is
 * recorded in the data folder, and the data folder in it, so that the next start can remove it.
 */
function makeRunFolder(dataFolder: string, user: ServerUser | undefined): string {
  const parents = [tmpdir(), '/tmp', '/var/tmp'].filter(existsSync).map((path) => realpathSync(path));
  const parent = parents.find(
    (path) => Buffer.byteLength(path) < 70 && (user === undefined || isPassable(path)),
  );
  if (parent === undefined)
    throw new Error(`no folder for the socket of PostgreSQL: set TMPDIR to a short one`);
  const folder = mkdtempSync(join(parent, 'ashlar-'));
  writeFileSync(runFolderRecord(dataFolder), folder, { mode: 0o600 });
  writeFileSync(join(folder, 'data-folder'), dataFolder);
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  return folder;
}

const runFolderRecord = (dataFolder: string) => join(dataFolder, 'postgres-run');

/** A copied data folder has the record of the original's run folder, which stays. */
function removeRunFolder(dataFolder: string): void {
  const record = runFolderRecord(dataFolder);
  if (!existsSync(record)) return;
  const folder = readFileSync(record, 'utf8');
  const owner = join(folder, 'data-folder');
  if (existsSync(owner) && readFileSync(owner, 'utf8') === dataFolder) rmSync(folder, { recursive: true });
}

/** A lost half of a folder is not created anew, because the other half would be useless with it. */
function refuseLoss(dataFolder: string, cluster: string): void {
  const there = existsSync(cluster);
  const password = join(dataFolder, 'postgres-password');
  if (there && !existsSync(password)) {
    throw new Error(
      `${password} is missing, and ${cluster} cannot be entered without it: put the file back from a backup`,
    );
  }
  if (!there && existsSync(logFile(dataFolder))) {
    throw new Error(
      `${cluster} is missing, and a database has been there, as ${logFile(dataFolder)} shows: put it back from a backup, ` +
        'or begin anew on an empty folder',
    );
  }
}

/** The major of the PostgreSQL that made a cluster. */
function versionOf(cluster: string): string {
  const file = join(cluster, 'PG_VERSION');
  if (!existsSync(file))
    throw new Error(`${damaged(cluster)}: it has no PG_VERSION; put it back from a backup`);
  return readFileSync(file, 'utf8').trim();
}

const damaged = (cluster: string): string => `the database in ${cluster} is damaged`;

/** The error of a database that accepts connections and lacks files of its own. */
export const damagedDatabase = (dataFolder: string, error: Error): Error =>
  new Error(
    `${damaged(join(dataFolder, 'postgres'))}: ${error.message}; keep a copy of the data folder as it is, and put a backup in its place`,
    { cause: error },
  );
