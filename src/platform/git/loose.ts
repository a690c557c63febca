/** Writes a small history into a repository that is new: without a process of git, of which thousands would take minutes. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { deflateSync } from 'node:zlib';
import type { NewObject } from './parse.ts';

/** Objects that are written between two yields to the event loop. */
const OBJECTS_PER_TURN = 50;
/** git itself packs more into one file. */
const MAX_LOOSE_OBJECTS = 500;
const MAX_LOOSE_BYTES = 4 * 1_048_576;

/** Whether writeLoose() is for so many and so large ones. */
export const fitsLoose = (objects: readonly NewObject[]): boolean =>
  objects.length <= MAX_LOOSE_OBJECTS &&
  objects.reduce((sum, { content }) => sum + content.length, 0) <= MAX_LOOSE_BYTES;

/**
 * The objects, then the refs, which throw where they are there. Nothing is synced: a loss of power may undo it, so it is for
 * what can be made again. Synchronous between turns, as each file is far faster than the thread pool.
 */
export async function writeLoose(
  folder: string,
  objects: readonly NewObject[],
  refs: ReadonlyMap<string, string>,
): Promise<void> {
  for (const [index, { oid, type, content }] of objects.entries()) {
    if (index % OBJECTS_PER_TURN === OBJECTS_PER_TURN - 1) await nextTurn();
    const path = join(folder, 'objects', oid.slice(0, 2), oid.slice(2));
    if (existsSync(path)) continue;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
    writeFileSync(path, deflateSync(whole, { level: 1 }), { mode: 0o400 });
  }
  for (const [ref, oid] of refs) {
    const path = join(folder, ref);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, `${oid}\n`, { flag: 'wx', mode: 0o600 });
  }
}
