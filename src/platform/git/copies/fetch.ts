/** Fetches commits from another repository on this machine, with all that they need and nothing else. */
import { now } from '../../clock.ts';
import { createShare } from '../../fair-share.ts';
import { GitError, tooLarge } from '../program/program.ts';
import { type RefUpdate, syncNewObjects, syncRefNames, updateRefs } from '../write.ts';
import { runLong } from './housekeeping.ts';

/** A history may be copied whole. */
const FETCH_TIMEOUT_MS = 600_000;

const fetches = createShare({
  of: 'copies between repositories',
  places: 4,
  perCaller: 2,
  waitingPerCaller: 50,
  waiting: 200,
  timeoutMs: 5_000,
});

/** Fetches what `wanted` names: an id, or `<ref>:<ref>`. */
export async function fetchObjects(
  source: string,
  folder: string,
  wanted: string,
  signal?: AbortSignal,
): Promise<void> {
  const quietly = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance'];
  await runLong(['fetch', ...quietly, '--', source, wanted], folder, signal);
}

/**
 * Points a ref to a commit of another repository, whose objects are copied as far as they are reachable from
 * it; durable when it returns. `missing` where the source has no such commit; throws RefMoved where the ref is
 * no longer what it was. The source must not be removed meanwhile; it is only read.
 */
export const fetchRef = (source: string, folder: string, update: RefUpdate): Promise<'fetched' | 'missing'> =>
  fetches.run(async () => {
    const since = now();
    const deadline = AbortSignal.timeout(FETCH_TIMEOUT_MS);
    try {
      await fetchObjects(source, folder, update.after, deadline);
    } catch (error) {
      if (deadline.aborted) throw tooLarge();
      if (error instanceof GitError && /not our ref/.test(error.stderr)) return 'missing';
      throw error;
    }
    await syncNewObjects(folder, since);
    // Last, and only if it is where the caller saw it: until then nothing reaches the objects.
    await updateRefs(folder, [update]);
    await syncRefNames(folder, [update.ref]);
    return 'fetched';
  });
