/** Forks a repository on this machine: with all branches and tags, or with one branch. */
import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { randomHex } from '../../secret.ts';
import { fullRef } from '../names.ts';
import { git } from '../program/program.ts';
import { layOut, syncFolder } from '../write.ts';
import { checkConnections } from './check.ts';
import { allRefs, copyRepository, syncRepository } from './copy.ts';
import { fetchObjects } from './fetch.ts';

/**
 * Replaces an empty repository by the source's content. The draft is built beside it and checked first: the
 * folder is always empty or whole. The source may be read, written and repacked meanwhile, but not removed.
 */
export async function forkRepository(
  source: string,
  folder: string,
  branch: string | undefined,
): Promise<void> {
  const draft = join(dirname(folder), `.new-${randomHex(8)}`);
  try {
    if (branch === undefined) await copyShared(source, draft);
    else await copyBranch(source, draft, branch);
    await Promise.all([syncRepository(draft), checkConnections(draft)]);
    await replaceFolder(folder, draft);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}

/** Copies all branches and tags, and no other refs of the source. */
async function copyShared(source: string, draft: string): Promise<void> {
  await copyRepository(source, draft, { link: true });
  const strange = (await allRefs(draft))
    .split('\n')
    .map((line) => line.slice(line.indexOf(' ') + 1))
    .filter((ref) => ref !== '' && !/^refs\/(heads|tags)\//.test(ref));
  if (strange.length === 0) return;
  const input = Buffer.from(strange.map((ref) => `delete ${ref}\n`).join(''), 'latin1');
  await git(['update-ref', '--stdin'], { folder: draft, input });
}

/** Copies one branch with its history, and no other object. */
async function copyBranch(source: string, draft: string, branch: string): Promise<void> {
  const ref = fullRef('branch', branch);
  await layOut(draft, `ref: ${ref}\n`);
  await fetchObjects(source, draft, `${ref}:${ref}`);
  await syncFolder(draft);
}

async function replaceFolder(folder: string, draft: string): Promise<void> {
  const parent = dirname(folder);
  const removing = join(parent, `.removing-${randomHex(8)}`);
  await rename(folder, removing);
  await rename(draft, folder);
  await syncFolder(parent);
  await rm(removing, { recursive: true, force: true });
}
