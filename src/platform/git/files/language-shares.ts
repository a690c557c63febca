/** Languages of a repository. */
import { createCommitCache } from '../history/commit-cache.ts';
import type { GitFolder } from '../objects.ts';
import { eachFile } from './listed-files.ts';

const cache = createCommitCache<Record<string, number>>(2_000);

/** The share of each language in the files of a commit; 422 for a tree too large to be listed. */
export const languagesOf = (git: GitFolder, commit: string): Promise<Record<string, number>> =>
  cache(`${git.folder} ${commit}`, async () => {
    const { addSize, shares } = await import('./languages.ts');
    const bytes = new Map<string, number>();
    await eachFile(git, commit, (file) => addSize(bytes, file));
    return shares(bytes);
  });
