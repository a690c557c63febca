/**
 * Endpoints of comments on commits and their lines, which are stored as notes (facts: Resource entities,
 * Commit comment).
 */
import Type, { type Static } from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, found, listing } from '../../../kernel/api/endpoint.ts';
import { UserBasic } from '../../../kernel/users/records.ts';
import { missingAt, parameterFailure } from '../../../platform/http/parameters/problems.ts';
import { dateTime, nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';
import {
  createNote,
  MAX_REQUEST_BYTES,
  type NoteRecord,
  type NoteRow,
  type PresentContext,
  presentNote,
  presentNotePage,
  selectNotes,
} from '../../conversation/index.ts';
import { findNoteable } from './commit-notes.ts';

const CommitNote = Type.Object({
  note: Type.String(),
  path: nullable(Type.String()),
  line: nullable(Type.Integer()),
  line_type: nullable(Type.String()),
  author: UserBasic,
  created_at: dateTime(),
});
type CommitNote = Static<typeof CommitNote>;

const OneCommit = Type.Object({ sha: Type.String({ description: 'Commit, branch or tag.' }) });

const CommentInput = Type.Object({
  ...OneCommit.properties,
  note: Type.String({ maxLength: 1_000_000 }),
  path: Type.Optional(Type.String({ maxLength: 4_096, description: 'The file that it is about.' })),
  line: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Needed with a path.' }),
  ),
  line_type: Type.Optional(stringEnum(['new', 'old'], { description: 'Needed with a path.' })),
});
type CommentInput = Static<typeof CommentInput>;

/** The commented line; ignored without a path. 400 for a path without a line. */
function lineOf(input: CommentInput) {
  const { path } = input;
  if (path === undefined) return {};
  const missing = (['line', 'line_type'] as const).filter((name) => input[name] === undefined);
  if (missing.length > 0) throw parameterFailure(new Set(missing.map((name) => missingAt([name]))));
  return { line: { path, line: input.line ?? null, line_type: input.line_type ?? null } };
}

const presentComment = (row: NoteRow, { author }: Pick<NoteRecord, 'author'>): CommitNote => ({
  note: row.body,
  path: row.path,
  line: row.line,
  line_type: row.line_type,
  author,
  created_at: row.created_at.toISOString(),
});

/** The rows as comments, in their order. */
async function presentComments(context: PresentContext, rows: Awaited<ReturnType<typeof selectNotes>>) {
  const records = await presentNotePage(context, rows);
  const byId = new Map(rows.items.map((row) => [row.id, row]));
  const items = records.items.flatMap((record) => {
    const row = byId.get(record.id);
    return row ? [presentComment(row, record)] : [];
  });
  return { ...records, items };
}

const path = '/projects/:id/repository/commits/:sha/comments';

export const commentEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Comments on a commit.',
    access: onProject('read_code'),
    page: 'offset',
    input: OneCommit,
    item: CommitNote,
    handle: async (context) => {
      const { subject, input, page } = context;
      const noteable = await findNoteable(context, subject, input.sha);
      const oldestFirst = { by: 'created_at', sort: 'asc', filter: 'only_comments' } as const;
      return presentComments(context, await selectNotes(context, noteable, oldestFirst, page));
    },
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Comments on a commit, or on a line of it.',
    access: onProject('comment_on_commits'),
    also: [409],
    bodyLimit: MAX_REQUEST_BYTES,
    input: CommentInput,
    reply: CommitNote,
    handle: async (context) => {
      const { subject, input } = context;
      const noteable = await findNoteable(context, subject, input.sha);
      const { note } = await createNote(context, noteable, { body: input.note }, lineOf(input));
      const row = found(note);
      return presentComment(row, await presentNote(context, row));
    },
  }),
];
