/** What changes of a merge request: its properties before and after, their differences, and the system notes. Pure. */
import {
  differences,
  type IssueState,
  labelsAfter,
  type NamedReferences,
  type NamedUser,
  type SystemNote,
  systemNotes,
  type WorkChange,
  without,
} from '../../work-items/index.ts';
import { mergeRequestNotes } from '../note-texts/system-notes.ts';
import type { Requested } from './requested.ts';

/** The properties that are compared. */
export type MergeRequestState = Pick<
  IssueState,
  | 'title'
  | 'description'
  | 'state'
  | 'discussion_locked'
  | 'time_estimate'
  | 'assignees'
  | 'labels'
  | 'milestone'
> & { reviewers: readonly NamedUser[]; target_branch: string };

export type MergeRequestChange =
  | WorkChange
  | { what: 'reviewers'; added: NamedUser[]; removed: NamedUser[] }
  | { what: 'target_branch'; from: string; to: string };

/** The records that a request names. */
export type Named = NamedReferences & {
  assignees: NamedUser[] | undefined;
  reviewers: NamedUser[] | undefined;
};

const given = <T>(value: T | undefined, otherwise: T): T => (value === undefined ? otherwise : value);

/** The state after an event: what is merged stays so, and so does what is being merged. */
function stateAfterEvent(state: string, event: Requested['state_event']): string {
  if (event === 'close' && state === 'opened') return 'closed';
  return event === 'reopen' && state === 'closed' ? 'opened' : state;
}

/** The merge request as it will be: what was not asked for stays. */
export function stateAfter(before: MergeRequestState, requested: Requested, named: Named): MergeRequestState {
  const { labels, addLabels: add, removeLabels: remove } = named;
  // A merged one stays where it was merged, and one that is being merged where it is.
  const isPlaced = before.state === 'merged' || before.state === 'locked';
  return {
    title: given(requested.title, before.title),
    description: given(requested.description, before.description),
    state: stateAfterEvent(before.state, requested.state_event),
    discussion_locked: given(requested.discussion_locked, before.discussion_locked),
    time_estimate: given(requested.time_estimate, before.time_estimate),
    target_branch: isPlaced ? before.target_branch : given(requested.target_branch, before.target_branch),
    assignees: given(named.assignees, before.assignees),
    reviewers: given(named.reviewers, before.reviewers),
    labels: labelsAfter(before.labels, { labels, add, remove }),
    milestone: given(named.milestone, before.milestone),
  };
}

/** The properties that merge requests share with issues; the others are constant. */
const asIssue = ({ reviewers: _, target_branch: __, ...shared }: MergeRequestState): IssueState => ({
  ...shared,
  confidential: false,
  issue_type: '',
  severity: '',
  start_date: null,
  due_date: null,
  weight: null,
  health_status: null,
  epic: null,
  original: null,
});

/** The differences, in the order of their system notes. */
export function mergeRequestDifferences(
  before: MergeRequestState,
  after: MergeRequestState,
): { shared: WorkChange[]; all: MergeRequestChange[] } {
  const shared = differences(asIssue(before), asIssue(after));
  const all: MergeRequestChange[] = [...shared];
  const added = without(after.reviewers, before.reviewers);
  const removed = without(before.reviewers, after.reviewers);
  if (added.length + removed.length > 0) all.push({ what: 'reviewers', added, removed });
  if (before.target_branch !== after.target_branch)
    all.push({ what: 'target_branch', from: before.target_branch, to: after.target_branch });
  return { shared, all };
}

/** The notes of the changes. Labels, milestones and states are shown by their events instead. */
export const notesOf = (
  changes: readonly MergeRequestChange[],
  { isTargetDeleted = false } = {},
): SystemNote[] =>
  changes.flatMap((change): SystemNote[] => {
    switch (change.what) {
      case 'title':
        return mergeRequestNotes.title(change.from, change.to);
      case 'reviewers':
        return [mergeRequestNotes.reviewers(change.added, change.removed)];
      case 'target_branch':
        return [
          isTargetDeleted
            ? mergeRequestNotes.retargeted(change.from, change.to)
            : mergeRequestNotes.targetBranch(change.from, change.to),
        ];
      case 'labels':
      case 'milestone':
      case 'state':
        return [];
      default:
        return systemNotes(change, 'merge request');
    }
  });
