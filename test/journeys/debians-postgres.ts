/** PostgreSQL as Debian has it, on a port of its own, with its programs. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, makeFolder } from './support.ts';

export type Debians = {
  /** Makes an empty database; its address. */
  create(name: string): string;
  stop(): Promise<void>;
};

/** Where nothing answers so long, it never will. */
const STARTING_MS = 60_000;

export async function startDebians(): Promise<Debians> {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql').sort() : [];
  const programs = join('/usr/lib/postgresql', versions.at(-1) ?? '', 'bin');
  if (!existsSync(join(programs, 'initdb')))
    throw new Error('PostgreSQL is missing: install the Debian package postgresql');
  const folder = makeFolder();
  const owner = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
  const cluster = join(folder, 'cluster');
  mkdirSync(cluster);
  if (owner) for (const path of [folder, cluster]) chownSync(path, owner.uid, owner.gid);
  const port = await freePort();
  const at = { ...owner, cwd: cluster, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8' } };
  execFileSync(join(programs, 'initdb'), ['-D', cluster, '-U', 'ashlar', '-A', 'trust', '-E', 'UTF8'], {
    ...at,
    stdio: 'pipe',
  });
  const child = spawn(
    join(programs, 'postgres'),
    ['-D', cluster, '-p', String(port), '-k', cluster, '-h', '127.0.0.1'],
    { ...at, stdio: 'ignore' },
  );
  const ended = once(child, 'exit');
  const url = (database: string) => `postgres://ashlar@127.0.0.1:${port}/${database}`;
  const run = (statement: string) =>
    execFileSync(join(programs, 'psql'), ['-q', '-c', statement, url('postgres')], { ...at, stdio: 'pipe' });
  for (const began = performance.now(); ; await sleep(100))
    try {
      run('select 1');
      break;
    } catch (error) {
      if (child.exitCode === null && performance.now() - began < STARTING_MS) continue;
      child.kill('SIGKILL');
      throw error;
    }
  return {
    create(name) {
      run(`create database ${name}`);
      return url(name);
    },
    async stop() {
      child.kill('SIGINT');
      await ended;
    },
  };
}
