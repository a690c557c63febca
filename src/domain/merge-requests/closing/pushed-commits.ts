/** The commits of a push, as far as their messages are looked at. */
import { Failure } from '../../../platform/failure.ts';
import { commitsBetween, listHistory } from '../../../platform/git/history/history.ts';
import { NO_OBJECT } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import type { RefUpdate } from '../../../platform/git/write.ts';

/** The newest ones: the first push of a long history closes few issues. */
const MAX_COMMITS = 100;

/** Pushed commits, oldest first; none where their messages are too long together. */
export async function readPushed(
  git: GitFolder,
  { before, after }: Pick<RefUpdate, 'before' | 'after'>,
): Promise<Commit[]> {
  try {
    if (before !== NO_OBJECT) return await commitsBetween(git, git, before, after, MAX_COMMITS);
    return (await listHistory(git, after, {}, { offset: 0, limit: MAX_COMMITS })).reverse();
  } catch (error) {
    if (error instanceof Failure && error.kind === 'unprocessable') return [];
    throw error;
  }
}
