/** The description that a template gives a new merge request (facts-merge-requests §2.1). Pure. */
import type { Commit } from '../../../platform/git/parse.ts';
import { commitValues, type Identity } from './commit-values.ts';
import { fillIn } from './placeholders.ts';

/** UTF-16 units; a description has at most as many characters. */
const MAX_DESCRIPTION_LENGTH = 1_048_576;

export type NewMergeRequest = {
  sourceBranch: string;
  targetBranch: string;
  title: string;
  author: Identity;
  /** Oldest first. */
  commits: readonly Pick<Commit, 'message' | 'parents' | 'author'>[];
};

/** The template with its values; variables of merge requests that exist are empty, others stay as written. */
export function descriptionFrom(template: string, mergeRequest: NewMergeRequest): string {
  const { sourceBranch, targetBranch, title, author, commits } = mergeRequest;
  const values = {
    source_branch: () => sourceBranch,
    target_branch: () => targetBranch,
    ...commitValues(commits, { title, committing: author }),
  };
  return fillIn(template, values, MAX_DESCRIPTION_LENGTH);
}
