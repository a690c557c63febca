/** Types of the quick actions that issues, epics and merge requests share. Pure. */
import type { CommandRule, Known as NoteableKnown } from '../../conversation/index.ts';
import type { IssueChanges } from '../changes/issue-changes.ts';
import type { Metadata } from './metadata-sources.ts';

/** Nouns for the noteables, as messages have them. */
export type SharedKind = 'issue' | 'epic' | 'merge request';

export type TimeEffect =
  | { do: 'reset_spent' }
  | { do: 'spend'; seconds: number; spentOn: string | undefined };

/** The records that arguments name, and the day on which they are read. */
export type NamedRecords = {
  /** YYYY-MM-DD. */
  today: string;
  /** Ids by lowercase username. */
  users: ReadonlyMap<string, number>;
  /** Names of existing labels. */
  labels: ReadonlySet<string>;
  milestones: ReadonlyMap<string, number>;
  /** By reference: `#1`, `!1`. */
  metadata: ReadonlyMap<string, Metadata>;
};

export type SharedKnown = NoteableKnown &
  NamedRecords & {
    /** Locking the discussion is a permission of its own. */
    may: { lock: boolean };
    now: { state: string; locked: boolean; assigneeIds: readonly number[] };
    /** Whether there may be several assignees, or reviewers. */
    takesSeveral: boolean;
  };

export type SharedChanges = Pick<
  IssueChanges,
  | 'title'
  | 'state_event'
  | 'assignee_ids'
  | 'milestone_id'
  | 'labels'
  | 'add_labels'
  | 'remove_labels'
  | 'discussion_locked'
  | 'time_estimate'
>;

export type SharedCommandRule = CommandRule<SharedKnown, SharedChanges, TimeEffect> & {
  kinds: readonly SharedKind[];
};

export const everyKind = ['issue', 'epic', 'merge request'] as const;
/** Epics have no assignees, milestones and times. */
export const assignedKinds = ['issue', 'merge request'] as const;
