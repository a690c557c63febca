/** Threads, and notes for themselves as threads of one (facts: Issues; Notes and discussions on snippets, commits, epics). */
import Type from 'typebox';
import { type Endpoint, endpoint, listing, noContent, Reply } from '../../core/endpoint.ts';
import { DiscussionRecord, NoteRecord } from '../../core/work/note-records.ts';
import { notFound } from '../../platform/failure.ts';
import { missingAt, parameterFailure } from '../../platform/http/parameter-problems.ts';
import { createNote, deleteNote, resolveNotes, updateNote } from './note-actions.ts';
import type { Place } from './places.ts';
import { placeOf } from './positions.ts';
import { presentNote, presentNotePage, presentSaid, presentThread, presentThreads } from './present.ts';
import { findNote, findThread, selectThread, selectThreads } from './queries.ts';
import {
  BODY_LIMIT,
  CommandsReply,
  changedNote,
  changedNoteOfThread,
  discussionId,
  type NewNoteInput,
  newNote,
  newNoteOfTeam,
  noteId,
  positionedNote,
  resolution,
} from './schema.ts';

export function discussionEndpoints(place: Place): Endpoint[] {
  const { noun, read, write } = place;
  const path = `${place.path}/discussions`;
  const pathOfOne = `${path}/:discussion_id`;
  const pathOfNote = `${pathOfOne}/notes/:note_id`;
  const shared = place.tier ? { tier: place.tier } : {};
  const ofTarget = { noteable_id: place.noteable };
  const ofThread = { ...ofTarget, ...discussionId };
  const ofNote = { ...ofThread, ...noteId };
  const said = place.internal ? newNoteOfTeam : place.positioned ? positionedNote : newNote;
  const changed = place.resolvable ? changedNoteOfThread : changedNote;
  const resolve = endpoint({
    ...shared,
    method: 'PUT',
    path: pathOfOne,
    summary: `Settles a thread on ${noun}, or opens it again.`,
    access: write,
    input: Type.Object({ ...ofThread, ...resolution }),
    reply: DiscussionRecord,
    handle: async (context) => {
      const { db, subject, input } = context;
      const target = await place.find(context, subject, input.noteable_id);
      const thread = await findThread(db, target, input.discussion_id);
      await resolveNotes(context, target, thread, input.resolved);
      return presentThread(context, await findThread(db, target, input.discussion_id));
    },
  });
  return [
    listing({
      ...shared,
      method: 'GET',
      path,
      summary: `Threads on ${noun}, in the order in which they began.`,
      access: read,
      page: 'offset',
      input: Type.Object(ofTarget),
      item: DiscussionRecord,
      handle: async (context) => {
        const { db, subject, input, page } = context;
        const target = await place.find(context, subject, input.noteable_id);
        const threads = await selectThreads(db, target, page);
        return { ...threads, items: await presentThreads(context, threads.items) };
      },
    }),
    endpoint({
      ...shared,
      method: 'POST',
      path,
      summary: `Begins a thread on ${noun}.`,
      access: write,
      also: [202, 409],
      bodyLimit: BODY_LIMIT,
      input: Type.Object({ ...ofTarget, ...said }),
      reply: Type.Union([DiscussionRecord, CommandsReply]),
      handle: async (context) => {
        const { subject, input } = context;
        const target = await place.find(context, subject, input.noteable_id);
        const { position }: NewNoteInput = input;
        const { note, commands } = await createNote(context, target, input, {
          beginsThread: true,
          ...(position && placeOf(target, position)),
        });
        return commands ? new Reply(202, commands) : presentThread(context, [note]);
      },
    }),
    endpoint({
      ...shared,
      method: 'GET',
      path: pathOfOne,
      summary: `One thread on ${noun}.`,
      access: read,
      input: Type.Object(ofThread),
      reply: DiscussionRecord,
      handle: async (context) => {
        const { db, subject, input } = context;
        const target = await place.find(context, subject, input.noteable_id);
        return presentThread(context, await findThread(db, target, input.discussion_id));
      },
    }),
    ...(place.resolvable ? [resolve] : []),
    listing({
      ...shared,
      method: 'GET',
      path: `${pathOfOne}/notes`,
      summary: `Notes of a thread on ${noun}, oldest first.`,
      access: read,
      page: 'offset',
      input: Type.Object(ofThread),
      item: NoteRecord,
      handle: async (context) => {
        const { db, subject, input, page } = context;
        const target = await place.find(context, subject, input.noteable_id);
        const notes = await selectThread(db, target, input.discussion_id, page);
        if (notes.total === 0) throw notFound('Notes');
        return presentNotePage(context, notes);
      },
    }),
    endpoint({
      ...shared,
      method: 'POST',
      path: `${pathOfOne}/notes`,
      summary: `Answers in a thread on ${noun}; a note for itself becomes one.`,
      access: write,
      also: [202, 409],
      bodyLimit: BODY_LIMIT,
      input: Type.Object({ ...ofThread, ...newNote }),
      reply: Type.Union([NoteRecord, CommandsReply]),
      handle: async (context) => {
        const { db, subject, input } = context;
        const target = await place.find(context, subject, input.noteable_id);
        const thread = await findThread(db, target, input.discussion_id);
        return presentSaid(context, await createNote(context, target, input, { thread }));
      },
    }),
    endpoint({
      ...shared,
      method: 'GET',
      path: pathOfNote,
      summary: `One note of a thread on ${noun}.`,
      access: read,
      input: Type.Object(ofNote),
      reply: NoteRecord,
      handle: async (context) => {
        const { db, subject, input } = context;
        const target = await place.find(context, subject, input.noteable_id);
        return presentNote(context, await findNote(db, target, input.note_id, input.discussion_id));
      },
    }),
    endpoint({
      ...shared,
      method: 'PUT',
      path: pathOfNote,
      summary: `Changes what a note of a thread on ${noun} says${place.resolvable ? ', or settles it' : ''}.`,
      access: write,
      also: [202, 409],
      bodyLimit: BODY_LIMIT,
      input: Type.Object({ ...ofNote, ...changed }),
      reply: Type.Union([NoteRecord, CommandsReply]),
      handle: async (context) => {
        const { db, subject, input } = context;
        const { body, resolved }: { body?: string; resolved?: boolean } = input;
        const target = await place.find(context, subject, input.noteable_id);
        const note = await findNote(db, target, input.note_id, input.discussion_id);
        if (body !== undefined) return presentSaid(context, await updateNote(context, target, note, body));
        if (resolved === undefined) throw parameterFailure(new Set([missingAt(['body'])]));
        await resolveNotes(
          context,
          target,
          await findThread(db, target, note.discussion_id),
          resolved,
          note.id,
        );
        return presentNote(context, await findNote(db, target, note.id));
      },
    }),
    endpoint({
      ...shared,
      method: 'DELETE',
      path: pathOfNote,
      summary: `Deletes a note of a thread on ${noun}.`,
      access: write,
      input: Type.Object(ofNote),
      reply: noContent,
      handle: async (context) => {
        const { db, subject, input, unmodified } = context;
        const target = await place.find(context, subject, input.noteable_id);
        const note = await findNote(db, target, input.note_id, input.discussion_id);
        await deleteNote(context, target, note, unmodified);
        return null;
      },
    }),
  ];
}
