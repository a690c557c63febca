/** Whether the branches of a merge request can be merged, as far as it is known (facts-merge-requests: 1.2). Pure. */

export type MergeStatus =
  | 'preparing'
  | 'unchecked'
  | 'checking'
  | 'can_be_merged'
  | 'cannot_be_merged'
  | 'cannot_be_merged_recheck'
  | 'cannot_be_merged_rechecking';

export type MergeStatusEvent =
  /** Its first diff is being made. */
  | 'prepare'
  /** That is done; or a branch moved, the target is another one, or it was reopened. */
  | 'change'
  /** A check was queued. */
  | 'check'
  /** What the check found. One of commits that are no longer the newest is no event. */
  | 'mergeable'
  | 'unmergeable';

/** The status after an event, by the one before; events that are not listed change nothing. */
export const mergeStatusTransitions: Readonly<
  Record<MergeStatusEvent, Readonly<Partial<Record<MergeStatus, MergeStatus>>>>
> = {
  prepare: { unchecked: 'preparing' },
  change: {
    preparing: 'unchecked',
    checking: 'unchecked',
    can_be_merged: 'unchecked',
    cannot_be_merged: 'cannot_be_merged_recheck',
    cannot_be_merged_rechecking: 'cannot_be_merged_recheck',
  },
  check: { unchecked: 'checking', cannot_be_merged_recheck: 'cannot_be_merged_rechecking' },
  mergeable: { checking: 'can_be_merged', cannot_be_merged_rechecking: 'can_be_merged' },
  unmergeable: { checking: 'cannot_be_merged', cannot_be_merged_rechecking: 'cannot_be_merged' },
};

export const mergeStatusAfter = (status: MergeStatus, event: MergeStatusEvent): MergeStatus =>
  mergeStatusTransitions[event][status] ?? status;

/** The `merge_status` of records: two of them are shown as `checking`. */
export const publicMergeStatus = (
  status: MergeStatus,
): Exclude<MergeStatus, 'preparing' | 'cannot_be_merged_rechecking'> =>
  status === 'preparing' || status === 'cannot_be_merged_rechecking' ? 'checking' : status;

/** Whether the people concerned are told of the conflict: at first, and not after each check that finds it again. */
export const isNewConflict = (before: MergeStatus, after: MergeStatus): boolean =>
  before === 'checking' && after === 'cannot_be_merged';
