/** The programs of npm in programs/, and those in Go of go/, which .ci/run installs: how a journey runs one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** None runs as long, unless it hangs. */
const LONGEST_MS = 300_000;

type Ran = { code: number | null; output: string };
type Place = { folder: string; home: string; env: Record<string, string> };

const cache = join(homedir(), '.cache', 'ashlar', 'journeys');

/** The path of a program's script. */
export function installed(name: string, script: string): string {
  const path = join(cache, name, 'node_modules', script);
  if (!existsSync(path))
    throw new Error(`no ${path}: install ${name}, as .ci/run does with test/journeys/programs/${name}`);
  return path;
}

/** Runs a program's script with our Node, and waits for its end. */
export const runInstalled = (
  name: string,
  script: string,
  args: readonly string[],
  place: Place,
): Promise<Ran> => runProgram(process.execPath, [installed(name, script), ...args], place);

/** The path of a program that is a tool of go/go.mod. */
export function installedGo(name: string): string {
  const path = join(cache, 'go', name);
  if (!existsSync(path))
    throw new Error(`no ${path}: GOBIN=${join(cache, 'go')} go install tool, in test/journeys/go`);
  return path;
}

/** Runs such a program, and waits for its end. */
export const runGo = (name: string, args: readonly string[], place: Place): Promise<Ran> =>
  runProgram(installedGo(name), args, place);

/**
 * Runs a program, and waits for its end: its exit code, and its output on both streams. It has the environment that is given
 * and no other, so that no setting of ours, and no CI that runs us, reaches it.
 */
async function runProgram(path: string, args: readonly string[], { folder, home, env }: Place): Promise<Ran> {
  const child = spawn(path, args, {
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? '/usr/bin:/bin',
      HOME: home,
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // In a process group of its own: what it started ends with it.
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const endAll = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  const closed = once(child, 'close');
  const limit = setTimeout(endAll, LONGEST_MS);
  const [code] = await once(child, 'exit');
  clearTimeout(limit);
  endAll();
  await closed;
  return { code, output };
}
