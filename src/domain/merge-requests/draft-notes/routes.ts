/** Endpoints of draft notes, which only their author sees (facts-merge-requests: 7.6). */
import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { type Context, type Endpoint, endpoint, noContent } from '../../../kernel/api/endpoint.ts';
import { badRequest, forbidden, invalid } from '../../../platform/failure.ts';
import {
  findThread,
  MAX_REQUEST_BYTES,
  mayComment,
  type Noteable,
  type NotePosition,
  type NoteRow,
  positionOf,
  requireText,
} from '../../conversation/index.ts';
import { checkSpam } from '../../spam/index.ts';
import { OneMergeRequest } from '../changes/schema.ts';
import { findMergeRequest } from '../records/find-queries.ts';
import { mergeRequestKind, mergeRequestNoteable } from '../records/merge-request-noteable.ts';
import { placeInDiff } from '../review/place-in-diff.ts';
import { parseSuggestions, type Suggestion } from '../review/suggestions.ts';
import { readSuggestions } from '../suggestions/read-suggestions.ts';
import { deleteDraft, insertDraft, updateDraft } from './actions.ts';
import { publishOne, publishReview } from './publish-actions.ts';
import { findDraft, positionOfDraft, presentDraft, selectDrafts } from './queries.ts';
import { ChangedDraftNote, DraftNoteRecord, NewDraftNote, OneDraftNote } from './schema.ts';

const path = '/projects/:id/merge_requests/:merge_request_iid/draft_notes';
const pathOfOne = `${path}/:draft_note_id` as const;
const access = onProject('create_notes');

type DraftContext = Context<{ merge_request_iid: number }, AuthorizedProject, Actor>;

/** The merge request, for who may comment there; 404 for who does not see it. */
async function find({ db, actor, subject, input }: DraftContext) {
  if (!subject.may('read_merge_requests')) throw forbidden();
  const row = await findMergeRequest(db, subject, input.merge_request_iid);
  const noteable = mergeRequestNoteable(subject, row);
  return { row, noteable, of: { mergeRequestId: row.id, authorId: actor.id } };
}

/** 403 in a locked discussion, except for members; 400 for a blank text. */
function requireWritable(noteable: Noteable, text: string): void {
  if (!mayComment(noteable)) throw forbidden();
  requireText(text);
}

/** A draft that will settle a thread answers one that its author may settle. */
function requireResolver(noteable: Noteable, actor: Actor, thread: readonly NoteRow[] | undefined): void {
  if (!thread || !mergeRequestKind.mayResolve?.(noteable, actor))
    throw invalid({ base: ['User is not allowed to resolve thread'] });
}

const judge = (
  { services, settings, actor, request }: DraftContext,
  noteable: Noteable,
  write: 'create' | 'update',
  text: string,
): Promise<void> =>
  checkSpam(services, settings, {
    actor,
    request,
    kind: 'Note',
    write,
    text,
    publiclyVisible: noteable.kind.isPublic(noteable),
  });

/** What the note will suggest: an answer for the line of its thread. */
async function suggestedBy(
  context: DraftContext,
  noteable: Noteable,
  note: string,
  { position, discussionId }: { position: NotePosition | undefined; discussionId: string | undefined },
): Promise<Suggestion[]> {
  if (parseSuggestions(note).length === 0) return [];
  const [first] = discussionId === undefined ? [] : await findThread(context, noteable, discussionId);
  return readSuggestions(context, context.subject, first ? positionOf(first) : position, note);
}

export const draftNoteEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path,
    summary: 'The caller’s draft notes on a merge request, oldest first.',
    access,
    input: OneMergeRequest,
    reply: Type.Array(DraftNoteRecord),
    handle: async (context) => {
      const { of } = await find(context);
      return (await selectDrafts(context.db, of)).map(presentDraft);
    },
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Writes a draft note on a merge request, on a line of it, or as an answer in a thread.',
    access,
    also: [409],
    bodyLimit: MAX_REQUEST_BYTES,
    input: NewDraftNote,
    reply: DraftNoteRecord,
    handle: async (context) => {
      const { db, actor, input } = context;
      const { in_reply_to_discussion_id: discussionId, resolve_discussion: resolves = false } = input;
      const { noteable, of } = await find(context);
      requireWritable(noteable, input.note);
      const thread =
        discussionId === undefined ? undefined : await findThread(context, noteable, discussionId);
      if (thread?.[0]?.system_action) throw badRequest('Discussion can not be replied to.');
      if (resolves) requireResolver(noteable, actor, thread);
      const position = thread ? undefined : input.position;
      const placed = position && (await placeInDiff(context, noteable, position));
      await judge(context, noteable, 'create', input.note);
      const at = { position: placed?.position, discussionId };
      const suggestions = await suggestedBy(context, noteable, input.note, at);
      const draft = { note: input.note, discussionId, resolves, commit: input.commit_id };
      return presentDraft(await insertDraft(db, of, { ...draft, placed, suggestions }));
    },
  }),
  endpoint({
    method: 'GET',
    path: pathOfOne,
    summary: 'One of the caller’s draft notes.',
    access,
    input: OneDraftNote,
    reply: DraftNoteRecord,
    handle: async (context) => {
      const { of } = await find(context);
      return presentDraft(await findDraft(context.db, of, context.input.draft_note_id));
    },
  }),
  endpoint({
    method: 'PUT',
    path: pathOfOne,
    summary: 'Changes one of the caller’s draft notes.',
    access,
    also: [409],
    bodyLimit: MAX_REQUEST_BYTES,
    input: ChangedDraftNote,
    reply: DraftNoteRecord,
    handle: async (context) => {
      const { db, input } = context;
      const { noteable, of } = await find(context);
      const { note, position, draft_note_id: id } = input;
      if (note === undefined) throw badRequest('Missing params to modify');
      requireWritable(noteable, note);
      const suggests = parseSuggestions(note).length > 0;
      const draft = position || suggests ? await findDraft(db, of, id) : undefined;
      const discussionId = draft?.discussion_id ?? undefined;
      const moves = position && discussionId === undefined;
      const placed = moves ? await placeInDiff(context, noteable, position) : undefined;
      await judge(context, noteable, 'update', note);
      const known = draft ? (positionOfDraft(draft) ?? undefined) : undefined;
      const at = { position: placed?.position ?? known, discussionId };
      const suggestions = await suggestedBy(context, noteable, note, at);
      return presentDraft(await updateDraft(db, of, id, { note, placed, suggestions }));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: pathOfOne,
    summary: 'Deletes one of the caller’s draft notes.',
    access,
    input: OneDraftNote,
    reply: noContent,
    handle: async (context) => {
      const { of } = await find(context);
      await deleteDraft(context.db, of, context.input.draft_note_id, context.unmodified);
      return null;
    },
  }),
  endpoint({
    method: 'PUT',
    path: `${pathOfOne}/publish`,
    summary: 'Publishes one of the caller’s draft notes.',
    access,
    input: OneDraftNote,
    status: 204,
    reply: noContent,
    handle: async (context) => {
      const { row, noteable } = await find(context);
      await publishOne(context, noteable, row, context.input.draft_note_id);
      return null;
    },
  }),
  endpoint({
    method: 'POST',
    path: `${path}/bulk_publish`,
    summary: 'Publishes all of the caller’s draft notes on a merge request as one review.',
    access,
    input: OneMergeRequest,
    status: 204,
    reply: noContent,
    handle: async (context) => {
      const { row, noteable } = await find(context);
      await publishReview(context, noteable, row);
      return null;
    },
  }),
];
