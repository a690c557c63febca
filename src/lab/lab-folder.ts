/** The one folder of a lab, with all that it writes anywhere; it goes with the lab, however that ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MEMORY, makeEphemeralFolder } from '../platform/db/embedded/ephemeral.ts';

export type LabFolder = { path: string; remove(): Promise<void> };

const PREFIX = 'ashlar-lab-';
/** In the folder: who made it. */
const OWNER = 'owner';

/**
 * Waits for the lab's end, which closes the pipe, and sees to what a killed lab leaves: the database server, which is no child of
 * a dead process, and the folder. Its arguments are the folder and the file of the server's own process id.
 */
const CARETAKER = `
  trap '' INT TERM HUP
  read -r _
  [ -d "$1" ] || exit 0
  pid=$(head -n 1 "$2" 2>/dev/null) && kill -QUIT "$pid" 2>/dev/null
  tries=0
  while [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null && [ $tries -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
  [ -n "$pid" ] && kill -KILL "$pid" 2>/dev/null
  rm -rf "$1"`;

/** Makes the folder, and has all temporary files of this process and its threads go there. */
export async function makeLabFolder(): Promise<LabFolder> {
  for (const parent of new Set([MEMORY, tmpdir()])) sweep(parent);
  const path = makeEphemeralFolder(PREFIX);
  writeFileSync(join(path, OWNER), `${process.pid} ${pidNamespace()}`);
  mkdirSync(join(path, 'server'), { mode: 0o700 });
  mkdirSync(join(path, 'tmp'));
  // As /tmp: the server's user passes through it to its socket.
  chmodSync(join(path, 'tmp'), 0o1777);
  process.env.TMPDIR = join(path, 'tmp');
  const caretaker = keep(path);
  return {
    path,
    async remove() {
      await rm(path, { recursive: true, force: true, maxRetries: 10 });
      caretaker.ref();
      caretaker.stdin?.end();
      if (caretaker.exitCode === null) await new Promise((resolve) => caretaker.once('exit', resolve));
    },
  };
}

function keep(path: string): ChildProcess {
  const pidFile = join(path, 'server', 'postgres', 'postmaster.pid');
  const caretaker = spawn('/bin/sh', ['-c', CARETAKER, 'ashlar-lab-caretaker', path, pidFile], {
    // A signal to this process's group is not for it.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
  });
  // Without it, the next lab sweeps.
  caretaker.once('error', () => undefined);
  caretaker.unref();
  return caretaker;
}

/** Numbers of processes mean something within one. */
function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

/** Removes the folders of labs that were killed together with their caretakers. */
function sweep(parent: string): void {
  let names: string[] = [];
  try {
    names = readdirSync(parent).filter((name) => name.startsWith(PREFIX));
  } catch {
    return;
  }
  for (const name of names) {
    const folder = join(parent, name);
    try {
      const [pid, namespace] = readFileSync(join(folder, OWNER), 'utf8').split(' ');
      if (namespace === pidNamespace() && !isAlive(Number(pid)))
        rmSync(folder, { recursive: true, force: true });
    } catch {
      // Another user's, or one that is being made or removed.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
