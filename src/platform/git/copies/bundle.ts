/** Bundles of git: a whole repository in one file. */
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { randomHex } from '../../secret.ts';
import { FETCHED_REFS, GitError } from '../program/program.ts';
import { layOut, syncFolder } from '../write.ts';
import { checkConnections } from './check.ts';
import { allRefs, syncRepository } from './copy.ts';
import { runLong } from './housekeeping.ts';

/** Writes all that clients may fetch into a file; false where there is nothing. */
export async function writeBundle(folder: string, file: string, signal?: AbortSignal): Promise<boolean> {
  // What merging would make of a branch is made anew.
  const refs = ['--branches', '--tags', `--exclude=${FETCHED_REFS}/*/merge`, `--glob=${FETCHED_REFS}/*`];
  try {
    await runLong(['bundle', 'create', '--quiet', file, ...refs], folder, signal);
    return true;
  } catch (error) {
    if (
      error instanceof GitError &&
      /empty bundle|need a repository|not a git repository/i.test(error.stderr)
    )
      return false;
    throw error;
  }
}

/** The file is no bundle, or a damaged one: in words for whoever brought it. */
export class BadBundle extends Error {}

const first = /^# v[23] git bundle\n/;

/** Git would follow another file to where it points. */
async function refuseOthers(bundle: string): Promise<void> {
  const file = await open(bundle);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(32), 0, 32, 0);
    if (!first.test(buffer.toString('latin1', 0, bytesRead)))
      throw new BadBundle('It is not a bundle of git.');
  } finally {
    await file.close();
  }
}

/** As for what is pushed. */
const checked = [
  ...['-c', 'fetch.fsckObjects=true'],
  ...['-c', 'fetch.fsck.missingSpaceBeforeDate=ignore'],
  ...['-c', 'fetch.fsck.zeroPaddedFilemode=ignore'],
];
const quietly = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance'];
const wanted = ['refs/heads/*', 'refs/tags/*', `${FETCHED_REFS}/*/head`].map((refs) => `+${refs}:${refs}`);

/** A repository that is beside the one whose place it takes. */
export type PreparedRepository = { folder: string; place(): Promise<void>; discard(): Promise<void> };

/** Unpacks a bundle beside a repository, whole and checked. BadBundle for what is none. */
export async function prepareFromBundle(
  bundle: string,
  folder: string,
  signal?: AbortSignal,
): Promise<PreparedRepository> {
  await refuseOthers(bundle);
  const parent = dirname(folder);
  const draft = join(parent, `.new-${randomHex(8)}`);
  const discard = () => rm(draft, { recursive: true, force: true });
  try {
    await layOut(draft, 'ref: refs/heads/main\n');
    await runLong([...checked, 'fetch', ...quietly, '--', bundle, ...wanted], draft, signal).catch(
      (error: unknown) => {
        if (error instanceof GitError) throw new BadBundle(reasonOf(error.stderr), { cause: error });
        throw error;
      },
    );
    if ((await allRefs(draft)) === '') throw new BadBundle('It has no branches or tags.');
    await Promise.all([syncRepository(draft), checkConnections(draft, signal)]);
  } catch (error) {
    await discard();
    throw error;
  }
  return {
    folder: draft,
    discard,
    async place() {
      const removing = join(parent, `.removing-${randomHex(8)}`);
      await rename(folder, removing);
      await rename(draft, folder);
      await syncFolder(parent);
      await rm(removing, { recursive: true, force: true });
    },
  };
}

/** What git says, without the folders of this machine. */
const reasonOf = (said: string): string =>
  said
    .split('\n')
    .map((line) => line.replace(/^(error|fatal): /, '').replaceAll(/'?\/[^\s']+'?/g, 'the bundle'))
    .find((line) => line.trim() !== '')
    ?.slice(0, 255) ?? 'Git could not read it.';
