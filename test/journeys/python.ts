/** Python with the packages of requirements.txt, which .ci/run installs: how a journey runs it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const PYTHON = join(homedir(), '.cache', 'ashlar', 'journeys', 'bin', 'python');

/** None runs as long, unless it hangs. */
const LONGEST_MS = 300_000;

export type Started = { child: ChildProcess; ended: Promise<{ code: number | null; output: string }> };

/** Starts Python in a folder that is also its home; without our environment, so that no CI that runs us reaches it. */
export function startPython(folder: string, args: readonly string[]): Started {
  if (!existsSync(PYTHON)) throw new Error(`no ${PYTHON}: install it as .ci/run does`);
  const child = spawn(PYTHON, args, {
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? '/usr/bin:/bin',
      HOME: folder,
      LC_ALL: 'C.UTF-8',
      GIT_CONFIG_NOSYSTEM: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LONGEST_MS,
    killSignal: 'SIGKILL',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return { child, ended: once(child, 'close').then(([code]) => ({ code, output })) };
}

/** Waits for the end of a program that has to end well; its output. */
export async function mustEnd({ ended }: Started): Promise<string> {
  const { code, output } = await ended;
  if (code !== 0) throw new Error(`it ended with ${code}: ${output}`);
  return output;
}
