/** Suggestions of notes on lines of merge requests. */
import { type Selectable, sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { MergeRequestsTable, NotesTable, SuggestionsTable } from '../../../platform/db/rows.ts';
import type { NoteRow } from '../../conversation/index.ts';
import type { CommitUser } from '../review/suggestion-message.ts';

/** A suggestion, and what says whether it can be applied. */
export type SuggestionRow = Selectable<SuggestionsTable> & {
  position: Selectable<NotesTable>['position'];
  is_note_outdated: boolean;
  source_project_id: number | null;
} & Pick<Selectable<MergeRequestsTable>, 'state' | 'source_branch'>;

const rowsOf = (db: Db) =>
  db
    .selectFrom('suggestions')
    .innerJoin('notes', 'notes.id', 'suggestions.note_id')
    .innerJoin('merge_requests', 'merge_requests.id', 'notes.merge_request_id')
    .selectAll('suggestions')
    .select([
      'notes.position',
      'notes.outdated as is_note_outdated',
      'merge_requests.source_project_id',
      'merge_requests.source_branch',
      'merge_requests.state',
    ]);

/** Those of the notes, in their order there. */
export const selectSuggestionsOf = (db: Db, noteIds: readonly number[]): Promise<SuggestionRow[]> =>
  rowsOf(db)
    .where('suggestions.note_id', 'in', noteIds)
    .orderBy('suggestions.note_id')
    .orderBy('suggestions.place')
    .execute();

/** A suggestion that is to be applied, with its thread, its merge request and where that leads. */
export type ChosenRow = SuggestionRow & {
  discussion_id: string;
  internal: boolean;
  author: CommitUser;
  /** Full paths. */
  target_path: string;
  source_path: string | null;
  merge_request_id: number;
} & Pick<Selectable<MergeRequestsTable>, 'iid' | 'project_id' | 'author_id' | 'title' | 'discussion_locked'>;

const fullPathOf = (project: string) => sql<string>`(
  select n.full_path || '/' || p.path from projects p join namespaces n on n.id = p.namespace_id
  where p.id = ${sql.ref(project)})`;

/** Those of these ids that are there, in the order of their ids. */
export const selectSuggestions = (db: Db, ids: readonly number[]): Promise<ChosenRow[]> =>
  rowsOf(db)
    .innerJoin('users', 'users.id', 'notes.author_id')
    .select([
      'notes.discussion_id',
      'notes.internal',
      'merge_requests.id as merge_request_id',
      'merge_requests.iid',
      'merge_requests.project_id',
      'merge_requests.author_id',
      'merge_requests.title',
      'merge_requests.discussion_locked',
      fullPathOf('merge_requests.project_id').as('target_path'),
      sql<string | null>`${fullPathOf('merge_requests.source_project_id')}`.as('source_path'),
      sql<CommitUser>`jsonb_build_object('id', users.id, 'username', users.username, 'name', users.name,
        'email', coalesce(nullif(users.commit_email, ''), users.email))`.as('author'),
    ])
    .where('suggestions.id', 'in', ids)
    .orderBy('suggestions.id')
    .execute();

/** The notes of the threads. */
export const selectThreads = (
  tx: Db,
  mergeRequestId: number,
  discussionIds: readonly string[],
): Promise<NoteRow[]> =>
  tx
    .selectFrom('notes')
    .selectAll()
    .where('merge_request_id', '=', mergeRequestId)
    .where('discussion_id', 'in', discussionIds)
    .execute();

/** Those of the threads that are neither applied nor outdated, with the SHA-256 of their lines. */
export const selectOpenSuggestions = (db: Db, mergeRequestId: number, discussionIds: readonly string[]) =>
  db
    .selectFrom('suggestions')
    .innerJoin('notes', 'notes.id', 'suggestions.note_id')
    .select(['suggestions.id', 'suggestions.lines_above', 'suggestions.lines_below', 'notes.discussion_id'])
    .select(sql<Buffer>`sha256(convert_to(from_content, 'UTF8'))`.as('digest'))
    .where('notes.merge_request_id', '=', mergeRequestId)
    .where('notes.discussion_id', 'in', discussionIds)
    .where('suggestions.outdated', '=', false)
    .where('suggestions.commit_sha', 'is', null)
    .execute();
