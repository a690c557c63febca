#!/usr/bin/env node
// Starts Ashlar on a Node that is new enough: this one, or one from npm's registry. Plain
// JavaScript, because the host's older Node must be able to read it.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const NEEDED = 24;
const self = fileURLToPath(import.meta.url);

/**
 * How glibc keeps memory: by itself it gives back next to nothing of what large requests had. It reads these variables when a
 * process starts; values of the environment go first, and programs that are started from here have them too.
 */
const allocation = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '1048576',
  MALLOC_TRIM_THRESHOLD_: '16777216',
};

if (Number.parseInt(process.versions.node, 10) < NEEDED) handOver(otherNode());
else {
  if (process.argv[2] === 'serve' || process.argv[2] === 'lab') startAnew();
  run();
}

/** Puts the program in the place of itself, in some 25 ms, where it has to be told how to allocate. */
function startAnew() {
  const told = Object.keys(allocation).some((name) => name in process.env);
  if (process.platform !== 'linux' || told || process.connected || !process.execve) return;
  const command = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve(process.execPath, command, { ...process.env, ...allocation });
}

/** In this process, as it was built when it was installed. */
function run() {
  // Private to the user: code is loaded from it. Where it cannot be written, there is just no cache.
  module.enableCompileCache(join(homedir(), '.cache', 'ashlar', 'node'));
  if (process.connected) dieWithLauncher();
  const program = join(dirname(dirname(self)), 'dist', 'cli.js');
  if (!existsSync(program)) {
    console.error('ashlar: not built yet: `npm run build` builds it, and `npm run dev` serves the sources');
    process.exit(1);
  }
  import(pathToFileURL(program).href).catch((error) => {
    console.error(error);
    process.exit(1);
  });
}

/** The launcher holds the other end of a channel; when it is gone, even by kill -9, stop as if it had passed on SIGTERM. */
function dieWithLauncher() {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel.unref();
}

/** Path of a Node that is new enough: a clone has it installed, the package fetches it; or undefined. */
function otherNode() {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  return installedNode(name) ?? fetchedNode(name);
}

function installedNode(name) {
  try {
    const manifest = createRequire(self).resolve(`${name}/package.json`);
    const { version } = JSON.parse(readFileSync(manifest, 'utf8'));
    const program = join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    return Number.parseInt(version, 10) >= NEEDED && existsSync(program) ? program : undefined;
  } catch {
    return undefined;
  }
}

/** By npm, once, from its registry into its cache: a Node in the package would be most of it, and of no use to most hosts. */
function fetchedNode(name) {
  const manifest = join(dirname(dirname(self)), 'packaging', 'node', 'package.json');
  const version = JSON.parse(readFileSync(manifest, 'utf8')).optionalDependencies[name];
  if (version === undefined) return undefined;
  const asked = ['exec', '--yes', '--loglevel=error', `--package=${name}@${version}`];
  const { status, stdout } = spawnSync('npm', [...asked, '--', 'node', '-p', 'process.execPath'], {
    encoding: 'utf8',
    shell: process.platform === 'win32',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return status === 0 ? stdout.trim().split('\n').pop() : undefined;
}

/** Runs this file again with the other Node: same arguments, streams and folder; signals, and how it ends, passed on. */
function handOver(program) {
  if (program === undefined) giveUp();
  const child = spawn(program, [self, ...process.argv.slice(2)], {
    env: { ...allocation, ...process.env },
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  child.on('error', giveUp);
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'];
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    for (const each of signals) process.removeAllListeners(each);
    process.kill(process.pid, signal);
  });
}

function giveUp() {
  console.error(
    `ashlar: needs Node ${NEEDED} or newer, found ${process.versions.node}, and npm could not fetch one for ` +
      `${process.platform}-${process.arch}: install Node ${NEEDED} from https://nodejs.org, then start again`,
  );
  process.exit(1);
}
