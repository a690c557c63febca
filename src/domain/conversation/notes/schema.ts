/**
 * Parameters of notes, threads and awards, and records of awards and suggestions (facts: Resource entities, Note,
 * Award emoji, Suggestion).
 */
import Type, { type Static } from 'typebox';
import { UserBasic } from '../../../kernel/users/records.ts';
import {
  dateTime,
  deprecated,
  integerId,
  notBlank,
  nullable,
  stringEnum,
} from '../../../platform/http/parameters/schema.ts';

/** Characters of a note. */
const MAX_BODY_LENGTH = 1_000_000;
/** Bytes of a request: characters may take several, and escapes more. */
export const MAX_REQUEST_BYTES = 8 * 1_048_576;

export const noteText = Type.String({ maxLength: MAX_BODY_LENGTH, ...notBlank });
const internal = Type.Optional(Type.Boolean({ description: 'Whether only the team reads it.' }));
const confidential = Type.Optional(deprecated(Type.Boolean(), 'internal'));
const created_at = Type.Optional(dateTime({ description: 'For administrators and owners.' }));

export const noteId = { note_id: integerId() };
export const discussionId = {
  discussion_id: Type.String({ pattern: '^[0-9a-f]{40}$', description: 'The id of the thread.' }),
};

export const listNotes = {
  order_by: Type.Optional(stringEnum(['created_at', 'updated_at'], { default: 'created_at' })),
  sort: Type.Optional(stringEnum(['asc', 'desc'], { default: 'desc' })),
  activity_filter: Type.Optional(
    stringEnum(['all_notes', 'only_comments', 'only_activity'], { default: 'all_notes' }),
  ),
};
export type ActivityFilter = 'all_notes' | 'only_comments' | 'only_activity';

export const newNote = { body: noteText, created_at };
export const newNoteOfTeam = { ...newNote, internal, confidential };

const sha = Type.String({ pattern: '^([0-9a-f]{40}|[0-9a-f]{64})$' });
const filePath = Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 4_096 })));
const MAX_INTEGER = 2_147_483_647;
const lineNumber = Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: MAX_INTEGER })));
const pixels = Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: MAX_INTEGER })));
const lineEnd = Type.Optional(
  Type.Object({
    line_code: Type.Optional(nullable(Type.String({ maxLength: 255 }))),
    type: Type.Optional(nullable(Type.String({ maxLength: 255, description: '`new` or `old`.' }))),
    old_line: lineNumber,
    new_line: lineNumber,
  }),
);

/** The position of a thread in a diff. */
const Position = Type.Object({
  base_sha: sha,
  start_sha: sha,
  head_sha: sha,
  position_type: stringEnum(['text', 'image', 'file']),
  new_path: filePath,
  old_path: filePath,
  new_line: lineNumber,
  old_line: lineNumber,
  line_range: Type.Optional(nullable(Type.Object({ start: lineEnd, end: lineEnd }))),
  width: pixels,
  height: pixels,
  x: pixels,
  y: pixels,
});
export type PositionInput = Static<typeof Position>;
export const notePosition = { position: Type.Optional(Position) };

/** For what has a diff. */
export const seenHead = {
  merge_request_diff_head_sha: Type.Optional(
    nullable(
      Type.String({
        maxLength: 64,
        description: 'The newest commit that the author saw: `/merge` does nothing where there is another.',
      }),
    ),
  ),
};
export type NewNoteInput = {
  body: string;
  internal?: boolean;
  confidential?: boolean;
  created_at?: string;
  position?: PositionInput;
  merge_request_diff_head_sha?: string | null;
};

export const changedNote = { body: noteText };
export const changedNoteOfThread = {
  body: Type.Optional(noteText),
  resolved: Type.Optional(Type.Boolean({ description: 'Whether it is settled; instead of a text.' })),
};
export const resolution = { resolved: Type.Boolean({ description: 'Whether the thread is settled.' }) };

/** The response to a note of quick actions alone, which is not stored. */
export const CommandsReply = Type.Object({
  commands_changes: Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true })),
  summary: Type.Array(Type.String()),
});
export type CommandsReply = Static<typeof CommandsReply>;

/** A change of lines that a note on them suggests. */
export const SuggestionRecord = Type.Object({
  id: Type.Integer(),
  from_line: Type.Integer(),
  to_line: Type.Integer(),
  appliable: Type.Boolean(),
  applied: Type.Boolean(),
  from_content: Type.String(),
  to_content: Type.String(),
});
export type SuggestionRecord = Static<typeof SuggestionRecord>;

export const awardId = { award_id: integerId() };
export const newAward = {
  name: Type.String({
    maxLength: 255,
    ruled: { format: 'emoji-name' },
    description: 'The name of the emoji, without colons.',
  }),
};

export const AwardRecord = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  user: UserBasic,
  created_at: dateTime(),
  updated_at: dateTime(),
  awardable_id: Type.Integer(),
  awardable_type: Type.String(),
  url: nullable(Type.String()),
});
export type AwardRecord = Static<typeof AwardRecord>;
