/** Comments on commits as records. */
import type { Surroundings } from '../../core/identity/records.ts';
import { presentAuthor } from './author-columns.ts';
import type { CommentRow } from './comment-queries.ts';
import type { CommitNote } from './comment-schema.ts';

export const presentComment = (around: Surroundings, row: CommentRow): CommitNote => ({
  note: row.note,
  path: row.path,
  line: row.line,
  line_type: row.line_type,
  author: presentAuthor(around, row),
  created_at: row.created_at.toISOString(),
});
