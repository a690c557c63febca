/** Types of the quick actions of merge requests. Pure. */
import type { CommandRule, OwnEffect } from '../../conversation/index.ts';
import type { SharedKnown, TimeEffect } from '../../work-items/index.ts';
import type { Requested } from '../changes/requested.ts';

/** Commands about the whole merge request. */
export type WholeCommand = 'merge' | 'rebase' | 'approve' | 'unapprove';

export type MergeRequestEffect =
  | OwnEffect
  | TimeEffect
  | { do: WholeCommand }
  /** By the speaker, who reviews it. */
  | { do: 'request_changes' }
  /** Reviewers who are to look again. */
  | { do: 'review_again'; userIds: readonly number[] };

export type MergeRequestKnown = SharedKnown & {
  /** Of a merge request that is there: to merge it when its checks pass, to write its source branch anew, and to approve. */
  may: Record<WholeCommand, boolean>;
  now: {
    /** `new` while it is being opened. */
    state: string;
    title: string;
    sourceBranch: string;
    targetBranch: string;
    reviewerIds: readonly number[];
  };
  /** Branches into which it can be merged, of those that arguments name. */
  branches: ReadonlySet<string>;
};

export type MergeRequestRule = CommandRule<MergeRequestKnown, Requested, MergeRequestEffect>;
