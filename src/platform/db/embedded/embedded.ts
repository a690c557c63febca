/**
 * The embedded PostgreSQL: created in the data folder at first start, run for one process, reached by a Unix
 * socket only.
 */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import {
  chownSync,
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomText } from '../../secret.ts';
import { readOrCreateSecretFile, readSecretFile, syncFolder } from '../data-folder.ts';
import type { ConnectionTarget } from '../database.ts';
import { type CopiedServer, copyRows } from './copy-rows.ts';
import { findOldPrograms, findPrograms, isPassable, preparePrograms, type ServerUser } from './programs.ts';
import { readPostmaster, shutDown, stopOrphans } from './shutdown.ts';

export type EmbeddedPostgres = {
  /** For the driver. `host` is the socket's folder. */
  connection: { host: string; port: number; user: string; password: string; database: string };
  pid: number;
  /** Ends connections, flushes data and waits, about 10 s at most. */
  stop(): Promise<void>;
  /** Resolves when the server has ended, for whatever reason. */
  exited: Promise<void>;
};

const VERSION = '18';
const USER = 'ashlar';
const PORT = 5432;
/** Bytes. */
const MAX_LOG_BYTES = 8 * 1024 * 1024;
/** Milliseconds. */
const STARTUP_TIMEOUT_MS = 300_000;

/** The user that owns no files on any system; PostgreSQL refuses root. */
const nobody: ServerUser = { uid: 65534, gid: 65534 };

/** Low memory; durable; alone: no TCP, no replication, no parallel workers. */
const defaults: Record<string, string> = {
  listen_addresses: '',
  port: String(PORT),
  unix_socket_permissions: '0700',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  max_connections: '60',
  shared_buffers: '32MB',
  effective_cache_size: '1GB',
  maintenance_work_mem: '32MB',
  random_page_cost: '1.1',
  jit: 'off',
  huge_pages: 'off',
  io_method: 'sync',
  autovacuum_worker_slots: '2',
  autovacuum_max_workers: '2',
  max_worker_processes: '4',
  max_parallel_workers_per_gather: '1',
  max_logical_replication_workers: '0',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '512MB',
  TimeZone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // Errors without parameter values, which may be a user's address or secret.
  log_min_messages: 'error',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
};

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
  /**
   * Makes the tables of an older server's database in an empty one of ours. Without it a cluster of an older PostgreSQL is
   * refused; with it, all is copied.
   */
  makeTables?: (older: ConnectionTarget, ours: ConnectionTarget) => Promise<void>;
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
      await makeDraft(place, password);
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

const draftOf = (cluster: string): string => `${cluster}.new`;
/** A draft that is whole, with all rows. */
const movedOf = (cluster: string): string => `${cluster}.moved`;

/** What servers of all majors know. */
const { io_method: _, autovacuum_worker_slots: __, ...plain } = defaults;

/**
 * Brings the database of an older PostgreSQL into a cluster of ours, which takes the place of the old one. That one stays, under
 * the name of its version. A kill at any moment leaves the old cluster whole, or the new one.
 */
async function moveCluster(
  dataFolder: string,
  place: ServerLocation,
  password: string,
  version: string,
  makeTables: LaunchOptions['makeTables'],
): Promise<void> {
  const { cluster, user, host } = place;
  if (Number(version) > Number(VERSION) || makeTables === undefined)
    throw new Error(
      `${cluster} was made by PostgreSQL ${version}, and this is ${VERSION}: start the version of Ashlar that used it last` +
        (Number(version) > Number(VERSION) ? ', or a later one' : ''),
    );
  const kept = `${cluster}-${version}`;
  if (existsSync(kept)) throw new Error(`${kept} is in the way of an upgrade: move it elsewhere`);
  const tell = (line: string) => process.stderr.write(`ashlar: ${line}\n`);
  const native = findOldPrograms(dataFolder, version);
  const spare = join(host, 'programs-older');
  mkdirSync(spare, { mode: 0o755 });
  const older = preparePrograms(native, user, join(spare, 'native'));
  tell(
    `the database is brought from PostgreSQL ${version} to ${VERSION}, which takes as long as to write all of it`,
  );
  await makeDraft(place, password);
  const connection = { port: PORT, user: USER, password, database: 'postgres' };
  const begin = async (programs: string, of: string, name: string, settings: Record<string, string>) => {
    const own = join(host, name);
    mkdirSync(own, { mode: 0o700 });
    if (user !== undefined) chownSync(own, user.uid, user.gid);
    const server = launch(dataFolder, { cluster: of, user, host: own, programs }, settings);
    await server.ready();
    return { server, copied: { target: { ...connection, host: own }, cluster: of } satisfies CopiedServer };
  };
  const from = await begin(older, cluster, 'older', plain);
  try {
    const to = await begin(place.programs, draftOf(cluster), 'ours', defaults);
    try {
      await makeTables(from.copied.target, to.copied.target);
      await copyRows(from.copied, to.copied);
    } finally {
      await to.server.stop();
    }
  } finally {
    await from.server.stop();
  }
  renameSync(draftOf(cluster), movedOf(cluster));
  await syncFolder(dataFolder);
  renameSync(cluster, kept);
  await syncFolder(dataFolder);
  await finishMove(dataFolder, cluster);
  tell(`the database is PostgreSQL ${VERSION} now; ${kept} has it as it was: remove that when all is well`);
}

/** The last step. While the old cluster has its name, it may have been written to since: then all is done anew. */
async function finishMove(dataFolder: string, cluster: string): Promise<void> {
  const moved = movedOf(cluster);
  if (!existsSync(moved)) return;
  if (existsSync(cluster)) rmSync(moved, { recursive: true });
  else renameSync(moved, cluster);
  await syncFolder(dataFolder);
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

type RunningServer = Pick<EmbeddedPostgres, 'pid' | 'stop' | 'exited'> & { ready(): Promise<void> };

type ServerLocation = { cluster: string; user: ServerUser | undefined; host: string; programs: string };

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

const logFile = (dataFolder: string) => join(dataFolder, 'postgres.log');
const runFolderRecord = (dataFolder: string) => join(dataFolder, 'postgres-run');

/** A copied data folder has the record of the original's run folder, which stays. */
function removeRunFolder(dataFolder: string): void {
  const record = runFolderRecord(dataFolder);
  if (!existsSync(record)) return;
  const folder = readFileSync(record, 'utf8');
  const owner = join(folder, 'data-folder');
  if (existsSync(owner) && readFileSync(owner, 'utf8') === dataFolder) rmSync(folder, { recursive: true });
}

/** Runs initdb in a draft folder, which is renamed when it is whole: an existing cluster is complete and durable. */
async function makeDraft(place: ServerLocation, password: string): Promise<void> {
  const draft = draftOf(place.cluster);
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  const passwordFile = join(place.host, 'password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (place.user !== undefined) {
    chownSync(draft, place.user.uid, place.user.gid);
    chownSync(passwordFile, place.user.uid, place.user.gid);
  }
  const child = run(
    place,
    draft,
    'initdb',
    ['ignore', 'ignore', 'pipe'],
    [
      `--username=${USER}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // The collation depends on no library of the host.
      '--locale-provider=builtin',
      '--locale=C.UTF-8',
      '--no-instructions',
    ],
  );
  let complaint = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  const end = await new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) =>
      resolve(code === 0 ? '' : complaint.trim() || `ended by ${signal ?? code}`),
    );
  });
  rmSync(passwordFile);
  if (end !== '')
    throw new Error(
      `the embedded PostgreSQL could not be made: ${end} (a PostgreSQL of your own is used with DATABASE_URL)`,
    );
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

function launch(dataFolder: string, place: ServerLocation, settings: Record<string, string>): RunningServer {
  const log = openLog(logFile(dataFolder));
  const all = { ...settings, unix_socket_directories: `"${place.host.replaceAll('"', '""')}"` };
  const args = Object.entries(all).map(([name, value]) => `--${name}=${value}`);
  const child = run(place, place.cluster, 'postgres', ['ignore', log.file, log.file], args);
  let end: string | undefined;
  const exited = new Promise<void>((resolve) => {
    const finish = (reason: string) => {
      end ??= reason;
      log.close();
      resolve();
    };
    child.on('error', (error) => finish(error.message));
    child.on('exit', (code, signal) => finish(`ended by ${signal ?? code}`));
  });
  const stop = async () => {
    await shutDown(
      (signal) => child.kill(signal),
      () => end !== undefined,
    );
    rmSync(place.host, { recursive: true, force: true });
  };
  const ready = async () => {
    for (let waited = 0; end === undefined && waited < STARTUP_TIMEOUT_MS; waited += 5) {
      const postmaster = readPostmaster(place.cluster);
      if (postmaster?.ready && postmaster.pid === child.pid) return;
      await sleep(5);
    }
    const reason = end ?? 'not ready in time';
    await stop();
    throw new Error(
      `the database in ${place.cluster} did not start: ${log.complaint(place.cluster) || reason}. More is in ${logFile(dataFolder)}; ` +
        'where its files are damaged, keep a copy of the data folder as it is, and put a backup in its place',
    );
  };
  // Without a pid there is an error event, which ready() throws.
  return { pid: child.pid ?? 0, stop, exited, ready };
}

/**
 * Runs a program on a cluster. The working folder is entered before the user changes, and then named as
 * /proc/self/cwd: so the server works below folders that its user may not enter (Linux; elsewhere root must
 * keep the data where all users may enter). The environment has only what initdb needs: no PG* variable takes
 * effect, and no secret is passed on. Its own process group lets this process handle Ctrl-C in order.
 */
function run(
  place: ServerLocation,
  cluster: string,
  program: string,
  stdio: NonNullable<SpawnOptions['stdio']>,
  args: string[],
): ChildProcess {
  const folder = process.platform === 'linux' ? '/proc/self/cwd' : cluster;
  return spawn(join(place.programs, 'bin', program), ['-D', folder, ...args], {
    ...place.user,
    cwd: cluster,
    stdio,
    detached: true,
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
  });
}

/** The server's log, truncated at its limit: only the latest lines matter. */
function openLog(path: string) {
  const file = openSync(path, 'a+', 0o600);
  const limit = () => {
    if (fstatSync(file).size > MAX_LOG_BYTES) ftruncateSync(file);
  };
  limit();
  const start = fstatSync(file).size;
  const timer = setInterval(limit, 60_000).unref();
  return {
    file,
    close: () => {
      clearInterval(timer);
      closeSync(file);
    },
    /**
     * The reason of the server's end: its last fatal message since the log was opened, with the line before,
     * else its last lines.
     */
    complaint: (cluster: string) => {
      const lines = readFileSync(path).subarray(start).toString().trim().split('\n');
      const fatal = lines.findLastIndex((line) => /\b(FATAL|PANIC):/.test(line));
      const last = fatal < 0 ? lines.slice(-3) : lines.slice(0, fatal + 1).slice(-2);
      // Without time and process.
      const said = last.map((line) => line.replace(/^.*?\] \w+: +/, ''));
      return said.join('; ').replaceAll('/proc/self/cwd', cluster);
    },
  };
}
