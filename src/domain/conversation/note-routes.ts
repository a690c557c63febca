/** Notes on whatever can be talked about (facts: Issues; Notes and discussions on snippets, commits, epics). */
import Type from 'typebox';
import { type Endpoint, endpoint, listing, noContent } from '../../core/endpoint.ts';
import { NoteRecord } from '../../core/work/note-records.ts';
import { createNote, deleteNote, updateNote } from './note-actions.ts';
import type { Place } from './places.ts';
import { presentNote, presentNotePage, presentSaid } from './present.ts';
import { findNote, selectNotes } from './queries.ts';
import {
  BODY_LIMIT,
  CommandsReply,
  changedNote,
  listNotes,
  newNote,
  newNoteOfTeam,
  noteId,
} from './schema.ts';

export function noteEndpoints(place: Place): Endpoint[] {
  const { noun, read, write } = place;
  const path = `${place.path}/notes`;
  const shared = place.tier ? { tier: place.tier } : {};
  const ofTarget = { noteable_id: place.noteable };
  const ofNote = Type.Object({ ...ofTarget, ...noteId });
  return [
    listing({
      ...shared,
      method: 'GET',
      path,
      summary: `Notes on ${noun}, newest first.`,
      access: read,
      page: 'offset',
      input: Type.Object({ ...ofTarget, ...listNotes }),
      item: NoteRecord,
      handle: async (context) => {
        const { db, subject, input, page } = context;
        const { order_by = 'created_at', sort = 'desc', activity_filter = 'all_notes' } = input;
        const target = await place.find(context, subject, input.noteable_id);
        const asked = { by: order_by, sort, filter: activity_filter };
        return presentNotePage(context, await selectNotes(db, target, asked, page));
      },
    }),
    endpoint({
      ...shared,
      method: 'POST',
      path,
      summary: `Says something of ${noun}; quick actions in it are carried out.`,
      access: write,
      also: [202, 409],
      bodyLimit: BODY_LIMIT,
      input: Type.Object({ ...ofTarget, ...(place.internal ? newNoteOfTeam : newNote) }),
      reply: Type.Union([NoteRecord, CommandsReply]),
      handle: async (context) => {
        const { subject, input } = context;
        const target = await place.find(context, subject, input.noteable_id);
        return presentSaid(context, await createNote(context, target, input));
      },
    }),
    endpoint({
      ...shared,
      method: 'GET',
      path: `${path}/:note_id`,
      summary: `One note on ${noun}.`,
      access: read,
      input: ofNote,
      reply: NoteRecord,
      handle: async (context) => {
        const { db, subject, input } = context;
        const target = await place.find(context, subject, input.noteable_id);
        return presentNote(context, await findNote(db, target, input.note_id));
      },
    }),
    endpoint({
      ...shared,
      method: 'PUT',
      path: `${path}/:note_id`,
      summary: `Changes what a note on ${noun} says; quick actions in it are carried out.`,
      access: write,
      also: [202, 409],
      bodyLimit: BODY_LIMIT,
      input: Type.Object({ ...ofTarget, ...noteId, ...changedNote }),
      reply: Type.Union([NoteRecord, CommandsReply]),
      handle: async (context) => {
        const { db, subject, input } = context;
        const target = await place.find(context, subject, input.noteable_id);
        const note = await findNote(db, target, input.note_id);
        return presentSaid(context, await updateNote(context, target, note, input.body));
      },
    }),
    endpoint({
      ...shared,
      method: 'DELETE',
      path: `${path}/:note_id`,
      summary: `Deletes a note on ${noun}.`,
      access: write,
      input: ofNote,
      reply: noContent,
      handle: async (context) => {
        const { db, subject, input, unmodified } = context;
        const target = await place.find(context, subject, input.noteable_id);
        await deleteNote(context, target, await findNote(db, target, input.note_id), unmodified);
        return null;
      },
    }),
  ];
}
