/**
 * The program from the command line, as a user starts it: built, in a process of its own, with an environment of its own.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from '../../scripts/bundle.ts';

/** Beside `dist`, which may be serving somebody. */
const folder = `dist-test-${process.pid}`;
const root = join(import.meta.dirname, '..', '..');

let built: Promise<unknown> | undefined;

/** Call it after the tests of a file that starts the program. */
export function removeProgram(): void {
  built = undefined;
  rmSync(join(root, folder), { recursive: true, force: true });
}

type Ended = { code: number; out: string; errors: string };

/** Runs a command to its end. */
export async function ashlar(args: string[], env: Record<string, string>, input = ''): Promise<Ended> {
  const started = await start(args, env);
  started.child.stdin?.end(input);
  return started.ended;
}

export type Serving = {
  url: string;
  /** Its output. */
  said(): string;
  stop(): Promise<Ended>;
};

/** Starts `serve` on a free port; resolves when it serves, and throws its output when it ends instead. */
export async function serve(env: Record<string, string>): Promise<Serving> {
  const { child, said, ended } = await start(['serve'], { ASHLAR_PORT: '0', ...env });
  const ready = Promise.withResolvers<string>();
  child.stdout?.on('data', () => {
    // With a setting for its address, it says in brackets where it listens.
    const address = /^Ashlar serves (\S+)(?: \(listening on (\S+)\))?\n(?: .*\n)*/.exec(said.out);
    const url = address?.[2] ?? address?.[1];
    if (url !== undefined) ready.resolve(url);
  });
  const over = ended.then(({ out, errors }) => {
    throw new Error(out + errors);
  });
  const url = await Promise.race([ready.promise, over]);
  return {
    url,
    said: () => said.out,
    stop: () => {
      over.catch(() => {});
      child.kill('SIGTERM');
      return ended;
    },
  };
}

const running = new Set<ChildProcess>();
// Ends the server of a test that failed before stop().
process.once('exit', () => {
  for (const child of running) child.kill('SIGTERM');
});

async function start(args: string[], env: Record<string, string>) {
  built ??= bundle(['src/cli.ts'], folder);
  await built;
  const child: ChildProcess = spawn(process.execPath, [join(root, folder, 'cli.js'), ...args], {
    // As bin/ashlar.js keeps what is compiled.
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: join(root, folder, 'compiled'), ...env },
    stdio: 'pipe',
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  const said = { out: '', errors: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (said.out += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said.errors += text));
  const ended = once(child, 'close').then(([code]): Ended => ({ code, ...said }));
  return { child, said, ended };
}
