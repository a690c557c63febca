/** The folders of a move: the sources, the growing copies, and the renames that exchange them. */

import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Repositories, RepositoryKey } from '../../../kernel/repository-store.ts';
import { syncFolder } from '../../../platform/git/write.ts';
import { randomHex } from '../../../platform/secret.ts';
import { groupWiki, projectRepository, projectWiki, snippetRepository } from '../store/containers.ts';
import type { MoveRow } from './schedule-actions.ts';

type Moved = Pick<MoveRow, 'id' | 'container' | 'container_id'>;

/** Every repository that the container may have. */
export function repositoriesOf({ container, container_id: id }: Moved): RepositoryKey[] {
  if (container === 'project') return [projectRepository(id), projectWiki(id)];
  return [container === 'snippet' ? snippetRepository(id) : groupWiki(id)];
}

const mark = (move: Moved): string => `.move-${move.id}-`;

/** A name beside the repository's folder, unique among moves and their runs. */
export const besideOf = (folder: string, move: Moved): string => `${folder}${mark(move)}${randomHex(4)}`;

const unlessAbsent = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
};

export const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(unlessAbsent))?.isDirectory() ?? false;

/** Whether both names lead to one folder: then there is nothing to copy and nothing to remove. */
export async function isSameFolder(left: string, right: string): Promise<boolean> {
  const [one, other] = await Promise.all([left, right].map((path) => stat(path).catch(unlessAbsent)));
  return one !== undefined && one.ino === other?.ino && one.dev === other.dev;
}

/** Makes the folders above a repository, each synced into the one above it, up to the storage's own. */
export async function makeParents(root: string, folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  for (let parent = dirname(folder); parent.startsWith(root); parent = dirname(parent))
    await syncFolder(parent);
}

/** Renames a folder, to be removed later; at once and whole. */
export async function setAside(folder: string, move: Moved): Promise<void> {
  if (!(await isFolder(folder))) return;
  await rename(folder, besideOf(folder, move));
  await syncFolder(dirname(folder));
}

/**
 * Renames a copy to its path, where nothing is; a run that was overtaken finds its copy gone, or another
 * folder there.
 */
export async function moveIntoPlace(copy: string, folder: string): Promise<void> {
  await rename(copy, folder);
  await syncFolder(dirname(folder));
}

/** Removes folders that the move's runs have left beside the container's repositories in a storage. */
export async function removeLeftovers(
  repositories: Repositories,
  storage: string,
  move: Moved,
): Promise<void> {
  if (!repositories.storages.has(storage)) return;
  for (const key of repositoriesOf(move)) {
    const folder = repositories.folder(key, storage);
    const parent = dirname(folder);
    const names = (await readdir(parent).catch(unlessAbsent)) ?? [];
    for (const name of names)
      if (name.startsWith(`${basename(folder)}${mark(move)}`))
        await rm(join(parent, name), { recursive: true, force: true });
  }
}
