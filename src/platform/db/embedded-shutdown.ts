/** Ending a PostgreSQL server: our own, and those that a killed process left behind. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Fast, immediate, by force: each with the milliseconds that it is given. */
const steps = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
] as const;

/** Sends ever harder signals until `hasEnded`; false when nothing helped. */
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
 * Stops what still runs on this cluster. Only for the holder of its data folder. Afterwards nothing in it claims to be
 * running: a zombie's or a reused pid in `postmaster.pid` would make the next server refuse to start.
 */
export async function stopOrphans(cluster: string): Promise<void> {
  const pidFile = join(cluster, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const master = readPostmaster(cluster)?.pid;
  const gone = await shutDown(
    (signal) => {
      const running = serverProcesses(cluster);
      // The master ends its own in good order; without it each is told.
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

/** What a server says of itself in its cluster. Undefined when none does. */
export function readPostmaster(cluster: string): { pid: number; ready: boolean } | undefined {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
    return { pid: Number(lines[0]), ready: lines[7]?.trim() === 'ready' };
  } catch {
    return undefined;
  }
}

/** Living server processes of this cluster; where there is no /proc, only the one that `postmaster.pid` names. */
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
        // All of them work in the cluster's folder. A zombie works nowhere.
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
