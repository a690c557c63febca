/**
 * Endpoints of notes on each kind of noteable (facts: Issues; Notes and discussions on snippets, commits,
 * epics).
 */
import Type from 'typebox';
import { type Endpoint, endpoint, listing, noContent } from '../../../kernel/api/endpoint.ts';
import type { NoteableResource } from '../noteables/noteable-resources.ts';
import { createNote, deleteNote, updateNote } from './note-actions.ts';
import { NoteRecord } from './note-records.ts';
import { presentNote, presentNotePage, presentNoteResult } from './present.ts';
import { findNote, selectNotes } from './queries.ts';
import {
  CommandsReply,
  changedNote,
  listNotes,
  MAX_REQUEST_BYTES,
  newNote,
  newNoteOfTeam,
  noteId,
  seenHead,
} from './schema.ts';

export function noteEndpoints(resource: NoteableResource): Endpoint[] {
  const { noun, read, write } = resource;
  const path = `${resource.path}/notes`;
  const shared = resource.tier ? { tier: resource.tier } : {};
  const ofTarget = { noteable_id: resource.noteable };
  const ofNote = Type.Object({ ...ofTarget, ...noteId });
  const plain = resource.internal ? newNoteOfTeam : newNote;
  const said = resource.positioned ? { ...plain, ...seenHead } : plain;
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
        const { subject, input, page } = context;
        const { order_by = 'created_at', sort = 'desc', activity_filter = 'all_notes' } = input;
        const noteable = await resource.find(context, subject, input.noteable_id);
        const requested = { by: order_by, sort, filter: activity_filter };
        return presentNotePage(context, await selectNotes(context, noteable, requested, page));
      },
    }),
    endpoint({
      ...shared,
      method: 'POST',
      path,
      summary: `Says something of ${noun}; quick actions in it are carried out.`,
      access: write,
      also: [202, 409],
      bodyLimit: MAX_REQUEST_BYTES,
      input: Type.Object({ ...ofTarget, ...said }),
      reply: Type.Union([NoteRecord, CommandsReply]),
      handle: async (context) => {
        const { subject, input } = context;
        const noteable = await resource.find(context, subject, input.noteable_id);
        return presentNoteResult(context, await createNote(context, noteable, input));
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
        const { subject, input } = context;
        const noteable = await resource.find(context, subject, input.noteable_id);
        return presentNote(context, await findNote(context, noteable, input.note_id));
      },
    }),
    endpoint({
      ...shared,
      method: 'PUT',
      path: `${path}/:note_id`,
      summary: `Changes what a note on ${noun} says; quick actions in it are carried out.`,
      access: write,
      also: [202, 409],
      bodyLimit: MAX_REQUEST_BYTES,
      input: Type.Object({ ...ofTarget, ...noteId, ...changedNote }),
      reply: Type.Union([NoteRecord, CommandsReply]),
      handle: async (context) => {
        const { subject, input } = context;
        const noteable = await resource.find(context, subject, input.noteable_id);
        const note = await findNote(context, noteable, input.note_id);
        return presentNoteResult(context, await updateNote(context, noteable, note, input.body));
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
        const { subject, input, unmodified } = context;
        const noteable = await resource.find(context, subject, input.noteable_id);
        await deleteNote(context, noteable, await findNote(context, noteable, input.note_id), unmodified);
        return null;
      },
    }),
  ];
}
