/** Decisions about the files that a commit changes. Pure. */
import { Failure } from '../../../platform/failure.ts';
import { pathComponents } from '../../../platform/git/names.ts';
import { entryType, FOLDER_MODE } from '../../../platform/git/trees.ts';
import type { CommitAction } from './schema.ts';

/** 400 with a sentence of the public API, as it is. */
export const refused = (sentence: string): Failure => new Failure('bad_request', sentence);

export const FILE_EXISTS = 'A file with this name already exists';
export const FOLDER_EXISTS = 'A directory with this name already exists';
export const NO_FILE = "A file with this name doesn't exist";
export const NO_PATH = 'You must provide a file path';
export const BAD_PATH = 'The file path is not valid';
export const NO_BRANCH = 'You can only create or edit files when you are on a branch';
export const BAD_BRANCH = 'Branch name is invalid';
export const PUSH_REFUSED = 'You are not allowed to push into this branch';
export const branchExists = (branch: string): string =>
  `A branch called '${branch}' already exists. Switch to that branch in order to make changes`;

/** The refusal when the client last saw the file at another commit. */
export const staleFile = (action: CommitAction['action']): string =>
  action === 'delete'
    ? 'You are attempting to delete a file that has been previously updated.'
    : 'You are attempting to update a file that has changed since you started editing it.';

/** The components of a client's path; 400 for an empty one, or one that no tree may have. */
export function filePath(path: string | undefined): string[] {
  if (path === undefined || path === '') throw refused(NO_PATH);
  const components = pathComponents(path);
  if (!components) throw refused(BAD_PATH);
  return components;
}

const notBase64 = /[^A-Za-z0-9+/\s]/;
const endOfBase64 = /^={0,2}\s*$/;

/** In two steps, each of which reads the text once: one pattern would read long space once for each of its characters. */
function isBase64(text: string): boolean {
  const end = text.search(notBase64);
  return end < 0 || endOfBase64.test(text.slice(end));
}

/** The text or bytes of a file as an action has them; 400 for base64 that is none. */
export function contentOf({
  content = '',
  encoding,
}: Pick<CommitAction, 'content' | 'encoding'>): string | Buffer {
  if (encoding !== 'base64') return content;
  if (!isBase64(content)) throw refused('The content is not base64');
  return Buffer.from(content, 'base64');
}

export const FILE_MODE = '100644';
export const PROGRAM_MODE = '100755';

/** The mode of a file after an action; `before` is what it had. Links stay links. */
export function modeAfter(before: string | undefined, program: boolean | undefined): string {
  if (before !== undefined && !before.startsWith('100')) return before;
  if (program === undefined) return before ?? FILE_MODE;
  return program ? PROGRAM_MODE : FILE_MODE;
}

/** Whether an entry is a file whose content the API may change: no folder, no submodule. */
export const isFile = (entry: { mode: string } | undefined): entry is { mode: string; oid: string } =>
  entry !== undefined && entryType(entry) === 'blob';

export const isFolder = (entry: { mode: string } | undefined): boolean => entry?.mode === FOLDER_MODE;

/** The refusal of a cherry-pick or a revert that leads to a conflict, or to no change. */
export const pickRefusal = (verb: 'cherry-pick' | 'revert', code: 'conflict' | 'empty'): Failure => {
  const past = verb === 'revert' ? 'reverted' : 'cherry-picked';
  const sentence = `Sorry, we cannot ${verb} this commit automatically. This commit may already have been ${past}, or a more recent commit may have updated some of its content.`;
  return new Failure('bad_request', sentence, { errorCode: code });
};

/** The message of a cherry-pick, unless the client gave one. */
export const pickMessage = (oid: string, message: string): string =>
  `${message.trimEnd()}\n\n(cherry picked from commit ${oid})`;

/** The message of a revert, unless the client gave one. */
export const revertMessage = (oid: string, title: string): string =>
  `Revert "${title}"\n\nThis reverts commit ${oid}`;
