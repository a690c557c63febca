/** Types of the quick actions of issues and epics. Pure. */
import type { CommandRule, OwnEffect } from '../../conversation/index.ts';
import type { IssueChanges } from '../changes/issue-changes.ts';
import type { SharedKnown, TimeEffect } from './shared-command-terms.ts';

export type WorkEffect = OwnEffect | IssueEffect;

/** What only issues can do. */
export type IssueEffect =
  | TimeEffect
  | { do: 'link'; issueId: number; type: 'relates_to' | 'blocks' | 'is_blocked_by' }
  | MoveAction;

/** An effect that makes another issue or epic of the issue. */
export type MoveAction = { leaves: true } & (
  | { do: 'move'; projectId: number }
  | { do: 'clone'; projectId: number; withNotes: boolean }
  | { do: 'promote' }
);

export type Changes = IssueChanges;

/** The context of the commands, with the records that their arguments name. */
export type Known = SharedKnown & {
  /** Promotion to an epic is a permission of its own. */
  may: { promote: boolean };
  now: {
    confidential: boolean;
    issueType: string;
    /** `new` while it is being created; `gone` when it was moved or promoted. */
    stage: 'new' | 'here' | 'gone';
  };
  /** Ids by reference: `#1`, `group/project#1`. */
  issues: ReadonlyMap<string, number>;
  /** Ids by reference: `&1`. */
  epics: ReadonlyMap<string, number>;
  /** Ids by lowercase full path, of the projects whose issues the user manages. */
  projects: ReadonlyMap<string, number>;
  /** The project of the noteable. */
  projectId: number | undefined;
};

export type WorkCommandRule = CommandRule<Known, Changes, WorkEffect> & {
  kinds: readonly ('issue' | 'epic')[];
};

export const issues = ['issue'] as const;
export const planned = ['issue', 'epic'] as const;
