/** Comments on commits. */
import type { Selectable } from 'kysely';
import type { AuthorizedProject } from '../../core/access/find.ts';
import type { Db } from '../../platform/db/database.ts';
import { type Page, type PageRequest, selectPage } from '../../platform/db/page.ts';
import type { CommitCommentsTable } from '../../platform/db/rows.ts';
import { type AuthoredRow, authorColumns } from './author-columns.ts';

export type CommentRow = Selectable<CommitCommentsTable> & AuthoredRow;

const selectComments = (db: Db) =>
  db
    .selectFrom('commit_comments')
    .innerJoin('users', 'users.id', 'commit_comments.author_id')
    .selectAll('commit_comments')
    .select(authorColumns);

export const selectComment = (db: Db, id: number): Promise<CommentRow> =>
  selectComments(db).where('commit_comments.id', '=', id).executeTakeFirstOrThrow();

/** A page of the comments on a commit, oldest first. */
export const selectCommitComments = (
  db: Db,
  project: AuthorizedProject,
  sha: string,
  page: PageRequest,
): Promise<Page<CommentRow>> =>
  selectPage(
    db,
    selectComments(db)
      .where('commit_comments.project_id', '=', project.id)
      .where('commit_comments.sha', '=', sha),
    page,
    { by: 'id', sort: 'asc' },
    { id: 'commit_comments.id' },
  );
