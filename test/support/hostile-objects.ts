/** Small packs whose objects unpack to very much, as attackers push them. */
import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { NO_OBJECT } from '../../src/platform/git/names.ts';
import {
  commitObject,
  type NewObject,
  newObject,
  type TreeEntry,
  treeObject,
} from '../../src/platform/git/parse.ts';

const MEBIBYTE = 1_048_576;
const packTypes = { commit: 1, tree: 2, blob: 3, tag: 4, ref_delta: 7 } as const;

/** As it stands in a pack. */
type Packed = { type: keyof typeof packTypes; size: number; base?: string; bytes: Buffer };

/** The content of a repository: its objects, and the commits of its branches. */
export type Hostile = {
  objects: Packed[];
  branches: { main: string; before?: string };
  /** Of the commit on `main`. */
  tree: string;
  message: string;
};

/** The same with a commit on `main` that is also upon another one, so that it can be pushed there. */
export function upon(parent: string, { objects, branches, tree, message }: Hostile): Hostile {
  const commit = commitObject({
    tree,
    parents: [parent, branches.main],
    author: who,
    committer: who,
    message,
  });
  return { objects: [...objects, packed(commit)], branches: { main: commit.oid }, tree, message };
}

function variableLength(size: number): Buffer {
  const bytes: number[] = [];
  for (let rest = size; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 128);
  }
}

function entryHeader({ type, size }: Packed): Buffer {
  const low = (packTypes[type] << 4) | (size % 16);
  const rest = Math.floor(size / 16);
  return rest === 0 ? Buffer.of(low) : Buffer.concat([Buffer.of(low | 128), variableLength(rest)]);
}

/** The pack as it is sent. */
function packHostile(objects: readonly Packed[]): Buffer {
  const head = Buffer.alloc(12);
  head.write('PACK', 'latin1');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(objects.length, 8);
  const parts = objects.flatMap((object) => [
    entryHeader(object),
    Buffer.from(object.base ?? '', 'hex'),
    object.bytes,
  ]);
  const body = Buffer.concat([head, ...parts]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

const packed = ({ type, content }: NewObject): Packed => ({
  type,
  size: content.length,
  bytes: deflateSync(content, { level: 6 }),
});

/** `target` as a delta upon `base`, of which it is the beginning with some bytes behind it. */
function deltaUpon(base: NewObject, prefix: number, suffix: Buffer): { oid: string; object: Packed } {
  const content = Buffer.concat([base.content.subarray(0, prefix), suffix]);
  const copies: Buffer[] = [];
  const step = 0xff_ff_ff;
  for (let at = 0; at < prefix; at += step) {
    const size = Math.min(step, prefix - at);
    const copy = Buffer.alloc(8);
    copy[0] = 0xff;
    copy.writeUInt32LE(at, 1);
    copy.writeUIntLE(size, 5, 3);
    copies.push(copy);
  }
  const insert = suffix.length > 0 ? [Buffer.of(suffix.length), suffix] : [];
  const delta = Buffer.concat([
    variableLength(base.content.length),
    variableLength(content.length),
    ...copies,
    ...insert,
  ]);
  const object: Packed = { type: 'ref_delta', size: delta.length, base: base.oid, bytes: deflateSync(delta) };
  return { oid: newObject('blob', content).oid, object };
}

const who = { name: 'Mallory', email: 'mallory@example.com', time: 1_700_000_000, zone: '+0000' };
const commitOf = (tree: NewObject, parents: string[], message = 'Change') =>
  commitObject({ tree: tree.oid, parents, author: who, committer: who, message });

const file = (name: string, oid: string): TreeEntry => ({ mode: '100644', name, oid });
const folder = (name: string, oid: string): TreeEntry => ({ mode: '40000', name, oid });

/** Two commits, the second of which changes all: of the trees before and after it. */
function twoCommits(before: NewObject, after: NewObject, more: readonly NewObject[]): Hostile {
  const first = commitOf(before, []);
  const second = commitOf(after, [first.oid]);
  const each = new Map([before, after, first, second, ...more].map((object) => [object.oid, object]));
  return {
    objects: [...each.values()].map(packed),
    branches: { main: second.oid, before: first.oid },
    tree: after.oid,
    message: 'Change',
  };
}

const zeros = (mebibytes: number, last: string): NewObject => {
  const content = Buffer.alloc(mebibytes * MEBIBYTE);
  content.write(last, content.length - last.length, 'latin1');
  return newObject('blob', content);
};

/** Some large files of zeros, which change and get other names; as many names for each as there are. */
export function largeFiles(mebibytes = 130, names = 20): Hostile {
  const [a, b] = [zeros(mebibytes, 'a'), zeros(mebibytes, 'b')];
  const treeOf = (blob: NewObject, prefix: string) =>
    treeObject([
      file('README.md', blob.oid),
      ...Array.from({ length: names }, (_, index) => file(`${prefix}${index}.ts`, blob.oid)),
    ]);
  return twoCommits(treeOf(a, 'old'), treeOf(b, 'new'), [a, b]);
}

/** Ten folders in each of ten folders, and so on: ten thousand million files, all of which change. */
export function endlessTree(levels = 10, width = 10): Hostile {
  const objects: NewObject[] = [];
  const grow = (text: string): NewObject => {
    const leaf = newObject('blob', Buffer.from(text));
    let tree = treeObject(Array.from({ length: width }, (_, index) => file(`f${index}.ts`, leaf.oid)));
    objects.push(leaf, tree);
    for (let level = 1; level < levels; level += 1) {
      const { oid } = tree;
      tree = treeObject(Array.from({ length: width }, (_, index) => folder(`d${index}`, oid)));
      objects.push(tree);
    }
    return tree;
  };
  return twoCommits(grow('one\n'), grow('two\n'), objects);
}

/** The same of folders alone, in which there is no file at all. */
export function endlessFolders(levels = 12, width = 10): Hostile {
  const objects: NewObject[] = [treeObject([])];
  for (let level = 0; level < levels; level += 1) {
    const { oid } = objects.at(-1) ?? plainTree;
    objects.push(treeObject(Array.from({ length: width }, (_, index) => folder(`d${index}`, oid))));
  }
  return twoCommits(plainTree, objects.at(-1) ?? plainTree, [leaf, ...objects]);
}

/** A file of a few bytes that is a delta upon a large one, among so many objects that the pack is kept as it is. */
export function deltaUponLarge(mebibytes = 130): Hostile {
  const base = zeros(mebibytes, 'base');
  const small = deltaUpon(base, 10, Buffer.from('small'));
  const filler = Array.from({ length: 120 }, (_, index) => newObject('blob', Buffer.from(`filler ${index}`)));
  const before = treeObject([
    file('base.ts', base.oid),
    ...filler.map(({ oid }, index) => file(`x${index}`, oid)),
  ]);
  const after = treeObject([
    file('README.md', small.oid),
    file('small.ts', small.oid),
    file('base.ts', base.oid),
  ]);
  const hostile = twoCommits(before, after, [base, ...filler]);
  return { ...hostile, objects: [...hostile.objects, small.object] };
}

/** Commits each upon the one before. */
function history(trees: readonly NewObject[], message: string, more: readonly NewObject[]): Hostile {
  const commits: NewObject[] = [];
  for (const [index, tree] of trees.entries())
    commits.push(
      commitOf(
        tree,
        commits.slice(-1).map(({ oid }) => oid),
        `Change ${index} ${message}`,
      ),
    );
  const each = new Map([...more, ...trees, ...commits].map((object) => [object.oid, object]));
  const [first, last] = [commits[0]?.oid ?? '', commits.at(-1)?.oid ?? ''];
  return {
    objects: [...each.values()].map(packed),
    branches: { main: last, before: first },
    tree: trees.at(-1)?.oid ?? '',
    message,
  };
}

const leaf = newObject('blob', Buffer.from('x'));
const plainTree = treeObject([file('README.md', leaf.oid)]);

/** Commits that are larger than any real ones. */
export const largeCommits = (mebibytes = 5): Hostile =>
  history([plainTree, plainTree], 'm'.repeat(mebibytes * MEBIBYTE), [leaf]);

/** Commits of which each can be shown, but no page of them. */
export const longMessages = (count = 30): Hostile =>
  history(Array(count).fill(plainTree), 'm'.repeat(900_000), [leaf]);

/** A folder with more files than any real one. */
export function wideFolder(mebibytes = 5): Hostile {
  const names = Array.from({ length: (mebibytes * MEBIBYTE) / 36 }, (_, index) =>
    `${index}`.padStart(8, '0'),
  );
  const wide = treeObject(names.map((name) => file(name, leaf.oid)));
  const after = treeObject([file('README.md', leaf.oid), folder('wide', wide.oid)]);
  return history([plainTree, after], '', [leaf, wide]);
}

/** Text files with as many lines as fit: each changes, and each is on its own. */
export function manyLines(mebibytes = 15): Hostile {
  const lines = (text: string) => newObject('blob', Buffer.alloc(mebibytes * MEBIBYTE, text));
  const [a, b] = [lines('a\nb\n\nc\n'), lines('c\na\n\n\nb\n')];
  const treeOf = (blob: NewObject) => treeObject([file('README.md', blob.oid), file('lines.ts', blob.oid)]);
  return twoCommits(treeOf(a), treeOf(b), [a, b]);
}

const line = (text: string): string => (text.length + 4).toString(16).padStart(4, '0') + text;

/** Pushes it over HTTP, as an attacker would; `before` is the head of the branch main. */
export async function pushHostile(
  url: string,
  path: string,
  token: string,
  { objects, branches }: Hostile,
  before = NO_OBJECT,
): Promise<void> {
  const commands = Object.entries(branches).map(
    ([name, oid], index) =>
      `${name === 'main' ? before : NO_OBJECT} ${oid} refs/heads/${name}${index === 0 ? '\0report-status' : ''}`,
  );
  const body = Buffer.concat([Buffer.from(`${commands.map(line).join('')}0000`), packHostile(objects)]);
  if (body.length > 4_000_000) throw new Error('what unpacks enormously is to be small to send');
  const response = await fetch(`${url}/${path}.git/git-receive-pack`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`oauth2:${token}`).toString('base64')}`,
      'content-type': 'application/x-git-receive-pack-request',
    },
    body: new Uint8Array(body),
  });
  const report = await response.text();
  if (!report.includes('ok refs/heads/main')) throw new Error(`the push was not taken: ${report}`);
}
