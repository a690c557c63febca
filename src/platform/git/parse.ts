/** Parses and writes commits, trees and tags in git's format. */
import { isAscii } from 'node:buffer';
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Failure } from '../failure.ts';
import { encodeInTurns, mapInTurns } from '../turns.ts';

export type Signature = {
  name: string;
  email: string;
  /** Seconds since 1970. */
  time: number;
  /** `+0200`. */
  zone: string;
};

export type Commit = {
  oid: string;
  tree: string;
  parents: string[];
  author: Signature;
  committer: Signature;
  /** The armoured signature from the header. */
  signature?: string;
  message: string;
};

export type TreeEntry = {
  /** Octal, as git writes it: 100644, 100755, 120000, 40000, 160000. */
  mode: string;
  name: string;
  oid: string;
};

export type Tag = {
  oid: string;
  object: string;
  type: string;
  name: string;
  tagger?: Signature;
  signature?: string;
  message: string;
};

const signature = /^(.*?) ?<([^<>\n]*)> ?(-?\d+)? ?([+-]\d{4})?$/;

function parseSignature(text: string): Signature {
  const [, name = '', email = '', time = '0', zone = '+0000'] = signature.exec(text) ?? [];
  const seconds = Number(time);
  // A time beyond Date's range would fail later with 500.
  return { name, email, time: Math.abs(seconds) < 8.64e12 ? seconds : 0, zone };
}

/** The headers, continuation lines joined, and the text after the empty line. */
function parseHeaders(content: Buffer): { headers: [string, string][]; message: string } {
  const text = decode(content);
  const end = text.indexOf('\n\n');
  const head = end < 0 ? text : text.slice(0, end);
  const headers: [string, string][] = [];
  for (const line of head.split('\n')) {
    const last = headers.at(-1);
    if (line.startsWith(' ') && last) last[1] += `\n${line.slice(1)}`;
    else {
      const space = line.indexOf(' ');
      headers.push([line.slice(0, space), line.slice(space + 1)]);
    }
  }
  return { headers, message: end < 0 ? '' : text.slice(end + 2) };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** UTF-8 if valid, else Latin-1, the usual encoding of old commits, which takes any byte. */
export function decode(content: Buffer): string {
  if (isAscii(content)) return content.toString('latin1');
  try {
    return utf8.decode(content);
  } catch {
    return content.toString('latin1');
  }
}

/** A cache: the same commits are parsed again and again, and the reader keeps their content. */
const parsedCommits = new WeakMap<Buffer, Commit>();

export function parseCommit(oid: string, content: Buffer): Commit {
  const known = parsedCommits.get(content);
  if (known) return known;
  const commit = parseNewCommit(oid, content);
  parsedCommits.set(content, commit);
  return commit;
}

function parseNewCommit(oid: string, content: Buffer): Commit {
  const { headers, message } = parseHeaders(content);
  const value = (name: string): string => headers.find(([key]) => key === name)?.[1] ?? '';
  const signed = value('gpgsig') || value('gpgsig-sha256');
  return {
    oid,
    tree: value('tree'),
    parents: headers.flatMap(([key, parent]) => (key === 'parent' ? [parent] : [])),
    author: parseSignature(value('author')),
    committer: parseSignature(value('committer')),
    ...(signed !== '' && { signature: signed }),
    message,
  };
}

export function parseTag(oid: string, content: Buffer): Tag {
  const { headers, message } = parseHeaders(content);
  const value = (name: string): string => headers.find(([key]) => key === name)?.[1] ?? '';
  const tagger = value('tagger');
  const begin = message.search(/^-----BEGIN (PGP|SSH) SIGNATURE-----|^-----BEGIN SIGNED MESSAGE-----/m);
  return {
    oid,
    object: value('object'),
    type: value('type'),
    name: value('tag'),
    ...(tagger !== '' && { tagger: parseSignature(tagger) }),
    ...(begin >= 0 && { signature: message.slice(begin) }),
    message: begin < 0 ? message : message.slice(0, begin),
  };
}

/** Entries parsed between two yields to the event loop. */
const ENTRIES_PER_TURN = 5_000;

/** The entries in git's order. `idBytes` is 20 for SHA-1, 32 for SHA-256. */
export async function parseTree(content: Buffer, idBytes = 20): Promise<TreeEntry[]> {
  const entries: TreeEntry[] = [];
  let at = 0;
  while (at < content.length) {
    const space = content.indexOf(32, at);
    const end = content.indexOf(0, space);
    if (space < 0 || end < 0 || end + 1 + idBytes > content.length) throw new Error('a damaged tree');
    entries.push({
      mode: content.toString('latin1', at, space),
      name: decode(content.subarray(space + 1, end)),
      oid: content.toString('hex', end + 1, end + 1 + idBytes),
    });
    at = end + 1 + idBytes;
    if (entries.length % ENTRIES_PER_TURN === 0) await nextTurn();
  }
  return entries;
}

export type NewObject = { oid: string; type: 'commit' | 'tree' | 'blob' | 'tag'; content: Buffer };

/** Larger ones are not read: they are parsed without yielding, several per response. */
export const MAX_PARSED_BYTES = { tree: 4 * 1_048_576, commit: 1_048_576, tag: 1_048_576 } as const;

/** The object; 422 for a commit or tag that could not be read again. */
export function readable(object: NewObject): NewObject {
  const { type, content } = object;
  if (type !== 'blob' && content.length > MAX_PARSED_BYTES[type])
    throw new Failure('unprocessable', `The ${type} would be too large.`);
  return object;
}

/** An object that is not stored yet, with its id. */
export function newObject(type: NewObject['type'], content: Buffer): NewObject {
  const oid = createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex');
  return { oid, type, content };
}

/** A new blob; a long one is encoded and hashed with yields. */
export async function newBlob(text: string | Buffer): Promise<NewObject> {
  const hash = createHash('sha1').update(`blob ${Buffer.byteLength(text)}\0`);
  const content = await encodeInTurns(text, hash);
  return { oid: hash.digest('hex'), type: 'blob', content };
}

const isFolder = (entry: TreeEntry): boolean => entry.mode === '40000';
/** git orders folders as if their names ended with a slash. */
const orderKey = (entry: TreeEntry): Buffer => Buffer.from(isFolder(entry) ? `${entry.name}/` : entry.name);

type Keyed = { entry: TreeEntry; key: Buffer };
const keyed = (entry: TreeEntry): Keyed => ({ entry, key: orderKey(entry) });
const inOrder = (left: Keyed, right: Keyed): number => Buffer.compare(left.key, right.key);
const bytesOf = ({ entry: { mode, name, oid } }: Keyed): Buffer =>
  Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]);

/** A tree of the entries, in any order. */
export const treeObject = (entries: readonly TreeEntry[]): NewObject =>
  newObject('tree', Buffer.concat(entries.map(keyed).sort(inOrder).map(bytesOf)));

/** The same for very many entries, with yields; sorted input sorts fast. */
export async function newTree(entries: readonly TreeEntry[]): Promise<NewObject> {
  const sorted = (await mapInTurns(entries, keyed)).sort(inOrder);
  return newObject('tree', Buffer.concat(await mapInTurns(sorted, bytesOf)));
}

/** As in a commit: `Name <address> seconds zone`. */
export const writeSignature = ({ name, email, time, zone }: Signature): string =>
  // Characters that would end the line or the address are left out, as git does.
  `${name.replaceAll(/[<>\n\0]/g, '').trim()} <${email.replaceAll(/[<>\n\0]/g, '').trim()}> ${time} ${zone}`;

export function commitObject(commit: Omit<Commit, 'oid' | 'signature'>): NewObject {
  const text = [
    `tree ${commit.tree}`,
    ...commit.parents.map((parent) => `parent ${parent}`),
    `author ${writeSignature(commit.author)}`,
    `committer ${writeSignature(commit.committer)}`,
    '',
    commit.message.replaceAll('\0', ''),
  ].join('\n');
  return newObject('commit', Buffer.from(text));
}

export function tagObject(tag: Omit<Tag, 'oid' | 'signature'> & { tagger: Signature }): NewObject {
  const text = [
    `object ${tag.object}`,
    `type ${tag.type}`,
    `tag ${tag.name}`,
    `tagger ${writeSignature(tag.tagger)}`,
    '',
    tag.message.replaceAll('\0', ''),
  ].join('\n');
  return newObject('tag', Buffer.from(text));
}
