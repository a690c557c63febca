/** What quick actions are described with, and understood from. Pure. */
import type { IssueChanges } from './issue-changes.ts';
import type { NoteableKind } from './noteables.ts';

/** What a command does beside changing properties. */
export type Effect =
  | { do: 'subscribe' | 'unsubscribe' | 'todo' | 'done' | 'reset_spent' }
  | { do: 'award'; name: string }
  | { do: 'spend'; seconds: number; spentOn: string | undefined }
  | { do: 'link'; issueId: number; type: 'relates_to' | 'blocks' | 'is_blocked_by' }
  | MoveAction;

/** What makes another of it, elsewhere: done when all else is, and once. */
export type MoveAction =
  | { do: 'move'; projectId: number }
  | { do: 'clone'; projectId: number; withNotes: boolean }
  | { do: 'promote' };

export const isMoveAction = (effect: Effect): effect is MoveAction =>
  effect.do === 'move' || effect.do === 'clone' || effect.do === 'promote';

export type Changes = IssueChanges;

/** What commands are understood with: where they are said, by whom, and what their arguments name. */
export type Known = {
  kind: NoteableKind;
  me: { id: number; username: string };
  /** Whether the speaker may change what the author may, what only the team may, and may make an epic of it. */
  may: { update: boolean; metadata: boolean; promote: boolean };
  now: {
    state: string;
    confidential: boolean;
    locked: boolean;
    assigneeIds: readonly number[];
    issueType: string;
    /** Whether it is only being made, or has become another elsewhere. */
    stage: 'new' | 'here' | 'gone';
  };
  /** YYYY-MM-DD. */
  today: string;
  /** Ids by names in small letters, of those who see it. */
  users: ReadonlyMap<string, number>;
  /** Names of the labels that there are. */
  labels: ReadonlySet<string>;
  milestones: ReadonlyMap<string, number>;
  /** Ids by what they were called: `#1`, `group/project#1`. */
  issues: ReadonlyMap<string, number>;
  /** The same: `&1`. */
  epics: ReadonlyMap<string, number>;
  /** Ids by full paths in small letters, of those whose issues the speaker manages. */
  projects: ReadonlyMap<string, number>;
  /** The project in which the commands are said. */
  projectId: number | undefined;
};

export type Outcome = {
  changes?: Changes;
  effects?: readonly Effect[];
  message?: string;
  /** Stands in the text in place of the command. */
  text?: string;
};

export type CommandRule = {
  names: readonly [string, ...string[]];
  kinds: readonly NoteableKind[];
  /** Everybody who may say something may; the author, assignees and the team; the team. */
  who: 'speakers' | 'author' | 'team';
  /** Undefined where it means nothing here; `before` is what the commands before it have changed. */
  mean(argument: string, known: Known, before: Changes): Outcome | undefined;
};

export const issues = ['issue'] as const;
export const planned = ['issue', 'epic'] as const;
export const everywhere = ['issue', 'epic', 'snippet', 'commit', 'alert'] as const;

/** How sentences call what the command is said of. */
export const word = ({ kind }: Known): string => kind;

/** What follows one of the marks, bare or in quotes: `~bug ~"two words"`; words without a mark count too. */
export const referencesIn = (mark: string, argument: string): string[] =>
  [...argument.matchAll(/([~%@#&]?)(?:"([^"]+)"|([^\s,"]+))/g)].flatMap(([, sign, quoted, bare]) =>
    sign === '' || sign === mark ? (quoted ?? bare ?? []) : [],
  );
