/**
 * All refs of a repository, read off its files without a process: in the files backend each is a file below `refs`, or a
 * line of `packed-refs`. Only the usual is read, and only little of it at once; whatever else there is, is git's to read.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isObjectId, NO_OBJECT } from './names.ts';

/** Read at once, while everybody waits: so many files, and so many bytes of `packed-refs`. */
const MAX_LOOSE_REFS = 200;
const MAX_PACKED_REFS_BYTES = 128 * 1_024;

/** What git has to read. */
class Unusual extends Error {}

const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

/** What is gone by the time it is looked at, is not there. */
function unlessMissing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/**
 * Full names, a letter for each of their bytes, with the ids that they have; undefined where git should be asked. Loose ones
 * are read first: whoever packs them writes `packed-refs` before it takes them away.
 */
export function readRefFiles(folder: string): Map<string, string> | undefined {
  try {
    const loose = new Map<string, string>();
    readFolder(folder, 'refs', loose);
    const all = [...readPacked(folder), ...loose];
    // Whoever takes a repository away renames it first: what is still there was there all along.
    if (!isRepository(folder)) return undefined;
    return new Map(all.sort(([left], [right]) => (left < right ? -1 : 1)));
  } catch (error) {
    if (error instanceof Unusual || isMissing(error)) return undefined;
    throw error;
  }
}

/** Whether there is one, at this moment. */
export const isRepository = (folder: string): boolean => existsSync(join(folder, 'HEAD'));

/** A path whose last part has a letter for each byte. */
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

/** Refs that point to other refs, and damaged ones, are unusual. */
function idOf(text: string): string {
  if (!isObjectId(text) || text === NO_OBJECT) throw new Unusual();
  return text;
}

function readPacked(folder: string): Map<string, string> {
  const path = join(folder, 'packed-refs');
  const found = new Map<string, string>();
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > MAX_PACKED_REFS_BYTES) throw new Unusual();
  for (const line of (unlessMissing(() => readFileSync(path, 'latin1')) ?? '').split('\n')) {
    // What the file says of itself, and of the tag above.
    if (line === '' || line.startsWith('#') || line.startsWith('^')) continue;
    const space = line.indexOf(' ');
    found.set(line.slice(space + 1), idOf(line.slice(0, space)));
  }
  return found;
}
