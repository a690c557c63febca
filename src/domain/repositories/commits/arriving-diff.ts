/** Differences whose files are sent while git compares the next ones. */
import { arriving } from '../../../platform/arriving.ts';
import { holdForRequest } from '../../../platform/fair-share.ts';
import type { Diff, DiffOptions, FileDiff } from '../../../platform/git/history/parse-diff.ts';

/** `overflow` is known when all files have come. */
export type ArrivingDiff = { files: AsyncIterable<FileDiff>; overflow: () => boolean };

/** Characters of patches from which on a difference counts as a long one. */
const LONG = 65_536;
/** What the patches of a difference are at most; they wait for their reader, so that git does not. */
const MOST = 5 * 1_048_576;

/** `read` reads the difference with these options. Of a long one all that it may take is held before most of it is sent. */
export function arrivingDiff(
  read: (options: Pick<DiffOptions, 'give'>) => Promise<Diff | undefined>,
): ArrivingDiff {
  let overflow = false;
  let length = 0;
  const files = arriving<FileDiff>(async (giveFile) => {
    const give = (file: FileDiff): void => {
      const wasShort = length <= LONG;
      length += file.diff.length;
      if (wasShort && length > LONG) holdForRequest(MOST);
      giveFile(file);
    };
    overflow = (await read({ give }))?.overflow ?? false;
  });
  return { files, overflow: () => overflow };
}
