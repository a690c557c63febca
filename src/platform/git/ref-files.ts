/**
 * Reads the refs of a repository that pushes hear of, from its files without a process: in the files backend
 * each is a file below `refs`, or a line of `packed-refs`. Only ordinary refs in small numbers are read; git
 * reads anything else.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isObjectId, NO_OBJECT } from './names.ts';
import { FETCHED_REFS, HIDDEN_REFS } from './program/program.ts';

/** Read synchronously, which blocks the event loop: maximum files, and bytes of `packed-refs`, with and without others. */
const MAX_LOOSE_REFS = 200;
const MAX_PACKED_FILE_BYTES = 2 * 1_048_576;
const MAX_PACKED_REFS_BYTES = 128 * 1_024;

/** Refs of which a push hears nothing; there may be many thousands. */
const skipped = [HIDDEN_REFS, FETCHED_REFS];

/** Refs that git must read. */
class Unusual extends Error {}

const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

/** A file that has gone meanwhile counts as missing. */
function unlessMissing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/**
 * Full names as latin1, with their ids; undefined where git must read them. Loose refs are read first:
 * packing writes `packed-refs` before it removes them.
 */
export function readRefFiles(folder: string): Map<string, string> | undefined {
  try {
    const loose = new Map<string, string>();
    readFolder(folder, 'refs', loose);
    const all = [...readPacked(folder), ...loose];
    // Removal renames the repository first: if it is still there, all of it was.
    if (!isRepository(folder)) return undefined;
    return new Map(all.sort(([left], [right]) => (left < right ? -1 : 1)));
  } catch (error) {
    if (error instanceof Unusual || isMissing(error)) return undefined;
    throw error;
  }
}

/** Whether the folder has a repository now. */
export const isRepository = (folder: string): boolean => existsSync(join(folder, 'HEAD'));

/** Whether more refs than are read here have a file each: git, too, opens every one of them at each push. */
export function hasManyLooseRefs(folder: string): boolean {
  let found = 0;
  const count = (name: string): void => {
    const entries = unlessMissing(() =>
      readdirSync(pathTo(folder, name), { withFileTypes: true, encoding: 'latin1' }),
    );
    for (const entry of entries ?? []) {
      if (found > MAX_LOOSE_REFS) return;
      if (entry.isDirectory()) count(`${name}/${entry.name}`);
      else if (!entry.name.endsWith('.lock')) found += 1;
    }
  };
  count('refs');
  return found > MAX_LOOSE_REFS;
}

/** A path whose last part is latin1. */
const pathTo = (folder: string, name: string): string | Buffer =>
  /[\x80-\xff]/.test(name)
    ? Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name, 'latin1')])
    : `${folder}/${name}`;

function readFolder(folder: string, name: string, found: Map<string, string>): void {
  const entries = unlessMissing(() =>
    readdirSync(pathTo(folder, name), { withFileTypes: true, encoding: 'latin1' }),
  );
  for (const entry of entries ?? []) {
    const inner = `${name}/${entry.name}`;
    if (skipped.includes(inner)) continue;
    if (entry.isDirectory()) readFolder(folder, inner, found);
    else if (entry.name.endsWith('.lock')) continue;
    else {
      const text = unlessMissing(() => readFileSync(pathTo(folder, inner), 'utf8'));
      if (text === undefined) continue;
      found.set(inner, idOf(text.slice(0, -1)));
      if (!text.endsWith('\n') || found.size > MAX_LOOSE_REFS) throw new Unusual();
    }
  }
}

/** Symbolic and damaged refs are unusual. */
function idOf(text: string): string {
  if (!isObjectId(text) || text === NO_OBJECT) throw new Unusual();
  return text;
}

function readPacked(folder: string): Map<string, string> {
  const path = join(folder, 'packed-refs');
  const found = new Map<string, string>();
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > MAX_PACKED_FILE_BYTES) throw new Unusual();
  const text = skipped.reduce(withoutRefs, unlessMissing(() => readFileSync(path, 'latin1')) ?? '');
  if (text.length > MAX_PACKED_REFS_BYTES) throw new Unusual();
  for (const line of text.split('\n')) {
    // Header lines, and peeled tags.
    if (line === '' || line.startsWith('#') || line.startsWith('^')) continue;
    const space = line.indexOf(' ');
    found.set(line.slice(space + 1), idOf(line.slice(0, space)));
  }
  return found;
}

/** The lines but for those of refs below a folder, which stand together, as git sorts them. */
function withoutRefs(text: string, below: string): string {
  const first = text.indexOf(` ${below}/`);
  if (first < 0) return text;
  if (!/^# pack-refs with:.* sorted /.test(text)) throw new Unusual();
  const start = text.lastIndexOf('\n', first) + 1;
  return text.slice(0, start) + text.slice(text.indexOf('\n', text.lastIndexOf(` ${below}/`)) + 1);
}
