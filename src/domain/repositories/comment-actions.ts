/** Takes what somebody says of a commit. */
import type { AuthorizedProject } from '../../core/access/find.ts';
import type { Actor } from '../../core/identity/actor.ts';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import { invalid } from '../../platform/failure.ts';
import { missingAt, parameterFailure } from '../../platform/http/parameter-problems.ts';
import { type CommentRow, selectComment } from './comment-queries.ts';
import type { CommentInput } from './comment-schema.ts';

/** The comment; 400 without text, or for a path without a line. */
export async function createComment(
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  sha: string,
  input: CommentInput,
): Promise<CommentRow> {
  const { note, path } = input;
  if (note.trim() === '') throw invalid({ note: ["can't be blank"] });
  const missing = (['line', 'line_type'] as const).filter((name) => input[name] === undefined);
  if (path !== undefined && missing.length > 0)
    throw parameterFailure(new Set(missing.map((name) => missingAt([name]))));
  const created_at = now();
  const { id } = await db
    .insertInto('commit_comments')
    .values({
      project_id: project.id,
      sha,
      author_id: actor.id,
      note,
      // A line without a file says nothing.
      path: path ?? null,
      line: path === undefined ? null : (input.line ?? null),
      line_type: path === undefined ? null : (input.line_type ?? null),
      created_at,
      updated_at: created_at,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return selectComment(db, id);
}
