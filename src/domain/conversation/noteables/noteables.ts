/** Noteables: what notes, awards and to-dos are about. The owner of a kind makes its one value. */

import type { RawBuilder } from 'kysely';
import type { AuthorizedGroup, AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';

/** The receipts of a project or group for one reader. */
export type NoteableParent = { project: AuthorizedProject | undefined; group: AuthorizedGroup | undefined };

export type NoteableKind = {
  /** The noun in messages. */
  name: string;
  /** The public name (facts: Note, Todo, Award emoji). */
  type: string;
  /** The column that refers to it in the tables of notes, awards and to-dos, as far as these have it. */
  column: 'issue_id' | 'epic_id' | 'merge_request_id' | 'snippet_id' | 'commit_sha' | 'alert_id';
  /** The table with the numbers of this kind; without one it has ids alone. */
  numberedIn?: 'issues' | 'epics' | 'merge_requests' | 'alerts';
  /** The table that counts notes and the two votes. */
  countedIn?: 'issues' | 'epics' | 'merge_requests';
  /** The column of awards; without one it takes none. */
  awardColumn?: 'issue_id' | 'epic_id' | 'merge_request_id' | 'snippet_id';
  /** Whether threads can be resolved. */
  isResolvable: boolean;
  /** Who may resolve them; without it the team, the thread's first author and the noteable's author. */
  mayResolve?(noteable: Noteable, actor: Actor): boolean;
  hasTodos: boolean;
  /** Its column of subscriptions, and its participants, as rows of target and user_id. */
  subscriptions?: {
    column: 'issue_id' | 'epic_id' | 'merge_request_id';
    participants(ids: RawBuilder<unknown>): RawBuilder<unknown>;
  };
  /** Whether anonymous callers can read it. */
  isPublic(noteable: Noteable): boolean;
  /** Whether people with receipts of its project or group see it; rows that many need are read once. */
  readers(db: Db, noteable: Noteable): Promise<(person: Actor, parent: NoteableParent) => boolean>;
};

export type Noteable = NoteableParent & {
  kind: NoteableKind;
  /** Undefined for commits. */
  id: number | undefined;
  sha: string | undefined;
  /** The number of issues, epics, merge requests and alerts in their project or group. */
  iid: number | undefined;
  title: string;
  /** Undefined for commits and alerts. */
  authorId: number | undefined;
  confidential: boolean;
  /** Only members may comment. */
  locked: boolean;
  /** Its own visibility, beside its project's. */
  visibility?: number | undefined;
};

/** The columns that refer to a noteable; the writer leaves out those that its table lacks. */
export const noteableColumns = (noteable: Noteable) => ({
  issue_id: null,
  epic_id: null,
  merge_request_id: null,
  snippet_id: null,
  alert_id: null,
  commit_sha: noteable.sha ?? null,
  ...(noteable.id !== undefined && { [noteable.kind.column]: noteable.id }),
  project_id: noteable.project?.id ?? null,
  namespace_id: noteable.group?.id ?? null,
});

/** The column of notes, awards and the like that refers to the noteable, and its value. */
export const noteableKey = ({ kind, id, sha }: Noteable) => ({ column: kind.column, id: sha ?? id ?? 0 });

/** Whether the caller with this receipt may comment: on a locked noteable only members may. */
export const mayComment = ({ locked, project, group }: Noteable): boolean =>
  !locked || (project?.role ?? group?.role ?? 0) > 0;

/** Whether the caller reads internal notes. */
export const readsInternalNotes = ({ project, group }: NoteableParent): boolean =>
  project?.may('read_internal_notes') ?? group?.may('read_internal_epic_notes') ?? false;
