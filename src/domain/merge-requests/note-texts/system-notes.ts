/**
 * System notes that only merge requests have, and those on issues about them, in the public API's words
 * (facts-merge-requests §8.1). What issues have too, such as assignees, has its notes in work-items. Pure.
 */
import { sentenceOf } from '../../../platform/sentence.ts';
import { type SystemNote, systemNote } from '../../work-items/index.ts';
import { isDraft, withoutDraft } from '../texts/draft.ts';

type Named = { username: string };

const note = (action: string, body: string): SystemNote => ({ body, action });

const people = (users: readonly Named[]): string => sentenceOf(users.map(({ username }) => `@${username}`));

/** Names of branches may have backticks, which would end the code. */
function code(text: string): string {
  const runs = text.match(/`+/g) ?? [];
  if (runs.length === 0) return `\`${text}\``;
  const fence = '`'.repeat(Math.max(...runs.map(({ length }) => length)) + 1);
  return `${fence} ${text} ${fence}`;
}

const draftNote = (draft: boolean): SystemNote =>
  note('title', `marked this merge request as **${draft ? 'draft' : 'ready'}**`);

/** Why an automatic merge was aborted, as the note goes on. */
const abortReasons = {
  source_updated: 'the source branch was updated',
  target_updated: 'target branch was updated',
  target_changed: 'target branch was changed',
  closed: 'the merge request was closed',
};

/** A note for each event, on the merge request, or on what its name says. References are from the noteable's project. */
export const mergeRequestNotes = {
  /** Of a changed title: one note tells whether it is a draft, another what else has changed. */
  title(from: string, to: string): SystemNote[] {
    const [old, fresh] = [withoutDraft(from), withoutDraft(to)];
    return [
      ...(isDraft(from) === isDraft(to) ? [] : [draftNote(isDraft(to))]),
      ...(old === fresh ? [] : [systemNote({ what: 'title', from, to }, 'merge request')]),
    ];
  },
  /** `commit` is a reference to the commit whose message began with `Draft:`. */
  draftFromCommit: (commit: string) => note('title', `marked this merge request as **draft** from ${commit}`),

  reviewers(added: readonly Named[], removed: readonly Named[]): SystemNote {
    const parts = [
      ...(added.length > 0 ? [`requested review from ${people(added)}`] : []),
      ...(removed.length > 0 ? [`removed review request for ${people(removed)}`] : []),
    ];
    return note('reviewer', parts.join(' and '));
  },
  reviewAgain: (reviewer: Named, approvalRemoved: boolean) =>
    note(
      'reviewer',
      `requested review from ${people([reviewer])}${approvalRemoved ? ' and removed approval' : ''}`,
    ),
  approved: () => note('approved', 'approved this merge request'),
  unapproved: () => note('unapproved', 'unapproved this merge request'),
  approvalsReset: (approvers: readonly Named[]) =>
    note('approvals_reset', `reset approvals from ${people(approvers)} by pushing to the branch`),
  changesRequested: () => note('requested_changes', 'requested changes'),
  reviewed: () => note('reviewed', 'left review comments'),

  targetBranch: (from: string, to: string) =>
    note('branch', `changed target branch from ${code(from)} to ${code(to)}`),
  /** The target branch was merged and deleted. */
  retargeted: (deleted: string, to: string) =>
    note(
      'branch',
      `deleted the ${code(deleted)} branch. This merge request now targets the ${code(to)} branch`,
    ),
  sourceBranchDeleted: (branch: string) => note('branch', `deleted source branch ${code(branch)}`),
  sourceBranchRestored: (branch: string) => note('branch', `restored source branch ${code(branch)}`),

  threadsResolved: () => note('discussion', 'resolved all threads'),
  /** In the thread of the line or file; `url` is where the diff version shows it, if it does. */
  outdated(what: 'line' | 'file', version: number, url: string | undefined): SystemNote {
    const text = `version ${version} of the diff`;
    return note('outdated', `changed this ${what} in ${url === undefined ? text : `[${text}](${url})`}`);
  },

  autoMerge: (sha: string) =>
    note('merge', `enabled an automatic merge when all merge checks for ${sha} pass`),
  autoMergeCanceled: () => note('merge', 'canceled the automatic merge'),
  autoMergeAborted: (reason: keyof typeof abortReasons) =>
    note('merge', `aborted the automatic merge because ${abortReasons[reason]}`),

  mentioned: (kind: 'merge request' | 'issue' | 'commit', reference: string) =>
    note('cross_reference', `mentioned in ${kind} ${reference}`),
  picked: (branch: string, treeUrl: string, sha: string) =>
    note(
      'cherry_pick',
      `picked the changes into the branch [${code(branch)}](${treeUrl}) with commit ${sha}`,
    ),

  onIssue: {
    branchCreated: (branch: string, compareUrl: string) =>
      note('branch', `created branch [${code(branch)}](${compareUrl}) to address this issue`),
    mergeRequestCreated: (reference: string) =>
      note('merge', `created merge request ${reference} to address this issue`),
    closedBy: (reference: string) => note('closed', `closed via merge request ${reference}`),
  },
};
