/** The actions of a commit, one after the other, as changes of the tree that it starts from. */

import { lastCommitOf } from '../../../platform/git/history/last-commit.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { type Commit, type NewObject, newBlob } from '../../../platform/git/parse.ts';
import { editTree, findEntry, PathConflict, type TreeChange, walkTree } from '../../../platform/git/trees.ts';
import {
  contentOf,
  FILE_EXISTS,
  FOLDER_EXISTS,
  filePath,
  isFile,
  isFolder,
  modeAfter,
  NO_FILE,
  refused,
  staleFile,
} from './rules.ts';
import type { CommitAction } from './schema.ts';

type Entry = { mode: string; oid: string };

/** The tree of the commit after the actions, and the objects to store for it; 400 for the first invalid action. */
export async function applyActions(
  git: GitFolder,
  base: Commit | undefined,
  actions: readonly CommitAction[],
): Promise<{ tree: string; objects: NewObject[] }> {
  const changes = new Map<string, TreeChange>();
  const blobs: NewObject[] = [];

  /** The entry at the path after the actions so far. */
  async function entryAt(path: readonly string[]): Promise<Entry | undefined> {
    const change = changes.get(path.join('/'));
    if (change) return change.entry;
    return base && findEntry(git, base.tree, path);
  }
  const put = (path: readonly string[], entry: Entry | undefined): void => {
    changes.set(path.join('/'), { path, entry });
  };

  async function refuseTaken(path: readonly string[]): Promise<void> {
    const entry = await entryAt(path);
    if (entry === undefined) return;
    if (!isFolder(entry)) throw refused(FILE_EXISTS);
    // A folder is removed with its last file.
    for await (const { path: below, mode } of walkTree(git, entry.oid, `${path.join('/')}/`))
      if (!isFolder({ mode }) && !isGone(below)) throw refused(FOLDER_EXISTS);
  }
  const isGone = (path: string): boolean => {
    const change = changes.get(path);
    return change !== undefined && change.entry === undefined;
  };

  async function fileAt(path: readonly string[]): Promise<Entry> {
    const entry = await entryAt(path);
    if (!isFile(entry)) throw refused(NO_FILE);
    return entry;
  }

  async function refuseStale(action: CommitAction, path: readonly string[]): Promise<void> {
    const known = action.last_commit_id;
    if (known === undefined || known === '' || !base) return;
    if ((await lastCommitOf(git, base, path)) !== known) throw refused(staleFile(action.action));
  }

  const blobOf = async (action: CommitAction): Promise<string> => {
    const blob = await newBlob(contentOf(action));
    blobs.push(blob);
    return blob.oid;
  };

  const steps: Record<CommitAction['action'], (action: CommitAction, path: string[]) => Promise<void>> = {
    async create(action, path) {
      await refuseTaken(path);
      put(path, { mode: modeAfter(undefined, action.execute_filemode), oid: await blobOf(action) });
    },
    async update(action, path) {
      const { mode } = await fileAt(path);
      await refuseStale(action, path);
      put(path, { mode: modeAfter(mode, action.execute_filemode), oid: await blobOf(action) });
    },
    async move(action, path) {
      const from = filePath(action.previous_path);
      const { mode, oid } = await fileAt(from);
      await refuseStale(action, from);
      put(from, undefined);
      await refuseTaken(path);
      const content = action.content === undefined ? oid : await blobOf(action);
      put(path, { mode: modeAfter(mode, action.execute_filemode), oid: content });
    },
    async delete(action, path) {
      const entry = await entryAt(path);
      if (entry === undefined || isFolder(entry)) throw refused(NO_FILE);
      await refuseStale(action, path);
      put(path, undefined);
    },
    async chmod(action, path) {
      const { mode, oid } = await fileAt(path);
      await refuseStale(action, path);
      put(path, { mode: modeAfter(mode, action.execute_filemode ?? false), oid });
    },
  };

  for (const action of actions) await steps[action.action](action, filePath(action.file_path));
  try {
    const { oid, objects } = await editTree(git, base?.tree, [...changes.values()]);
    return { tree: oid, objects: [...blobs, ...objects] };
  } catch (error) {
    // A file is at a path that needs a folder.
    if (error instanceof PathConflict) throw refused(FILE_EXISTS);
    throw error;
  }
}
