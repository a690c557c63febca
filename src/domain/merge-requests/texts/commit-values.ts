/** What templates say of a merge request's commits (facts-merge-requests §4.3). Pure. */
import { bodyOf, titleOf } from '../../../platform/git/commit-texts.ts';
import type { Commit, Signature } from '../../../platform/git/parse.ts';
import type { Values } from './placeholders.ts';
import { fittingTitle } from './titles.ts';

/** The name and address of a person in git. */
export type Identity = Pick<Signature, 'name' | 'email'>;

/** `Name <address>`, in one line: a name must not add lines that read as other people's. */
export const identityText = ({ name, email }: Identity): string =>
  `${name.replaceAll(/[\r\n]+/g, ' ')} <${email}>`;

type Messages = Pick<Commit, 'message' | 'parents'>;

const isMerge = ({ parents }: Pick<Commit, 'parents'>): boolean => parents.length > 1;

/** The first commit, oldest first, that is no merge and whose message goes on after its title. */
export const firstMultilineCommit = <C extends Messages>(commits: readonly C[]): C | undefined =>
  commits.find((commit) => !isMerge(commit) && bodyOf(commit.message) !== '');

/** The newest ones, whose messages and authors are told. */
const MAX_TOLD_COMMITS = 100;
const newestFirst = <C>(commits: readonly C[]): C[] => commits.slice(-MAX_TOLD_COMMITS).reverse();

const MAX_MESSAGE_BYTES = 100 * 1_024;

const itemOf = (message: string): string =>
  Buffer.byteLength(message) > MAX_MESSAGE_BYTES
    ? `* ${fittingTitle(titleOf(message))}\n\n-- Skipped commit body exceeding 100KiB in size.`
    : `* ${message.trim()}`;

/** A line for each address once, in any case of its letters, but for the committing person's. */
function coAuthors(commits: readonly Pick<Commit, 'author'>[], committing: Identity): string {
  const authors = new Map<string, Identity>();
  for (const { author } of commits) authors.set(author.email.toLowerCase(), author);
  authors.delete(committing.email.toLowerCase());
  return [...authors.values()].map((author) => `Co-authored-by: ${identityText(author)}`).join('\n');
}

/**
 * The values of the variables for commits. `commits` are oldest first; of a long history the first ones and the newest
 * hundred do. `title` is the merge request's; `committing` is who is named as the author already.
 */
export const commitValues = (
  commits: readonly Pick<Commit, 'message' | 'parents' | 'author'>[],
  { title, committing }: { title: string; committing: Identity },
) =>
  ({
    first_commit: () => commits[0]?.message.trim() ?? '',
    first_multiline_commit: () => firstMultilineCommit(commits)?.message.trim() ?? title,
    first_multiline_commit_description: () => bodyOf(firstMultilineCommit(commits)?.message ?? ''),
    co_authored_by: () => coAuthors(newestFirst(commits), committing),
    all_commits: () =>
      newestFirst(commits)
        .filter((commit) => !isMerge(commit))
        .map(({ message }) => itemOf(message))
        .join('\n\n'),
  }) satisfies Values;
