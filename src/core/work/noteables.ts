/** Noteables: issues, epics, snippets of projects, commits and alerts, in one type. */
import type { Selectable } from 'kysely';
import type { AlertsTable, EpicsTable, IssuesTable } from '../../platform/db/rows.ts';
import type { AuthorizedGroup, AuthorizedProject } from '../access/find.ts';
import type { SnippetRow } from '../repositories/snippet-records.ts';

export const noteableKinds = ['issue', 'epic', 'snippet', 'commit', 'alert'] as const;
export type NoteableKind = (typeof noteableKinds)[number];

export type Noteable = {
  kind: NoteableKind;
  /** Undefined for commits. */
  id: number | undefined;
  sha: string | undefined;
  /** The number of issues, epics and alerts in their project or group. */
  iid: number | undefined;
  title: string;
  /** Undefined for commits and alerts. */
  authorId: number | undefined;
  confidential: boolean;
  /** Only members may comment. */
  locked: boolean;
  /** The visibility of a snippet, beside its project's. */
  visibility?: number | undefined;
  project: AuthorizedProject | undefined;
  group: AuthorizedGroup | undefined;
};

/** The kinds by their public names (facts: Note, Todo, Award emoji). */
export const noteableTypes = {
  issue: 'Issue',
  epic: 'Epic',
  snippet: 'Snippet',
  commit: 'Commit',
  alert: 'AlertManagement::Alert',
} as const satisfies Record<NoteableKind, string>;

const plain = {
  sha: undefined,
  iid: undefined,
  confidential: false,
  locked: false,
  group: undefined,
};

export const issueNoteable = (project: AuthorizedProject, issue: Selectable<IssuesTable>): Noteable => ({
  ...plain,
  kind: 'issue',
  id: issue.id,
  iid: issue.iid,
  title: issue.title,
  authorId: issue.author_id,
  confidential: issue.confidential,
  locked: issue.discussion_locked === true,
  project,
});

export const epicNoteable = (group: AuthorizedGroup, epic: Selectable<EpicsTable>): Noteable => ({
  ...plain,
  kind: 'epic',
  id: epic.id,
  iid: epic.iid,
  title: epic.title,
  authorId: epic.author_id,
  confidential: epic.confidential,
  project: undefined,
  group,
});

export const snippetNoteable = (project: AuthorizedProject, snippet: SnippetRow): Noteable => ({
  ...plain,
  kind: 'snippet',
  id: snippet.id,
  title: snippet.title,
  authorId: snippet.author_id,
  visibility: snippet.visibility,
  project,
});

export const commitNoteable = (
  project: AuthorizedProject,
  commit: { oid: string; title: string },
): Noteable => ({
  ...plain,
  kind: 'commit',
  id: undefined,
  sha: commit.oid,
  title: commit.title,
  authorId: undefined,
  project,
});

export const alertNoteable = (
  project: AuthorizedProject,
  alert: Pick<Selectable<AlertsTable>, 'id' | 'iid' | 'title'>,
): Noteable => ({
  ...plain,
  kind: 'alert',
  id: alert.id,
  iid: alert.iid,
  title: alert.title,
  authorId: undefined,
  project,
});

/** The columns that refer to a noteable; the writer leaves out those that its table lacks. */
export const noteableColumns = (noteable: Noteable) => ({
  issue_id: noteable.kind === 'issue' ? (noteable.id ?? null) : null,
  epic_id: noteable.kind === 'epic' ? (noteable.id ?? null) : null,
  snippet_id: noteable.kind === 'snippet' ? (noteable.id ?? null) : null,
  commit_sha: noteable.sha ?? null,
  alert_id: noteable.kind === 'alert' ? (noteable.id ?? null) : null,
  project_id: noteable.project?.id ?? null,
  namespace_id: noteable.group?.id ?? null,
});

type NoteableKey =
  | { column: 'issue_id' | 'epic_id' | 'snippet_id'; id: number }
  | { column: 'alert_id'; id: number }
  | { column: 'commit_sha'; id: string };

/** The column of notes, awards and the like that refers to the noteable, and its value. */
export function noteableKey(noteable: Noteable): NoteableKey {
  const { kind, id, sha } = noteable;
  if (kind === 'commit') return { column: 'commit_sha', id: sha ?? '' };
  if (kind === 'alert') return { column: 'alert_id', id: id ?? 0 };
  return { column: `${kind}_id`, id: id ?? 0 };
}

/** Whether the caller with this receipt may comment: on a locked noteable only members may. */
export const mayComment = ({ locked, project, group }: Noteable): boolean =>
  !locked || (project?.role ?? group?.role ?? 0) > 0;

/** Whether the caller reads internal notes. */
export const readsInternalNotes = ({ project, group }: Noteable): boolean =>
  project?.may('read_internal_notes') ?? group?.may('read_internal_epic_notes') ?? false;
