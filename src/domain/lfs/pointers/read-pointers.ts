/** Reads the pointers among blobs of a repository. */

import type { ObjectFolder } from '../../../platform/git/history/history.ts';
import { gitInTime } from '../../../platform/git/program/long-runs.ts';
import { type LargeObject, parsePointer } from './pointer.ts';

/** By one run of git: they have a kibibyte at most. */
const READ_AT_ONCE = 10_000;

/** What blobs of at most a kibibyte, given by their ids, point to; some at a time. */
export async function* readPointers(
  place: ObjectFolder,
  blobs: readonly string[],
): AsyncGenerator<LargeObject[]> {
  for (let at = 0; at < blobs.length; at += READ_AT_ONCE) {
    const input = blobs
      .slice(at, at + READ_AT_ONCE)
      .map((oid) => `${oid}\n`)
      .join('');
    yield pointersIn(await gitInTime(['cat-file', '--batch', '--buffer'], { ...place, input }));
  }
}

/** `id type size`, a line feed, the content, a line feed; `id missing` for what is not there. */
function pointersIn(output: Buffer): LargeObject[] {
  const found: LargeObject[] = [];
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(10, at);
    const size = /^\S+ \w+ (\d+)$/.exec(output.toString('latin1', at, end))?.[1];
    at = end + 1;
    if (size === undefined) continue;
    const pointer = parsePointer(output.subarray(at, at + Number(size)));
    if (pointer) found.push(pointer);
    at += Number(size) + 1;
  }
  return found;
}

/** Bytes of blobs that are read for what a merge brings: only pointers of clients' extensions have more. */
const MAX_BROUGHT_BYTES = 200;

/** What pointers among the files point to that commits of `head` brought and `base` has not, each once. */
export async function pointersBetween(
  place: ObjectFolder,
  base: string,
  head: string,
): Promise<LargeObject[]> {
  const filter = `--filter=combine:object:type=blob+blob:limit=${MAX_BROUGHT_BYTES + 1}`;
  const form = ['--objects', '--no-object-names', '--filter-provided-objects', filter];
  const output = await gitInTime(['rev-list', ...form, head, `^${base}`, '--'], place);
  const blobs = output
    .toString('latin1')
    .split('\n')
    .filter((oid) => oid !== '');
  const found = new Map<string, LargeObject>();
  for await (const pointers of readPointers(place, blobs))
    for (const each of pointers) found.set(each.oid, each);
  return [...found.values()];
}
