/** Valid names of refs, and of paths in trees. Pure. */

const BRANCHES = 'refs/heads/';
const TAGS = 'refs/tags/';

export type RefKind = 'branch' | 'tag';

export const fullRef = (kind: RefKind, name: string): string =>
  `${kind === 'branch' ? BRANCHES : TAGS}${name}`;

/** The kind and short name of a full ref; undefined for one that is neither branch nor tag. */
export function shortRef(ref: string): { kind: RefKind; name: string } | undefined {
  if (ref.startsWith(BRANCHES)) return { kind: 'branch', name: ref.slice(BRANCHES.length) };
  if (ref.startsWith(TAGS)) return { kind: 'tag', name: ref.slice(TAGS.length) };
  return undefined;
}

/** The longest file name on disk, minus the suffix that git appends while it writes. */
const MAX_COMPONENT_BYTES = 250;
/** Maximum of a whole name. */
export const MAX_NAME_BYTES = 1_000;
const FORBIDDEN = '\\x00-\\x20\\x7f~^:?*\\[\\\\';
/** The pattern of short names, for schemas too; isRefName() refuses a few more. */
export const refNamePattern = `^[^${FORBIDDEN}./-](?:[^${FORBIDDEN}]*[^${FORBIDDEN}./])?$`;
const made = new RegExp(refNamePattern, 'u');
const forbidden = /\.\.|@\{|\/\//;

/** Whether a branch or tag can have this name: git's rules, and nothing like an option or an id. */
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

/** Whether the text may be the beginning of an object id. */
export const isAbbreviatedId = (text: string): boolean => /^[0-9a-f]{4,64}$/i.test(text);

export const NO_OBJECT = '0'.repeat(40);

/**
 * The components of a path in a tree, or undefined where a tree cannot or must not have it: empty ones, `.`
 * and `..`, control characters, and names that a disk may read as `.git`.
 */
export function pathComponents(path: string): string[] | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
  if (path === '' || Buffer.byteLength(path) > 4_096 || /[\x00-\x1f\x7f]/.test(path)) return undefined;
  const parts = path.split('/');
  return parts.length <= MAX_DEPTH && parts.every(isTreeName) ? parts : undefined;
}

/** Each nested folder is a tree. */
const MAX_DEPTH = 100;

/** Characters that some file systems ignore in names, so that the rest reads as another name. */
const ignorable = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

function isTreeName(name: string): boolean {
  if (name === '' || name === '.' || name === '..') return false;
  const plain = name
    .replaceAll(ignorable, '')
    .toLowerCase()
    .replace(/[. ]+$/, '');
  return plain !== '.git' && plain !== 'git~1' && !plain.startsWith('.git:') && !plain.includes('\\.git');
}
