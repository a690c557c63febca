/** Stops PostgreSQL servers: our own, and orphans of a killed process. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Fast, immediate and forced shutdown, each with its milliseconds. */
const steps = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
] as const;

/** Sends stronger signals in turn until `hasEnded`; false when none helped. */
export async function shutDown(
  send: (signal: NodeJS.Signals) => void,
  hasEnded: () => boolean,
): Promise<boolean> {
  for (const [signal, milliseconds] of steps) {
    if (hasEnded()) return true;
    send(signal);
    for (let waited = 0; waited < milliseconds && !hasEnded(); waited += 10) await sleep(10);
  }
  return hasEnded();
}

/**
 * Stops servers that still run on this cluster, whose data folder the caller has locked. Afterwards no pid
 * file is left: a zombie's or reused pid in `postmaster.pid` would make the next server refuse to start.
 */
export async function stopOrphans(cluster: string): Promise<void> {
  const pidFile = join(cluster, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const master = readPostmaster(cluster)?.pid;
  const gone = await shutDown(
    (signal) => {
      const running = serverProcesses(cluster);
      // The postmaster ends its processes in order; without one, each gets the signal.
      const told = signal === 'SIGINT' ? running.filter((pid) => pid === master) : running;
      for (const pid of told) kill(pid, signal);
    },
    () => serverProcesses(cluster).length === 0,
  );
  if (!gone)
    throw new Error(
      `PostgreSQL (process ${serverProcesses(cluster)[0]}) still uses ${cluster} and does not end`,
    );
  rmSync(pidFile, { force: true });
}

/** The server's own record in its cluster; undefined without one. */
export function readPostmaster(cluster: string): { pid: number; ready: boolean } | undefined {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
    return { pid: Number(lines[0]), ready: lines[7]?.trim() === 'ready' };
  } catch {
    return undefined;
  }
}

/** Live server processes of this cluster; without /proc, only the one in `postmaster.pid`. */
function serverProcesses(cluster: string): number[] {
  if (process.platform !== 'linux') {
    const { pid } = readPostmaster(cluster) ?? {};
    if (pid === undefined) return [];
    const { stdout } = spawnSync('ps', ['-p', String(pid), '-o', 'command='], { encoding: 'utf8' });
    return stdout.includes(cluster) ? [pid] : [];
  }
  const { dev, ino } = statSync(cluster);
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      try {
        // All work in the cluster's folder; a zombie has no working folder.
        const folder = statSync(`/proc/${pid}/cwd`);
        return (
          folder.ino === ino &&
          folder.dev === dev &&
          readFileSync(`/proc/${pid}/comm`, 'utf8') === 'postgres\n'
        );
      } catch {
        return false;
      }
    });
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
