/** The quick actions of merge requests: those that they share with issues, and their own. Pure. */
import { byNames } from '../../conversation/index.ts';
import { sharedRulesOf, userIds, withUsers } from '../../work-items/index.ts';
import type { Requested } from '../changes/requested.ts';
import { asDraft, isDraft, withoutDraft } from '../texts/draft.ts';
import { fitsTitle } from '../texts/titles.ts';
import type {
  MergeRequestEffect,
  MergeRequestKnown,
  MergeRequestRule,
  WholeCommand,
} from './command-terms.ts';

const titleOf = (known: MergeRequestKnown, before: Requested): string => before.title ?? known.now.title;

const reviewers = (known: MergeRequestKnown, before: Requested): readonly number[] =>
  before.reviewer_ids ?? known.now.reviewerIds;

/** A command about the whole merge request, which has no argument. */
const wholly = (name: WholeCommand, message: (known: MergeRequestKnown) => string): MergeRequestRule => ({
  names: [name],
  who: 'speakers',
  mean: (_argument, known) =>
    known.may[name] ? { effects: [{ do: name }], message: message(known) } : undefined,
});

const ownRules: readonly MergeRequestRule[] = [
  {
    names: ['draft'],
    who: 'author',
    mean: (_argument, known, before) => {
      const title = titleOf(known, before);
      if (isDraft(title) || !fitsTitle(asDraft(title))) return undefined;
      return { changes: { title: asDraft(title) }, message: 'Marked this merge request as a draft.' };
    },
  },
  {
    names: ['ready'],
    who: 'author',
    mean: (_argument, known, before) => {
      const title = titleOf(known, before);
      const ready = withoutDraft(title);
      if (!isDraft(title) || ready.trim() === '') return undefined;
      return { changes: { title: ready }, message: 'Marked this merge request as ready.' };
    },
  },
  {
    names: ['assign_reviewer', 'reviewer'],
    who: 'team',
    mean: (argument, known, before) => {
      const added = userIds(argument, known);
      if (added.length === 0) return undefined;
      const reviewer_ids = withUsers(reviewers(known, before), added, known);
      return { changes: { reviewer_ids }, message: `Assigned ${argument} as reviewer.` };
    },
  },
  {
    names: ['request_review'],
    who: 'team',
    mean: (argument, known, before) => {
      const named = userIds(argument, known);
      if (named.length === 0) return undefined;
      const current = reviewers(known, before);
      const again = named.filter((id) => known.now.reviewerIds.includes(id) && current.includes(id));
      const effects: MergeRequestEffect[] = again.length > 0 ? [{ do: 'review_again', userIds: again }] : [];
      const message = `Requested a review from ${argument}.`;
      if (again.length === named.length) return { effects, message };
      return { changes: { reviewer_ids: withUsers(current, named, known) }, effects, message };
    },
  },
  {
    names: ['reassign_reviewer'],
    who: 'team',
    mean: (argument, known) => {
      const reviewer_ids = withUsers([], userIds(argument, known), known);
      if (reviewer_ids.length === 0) return undefined;
      return { changes: { reviewer_ids }, message: `Changed reviewer(s) to ${argument}.` };
    },
  },
  {
    names: ['unassign_reviewer', 'remove_reviewer'],
    who: 'team',
    mean: (argument, known, before) => {
      const current = reviewers(known, before);
      const removed = argument === '' ? current : userIds(argument, known);
      const reviewer_ids = current.filter((id) => !removed.includes(id));
      if (reviewer_ids.length === current.length) return undefined;
      return { changes: { reviewer_ids }, message: `Removed reviewer ${argument}`.trim().concat('.') };
    },
  },
  {
    names: ['target_branch'],
    who: 'author',
    mean: (argument, { now, branches }) =>
      now.state === 'merged' || argument === now.targetBranch || !branches.has(argument)
        ? undefined
        : { changes: { target_branch: argument }, message: `Set target branch to ${argument}.` },
  },
  wholly('merge', () => 'Scheduled to merge this merge request when its checks pass.'),
  wholly('rebase', ({ now }) => `Scheduled a rebase of branch ${now.sourceBranch}.`),
  wholly('approve', () => 'Approved the current merge request.'),
  {
    names: ['request_changes'],
    who: 'speakers',
    mean: (_argument, { me, now }) =>
      now.state !== 'new' && now.reviewerIds.includes(me.id)
        ? {
            effects: [{ do: 'request_changes' }],
            message: 'Changes requested to the current merge request.',
          }
        : undefined,
  },
  wholly('unapprove', () => 'Unapproved the current merge request.'),
];

/** By name. */
export const mergeRequestRules = byNames<MergeRequestRule>([...ownRules, ...sharedRulesOf('merge request')]);
