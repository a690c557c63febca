/** What people say of a commit (facts: Resource entities, Commit comment). */
import Type, { type Static } from 'typebox';
import { UserBasic } from '../../core/identity/records.ts';
import { dateTime, nullable, stringEnum } from '../../platform/http/schema.ts';
import { sha } from './commit-schema.ts';

const lineTypes = ['new', 'old'] as const;

export const CommitNote = Type.Object({
  note: Type.String(),
  path: nullable(Type.String()),
  line: nullable(Type.Integer()),
  line_type: nullable(Type.String()),
  author: UserBasic,
  created_at: dateTime(),
});
export type CommitNote = Static<typeof CommitNote>;

export const CommentInput = Type.Object({
  sha,
  note: Type.String({ maxLength: 1_000_000 }),
  path: Type.Optional(Type.String({ maxLength: 4_096, description: 'The file that it is about.' })),
  line: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Needed with a path.' }),
  ),
  line_type: Type.Optional(stringEnum(lineTypes, { description: 'Needed with a path.' })),
});
export type CommentInput = Static<typeof CommentInput>;
