/** Names of refs and paths in trees: which ones git can have, and which ones we refuse. Pure. */

const BRANCHES = 'refs/heads/';
const TAGS = 'refs/tags/';

export type RefKind = 'branch' | 'tag';

export const fullRef = (kind: RefKind, name: string): string =>
  `${kind === 'branch' ? BRANCHES : TAGS}${name}`;

/** What a full ref is, and its short name; undefined for one that is neither branch nor tag. */
export function shortRef(ref: string): { kind: RefKind; name: string } | undefined {
  if (ref.startsWith(BRANCHES)) return { kind: 'branch', name: ref.slice(BRANCHES.length) };
  if (ref.startsWith(TAGS)) return { kind: 'tag', name: ref.slice(TAGS.length) };
  return undefined;
}

/** The longest file name that a disk takes, less what git puts behind it while it writes. */
const MAX_COMPONENT_BYTES = 250;
/** Of a whole name, as a client may send it. */
export const MAX_NAME_BYTES = 1_000;
const FORBIDDEN = '\\x00-\\x20\\x7f~^:?*\\[\\\\';
/** What short names are made of, as a schema says it too; a few are refused all the same. */
export const refNamePattern = `^[^${FORBIDDEN}./-](?:[^${FORBIDDEN}]*[^${FORBIDDEN}./])?$`;
const made = new RegExp(refNamePattern, 'u');
const forbidden = /\.\.|@\{|\/\//;

/** Whether a branch or tag can have this short name: git's own rules, and nothing that reads as an option or an id. */
export function isRefName(name: string): boolean {
  if (!made.test(name) || name === '@' || name === 'HEAD' || name.startsWith('refs/')) return false;
  if (forbidden.test(name) || Buffer.byteLength(name) > MAX_NAME_BYTES || isObjectId(name)) return false;
  return name
    .split('/')
    .every(
      (part) =>
        !part.startsWith('.') && !part.endsWith('.lock') && Buffer.byteLength(part) <= MAX_COMPONENT_BYTES,
    );
}

/** A full ref that a client may create, change or delete: a branch, a tag, or another name below `refs/`. */
export function isWritableRef(ref: string): boolean {
  const short = shortRef(ref);
  if (short) return isRefName(short.name);
  return /^refs\/notes\/./.test(ref) && isRefName(ref.slice('refs/'.length));
}

/** A whole object id, SHA-1 or SHA-256. */
export const isObjectId = (text: string): boolean => /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text);

/** What may be the beginning of an object id. */
export const isAbbreviatedId = (text: string): boolean => /^[0-9a-f]{4,64}$/i.test(text);

export const NO_OBJECT = '0'.repeat(40);

/**
 * The components of a path inside a tree, or undefined where a tree cannot or must not have it: empty ones, `.` and `..`,
 * control characters, and whatever a disk may read as `.git`.
 */
export function pathComponents(path: string): string[] | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
  if (path === '' || Buffer.byteLength(path) > 4_096 || /[\x00-\x1f\x7f]/.test(path)) return undefined;
  const parts = path.split('/');
  return parts.length <= MAX_DEPTH && parts.every(isTreeName) ? parts : undefined;
}

/** Folders upon folders make a tree each. */
const MAX_DEPTH = 100;

/** Characters that some file systems leave out of a name, so that what stays reads as another. */
const ignorable = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

function isTreeName(name: string): boolean {
  if (name === '' || name === '.' || name === '..') return false;
  const plain = name
    .replaceAll(ignorable, '')
    .toLowerCase()
    .replace(/[. ]+$/, '');
  return plain !== '.git' && plain !== 'git~1' && !plain.startsWith('.git:') && !plain.includes('\\.git');
}
