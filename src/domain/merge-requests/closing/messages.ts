/** The messages of a merge request's commits, as far as they are searched for issues. */
import { Failure } from '../../../platform/failure.ts';
import { readShownCommits } from '../../../platform/git/history/history.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';

/** The newest ones. */
const MAX_COMMITS = 1_000;
const READ_AT_ONCE = 50;
/** Characters of all messages. */
const MAX_LENGTH = 1_048_576;

/** Messages by the ids, in their order, until they are too many or too long. */
export async function readMessages(git: GitFolder, commits: readonly string[]): Promise<string[]> {
  const messages: string[] = [];
  let length = 0;
  for (let at = 0; at < Math.min(commits.length, MAX_COMMITS); at += READ_AT_ONCE) {
    const some = await readShownCommits(git, commits.slice(at, at + READ_AT_ONCE)).catch((error) => {
      if (error instanceof Failure && error.kind === 'unprocessable') return undefined;
      throw error;
    });
    if (!some) return messages;
    for (const { message } of some) {
      length += message.length;
      if (length > MAX_LENGTH) return messages;
      messages.push(message);
    }
  }
  return messages;
}
