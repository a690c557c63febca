/** The title and description of a merge request that is opened without them (facts-merge-requests §2.1). Pure. */
import { bodyOf, titleOf } from '../../../platform/git/commit-texts.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { firstMultilineCommit } from './commit-values.ts';
import { asDraft } from './draft.ts';
import { fitsTitle, fittingTitle } from './titles.ts';

const numbered = /^(\d{1,9})-/;

/** The number of the issue that a branch is named after, `12-fix-it`; undefined for other names. */
export function issueNumberOf(branch: string): number | undefined {
  const number = Number(numbered.exec(branch)?.[1] ?? 0);
  return number > 0 ? number : undefined;
}

/** `feature/add-some_thing` as `Feature/add some thing`. */
function humanised(branch: string): string {
  const words = branch
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[-_]+/g, ' ')
    .trim()
    .toLowerCase();
  return words === '' ? branch : words.replace(/^./u, (letter) => letter.toUpperCase());
}

type Texts = { title: string; description: string | null };

export type TextSources = {
  /** What the author gave: it is kept, but for what is added to it. */
  given: { title?: string | undefined; description?: string | undefined };
  /** Of the merge request, oldest first. */
  commits: readonly Pick<Commit, 'message' | 'parents'>[];
  sourceBranch: string;
  /** Of the target project, by issueNumberOf(); undefined also where the author does not see it. */
  issue: { iid: number; title: string; confidential: boolean } | undefined;
  /** The target project's `autoclose_referenced_issues`. */
  autoclose: boolean;
};

/** The texts of a commit, where one speaks for all; a title that is too long is in the description, too. */
function textsOfCommit(commits: TextSources['commits']): Texts | undefined {
  const [only, ...others] = commits;
  const commit = only && others.length === 0 ? only : firstMultilineCommit(commits);
  if (!commit) return undefined;
  const title = titleOf(commit.message);
  const description = fitsTitle(title) ? bodyOf(commit.message) : commit.message.trim();
  return title === '' ? undefined : { title, description: description || null };
}

/** Everybody who sees the merge request sees its title: that of a confidential issue is not told. */
const titleOfIssue = (issue: TextSources['issue']): string | undefined =>
  issue && !issue.confidential ? `Resolve "${issue.title}"` : undefined;

/**
 * The title, of the commit that speaks for all, else of the issue, else of the branch, and the description, with a line
 * about the issue. Without any commits it is a draft. Titles made here have at most 255 characters; given ones are
 * not checked.
 */
export function defaultTexts({ given, commits, sourceBranch, issue, autoclose }: TextSources): Texts {
  const ofCommit = textsOfCommit(commits);
  const made = ofCommit?.title ?? titleOfIssue(issue) ?? humanised(sourceBranch);
  const drafted = (title: string): string => (commits.length === 0 ? asDraft(title) : title);
  const description = given.description ?? ofCommit?.description ?? '';
  const aboutIssue = issue ? `${autoclose ? 'Closes' : 'Related to'} #${issue.iid}` : '';
  const paragraphs = [description, aboutIssue].filter((paragraph) => paragraph.trim() !== '');
  return {
    title: given.title === undefined ? fittingTitle(drafted(made)) : drafted(given.title),
    description: paragraphs.length > 0 ? paragraphs.join('\n\n') : null,
  };
}
