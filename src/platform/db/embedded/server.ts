/** One server on one cluster: made by initdb, started, watched and stopped. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import {
  chownSync,
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerUser } from './programs.ts';
import { readPostmaster, shutDown } from './shutdown.ts';

/** The major of the programs that the package brings. */
export const VERSION = '18';
export const USER = 'ashlar';
export const PORT = 5432;
/** Bytes. */
const MAX_LOG_BYTES = 8 * 1024 * 1024;
/** Milliseconds. */
const STARTUP_TIMEOUT_MS = 300_000;

/** Low memory; durable; alone: no TCP, no replication, no parallel workers. */
export const defaults: Record<string, string> = {
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

export type RunningServer = {
  pid: number;
  /** Ends connections, flushes data and waits, about 10 s at most. */
  stop(): Promise<void>;
  /** Resolves when the server has ended, for whatever reason. */
  exited: Promise<void>;
  /** Resolves when it accepts connections; throws with the server's messages. */
  ready(): Promise<void>;
};

/** `host` is the folder of its socket, `programs` that of `bin`, `lib` and `share`. */
export type ServerLocation = {
  cluster: string;
  user: ServerUser | undefined;
  host: string;
  programs: string;
};

export const logFile = (dataFolder: string) => join(dataFolder, 'postgres.log');

/** Makes the cluster by initdb, in place of what a start that was cut off has left there. */
export async function createCluster(place: ServerLocation, password: string): Promise<void> {
  const { cluster } = place;
  // Its processes may still be ending there: rmSync() would stop where a file goes by itself, and not say so.
  await rm(cluster, { recursive: true, force: true, maxRetries: 5 });
  mkdirSync(cluster, { mode: 0o700 });
  const passwordFile = join(place.host, 'password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (place.user !== undefined) {
    chownSync(cluster, place.user.uid, place.user.gid);
    chownSync(passwordFile, place.user.uid, place.user.gid);
  }
  const child = run(
    place,
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

/** Starts the server on its cluster. */
export function launch(
  dataFolder: string,
  place: ServerLocation,
  settings: Record<string, string>,
): RunningServer {
  const log = openLog(logFile(dataFolder));
  const all = { ...settings, unix_socket_directories: `"${place.host.replaceAll('"', '""')}"` };
  const args = Object.entries(all).map(([name, value]) => `--${name}=${value}`);
  const child = run(place, 'postgres', ['ignore', log.file, log.file], args);
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
 * Runs a program on the cluster. The working folder is entered before the user changes, and then named as
 * /proc/self/cwd: so the server works below folders that its user may not enter (Linux; elsewhere root must
 * keep the data where all users may enter). The environment has only what initdb needs: no PG* variable takes
 * effect, and no secret is passed on. Its own process group lets this process handle Ctrl-C in order.
 */
function run(
  place: ServerLocation,
  program: string,
  stdio: NonNullable<SpawnOptions['stdio']>,
  args: string[],
): ChildProcess {
  const folder = process.platform === 'linux' ? '/proc/self/cwd' : place.cluster;
  return spawn(join(place.programs, 'bin', program), ['-D', folder, ...args], {
    ...place.user,
    cwd: place.cluster,
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
