/** Drafts: merge requests whose titles begin with `Draft:`, `[Draft]` or `(Draft)` (facts-merge-requests §2.2). Pure. */
import { titleOf } from '../../../platform/git/commit-texts.ts';

const PREFIX = String.raw`(?:\[draft\]|\(draft\)|draft:)\s*`;
const onePrefix = new RegExp(`^${PREFIX}`, 'i');
const allPrefixes = new RegExp(`^(?:${PREFIX})+`, 'i');

/** Whether a merge request of this title is a draft. `WIP:` and a bare `Draft` meant it once, and no longer do. */
export const isDraft = (title: string): boolean => onePrefix.test(title);

/** The title of the merge request when it is ready, without every prefix; blank where it was only prefixes. */
export const withoutDraft = (title: string): string => title.replace(allPrefixes, '');

/** The title of the merge request as a draft: up to seven characters longer. */
export const asDraft = (title: string): string => (isDraft(title) ? title : `Draft: ${title}`);

/** The first of the pushed commits whose message makes its merge request a draft; undefined without one. */
export const draftingCommit = <C extends { message: string }>(commits: readonly C[]): C | undefined =>
  commits.find(({ message }) => isDraft(titleOf(message)));
