/** Draft notes over the API (facts-merge-requests: 7.6). */
import Type, { type Static } from 'typebox';
import { integerId, nullable } from '../../../platform/http/parameters/schema.ts';
import { notePosition, noteText, Position } from '../../conversation/index.ts';
import { OneMergeRequest } from '../changes/schema.ts';

export const DraftNoteRecord = Type.Object({
  id: Type.Integer(),
  author_id: Type.Integer(),
  merge_request_id: Type.Integer(),
  resolve_discussion: Type.Boolean(),
  discussion_id: nullable(Type.String()),
  note: Type.String(),
  commit_id: nullable(Type.String()),
  line_code: nullable(Type.String()),
  position: nullable(Position),
});
export type DraftNoteRecord = Static<typeof DraftNoteRecord>;

export const OneDraftNote = Type.Object({ ...OneMergeRequest.properties, draft_note_id: integerId() });

export const NewDraftNote = Type.Object({
  ...OneMergeRequest.properties,
  note: noteText,
  in_reply_to_discussion_id: Type.Optional(
    Type.String({ pattern: '^[0-9a-f]{40}$', description: 'The thread that it answers.' }),
  ),
  commit_id: Type.Optional(Type.String({ pattern: '^([0-9a-f]{40}|[0-9a-f]{64})$' })),
  resolve_discussion: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether it settles the thread that it answers.' }),
  ),
  ...notePosition,
});

export const ChangedDraftNote = Type.Object({
  ...OneDraftNote.properties,
  note: Type.Optional(noteText),
  ...notePosition,
});
