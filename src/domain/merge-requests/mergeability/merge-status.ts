/**
 * Whether the branches of a merge request can be merged, as far as it is known (facts-merge-requests: 1.2). What is judged is
 * judged when it is written: nobody sees one that is being prepared or checked. Pure.
 */

export type MergeStatus = 'unchecked' | 'can_be_merged' | 'cannot_be_merged' | 'cannot_be_merged_recheck';

/** Whether the people concerned are told of the conflict: at first, and not after each judgement that finds it again. */
export const isNewConflict = (before: MergeStatus, after: MergeStatus): boolean =>
  after === 'cannot_be_merged' && (before === 'unchecked' || before === 'can_be_merged');
