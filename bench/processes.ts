/** Child processes of the bench, and the memory of a tree of processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const children: ChildProcess[] = [];

/** Runs a script of this folder on this Node and waits for the one line that it prints; its end is the bench's end. */
export async function startScript(
  script: string,
  args: string[],
): Promise<{ line: string; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [new URL(script, import.meta.url).pathname, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const ended = new Promise<void>((resolve) => child.on('exit', () => resolve()));
  for await (const line of createInterface({ input: child.stdout })) {
    child.stdout.resume();
    return {
      line,
      stop: () => {
        child.kill('SIGTERM');
        return ended;
      },
    };
  }
  throw new Error(`${script} ended before it was ready`);
}

/** Ends the running scripts of startScript(). */
export function endScripts(): void {
  for (const child of children) if (child.exitCode === null) child.kill('SIGKILL');
}

/** A process and all its descendants. */
function descendants(root: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        // After the name in parentheses: state, then the parent.
        const parent = Number(
          readFileSync(`/proc/${name}/stat`, 'utf8')
            .replace(/^.*\) \S+ /s, '')
            .split(' ')[0],
        );
        return [{ pid: Number(name), parent }];
      } catch {
        return [];
      }
    });
  const found = [root];
  for (const pid of found)
    found.push(...parents.filter(({ parent }) => parent === pid).map((process) => process.pid));
  return found;
}

/** Proportional set size of a process in MB; shared memory counts in part. Zero when it has ended. */
export function ownMemory(pid: number): number {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    return Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) / 1_024;
  } catch {
    return 0;
  }
}

/** That of the tree: memory that its processes share counts once. */
export const memoryOf = (root: number): number =>
  descendants(root).reduce((sum, pid) => sum + ownMemory(pid), 0);

/** What the database has of it. */
export const databaseMemoryOf = (root: number): number =>
  descendants(root)
    .filter((pid) => nameOf(pid) === 'postgres')
    .reduce((sum, pid) => sum + ownMemory(pid), 0);

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return '';
  }
}

export type CpuTime = { program: number; database: number };

/** Milliseconds of a tick of the kernel's clock for processes. */
const TICK_MS = 10;

/** CPU time that the tree has used so far, in milliseconds, with that of its ended processes. */
export function cpuTimeOf(root: number): CpuTime {
  const used = { program: 0, database: 0 };
  for (const pid of descendants(root)) {
    try {
      const [, name, rest = ''] = /\((.*)\) (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
      // After the name: state, and from the eleventh on user and system time, its own and that of its ended children.
      const times = rest.split(' ').slice(11, 15).map(Number);
      used[name === 'postgres' ? 'database' : 'program'] +=
        times.reduce((sum, ticks) => sum + ticks, 0) * TICK_MS;
    } catch {
      // It has ended meanwhile: its parent has its time.
    }
  }
  return used;
}

/** A figure that a program shows of itself at /-/metrics. */
export async function metric(url: string, name: string): Promise<number> {
  // On a connection of its own: the server may close an idle one just as it is used again.
  const response = await fetch(`${url}/-/metrics`, { headers: { connection: 'close' } });
  const text = await response.text();
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return line === undefined ? Number.NaN : Number(line.slice(name.length + 1));
}

/** Waits until no fact and no job waits. */
export async function workDone({ url }: { url: string }): Promise<void> {
  for (;;) {
    const waiting = ['outbox', 'jobs'].map((kind) => metric(url, `waiting{kind="${kind}"}`));
    if ((await Promise.all(waiting)).every((count) => count === 0)) return;
    await sleep(100);
  }
}
