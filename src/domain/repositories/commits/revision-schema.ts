/** Refs and revisions in requests, as the API's description has them. */
import { refNamePattern } from '../../../platform/git/names.ts';

/** A branch or tag that exists, or is to be made. */
export const newRef = { ruled: { pattern: refNamePattern } };
/** A branch that exists. */
export const existingBranch = { ruled: { format: 'git-branch', pattern: refNamePattern } };
/** A branch, a tag or a commit that exists. */
export const revision = { ruled: { format: 'git-revision' } };
