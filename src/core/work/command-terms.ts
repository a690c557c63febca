/** Types of the rules of quick actions, and of the context that they are parsed in. Pure. */
import type { IssueChanges } from './issue-changes.ts';
import type { NoteableKind } from './noteables.ts';

/** An effect of a command other than a change of properties. */
export type Effect =
  | { do: 'subscribe' | 'unsubscribe' | 'todo' | 'done' | 'reset_spent' }
  | { do: 'award'; name: string }
  | { do: 'spend'; seconds: number; spentOn: string | undefined }
  | { do: 'link'; issueId: number; type: 'relates_to' | 'blocks' | 'is_blocked_by' }
  | MoveAction;

/** An effect that makes another issue or epic of the issue: runs last, and once. */
export type MoveAction =
  | { do: 'move'; projectId: number }
  | { do: 'clone'; projectId: number; withNotes: boolean }
  | { do: 'promote' };

export const isMoveAction = (effect: Effect): effect is MoveAction =>
  effect.do === 'move' || effect.do === 'clone' || effect.do === 'promote';

export type Changes = IssueChanges;

/** The context of the commands: their noteable, their user, and the records that their arguments name. */
export type Known = {
  kind: NoteableKind;
  me: { id: number; username: string };
  /** Permissions of the user: those of authors, those of the team, and promotion to an epic. */
  may: { update: boolean; metadata: boolean; promote: boolean };
  now: {
    state: string;
    confidential: boolean;
    locked: boolean;
    assigneeIds: readonly number[];
    issueType: string;
    /** `new` while it is being created; `gone` when it was moved or promoted. */
    stage: 'new' | 'here' | 'gone';
  };
  /** YYYY-MM-DD. */
  today: string;
  /** Ids by lowercase username, of the readers among the users. */
  users: ReadonlyMap<string, number>;
  /** Names of existing labels. */
  labels: ReadonlySet<string>;
  milestones: ReadonlyMap<string, number>;
  /** Ids by reference: `#1`, `group/project#1`. */
  issues: ReadonlyMap<string, number>;
  /** Ids by reference: `&1`. */
  epics: ReadonlyMap<string, number>;
  /** Ids by lowercase full path, of the projects whose issues the user manages. */
  projects: ReadonlyMap<string, number>;
  /** The project of the noteable. */
  projectId: number | undefined;
};

export type Outcome = {
  changes?: Changes;
  effects?: readonly Effect[];
  message?: string;
  /** Replaces the command in the text. */
  text?: string;
};

export type CommandRule = {
  names: readonly [string, ...string[]];
  kinds: readonly NoteableKind[];
  /** All who may comment; the author, assignees and the team; the team. */
  who: 'speakers' | 'author' | 'team';
  /** Undefined where it does not apply; `before` is the changes of the commands before it. */
  mean(argument: string, known: Known, before: Changes): Outcome | undefined;
};

export const issues = ['issue'] as const;
export const planned = ['issue', 'epic'] as const;
export const everywhere = ['issue', 'epic', 'snippet', 'commit', 'alert'] as const;

/** The noun for the noteable in messages. */
export const word = ({ kind }: Known): string => kind;

/** Arguments after the mark, bare or quoted: `~bug ~"two words"`; words without a mark count too. */
export const referencesIn = (mark: string, argument: string): string[] =>
  [...argument.matchAll(/([~%@#&]?)(?:"([^"]+)"|([^\s,"]+))/g)].flatMap(([, sign, quoted, bare]) =>
    sign === '' || sign === mark ? (quoted ?? bare ?? []) : [],
  );
