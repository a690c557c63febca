/**
 * Endpoints of threads; single notes are threads of one (facts: Issues; Notes and discussions on snippets,
 * commits, epics).
 */
import Type from 'typebox';
import { type Endpoint, endpoint, listing, noContent, Reply } from '../../../kernel/api/endpoint.ts';
import { notFound } from '../../../platform/failure.ts';
import { exactlyOne, parameterRules } from '../../../platform/http/parameters/schema.ts';
import type { NoteableResource } from '../noteables/noteable-resources.ts';
import { createNote, deleteNote, updateNote } from './note-actions.ts';
import { DiscussionRecord, NoteRecord } from './note-records.ts';
import { definitionOf } from './noteable-registry.ts';
import { presentNote, presentNotePage, presentNoteResult, presentThread, presentThreads } from './present.ts';
import { findNote, findThread, selectThread, selectThreads } from './queries.ts';
import { resolveNotes } from './resolve-actions.ts';
import {
  CommandsReply,
  changedNote,
  changedNoteOfThread,
  discussionId,
  MAX_REQUEST_BYTES,
  type NewNoteInput,
  newNote,
  newNoteOfTeam,
  noteId,
  notePosition,
  resolution,
} from './schema.ts';

/** Threads on one kind of noteable. */
export const threadsEndpoint = <Path extends string>(resource: NoteableResource<Path>) =>
  listing({
    ...(resource.tier && { tier: resource.tier }),
    method: 'GET',
    path: `${resource.path}/discussions`,
    summary: `Threads on ${resource.noun}, in the order in which they began.`,
    access: resource.read,
    page: 'offset',
    input: Type.Object({ noteable_id: resource.noteable }),
    item: DiscussionRecord,
    handle: async (context) => {
      const { subject, input, page } = context;
      const noteable = await resource.find(context, subject, input.noteable_id);
      const threads = await selectThreads(context, noteable, page);
      return { ...threads, items: await presentThreads(context, threads.items) };
    },
  });

/** The other endpoints of threads. */
export function discussionEndpoints(resource: NoteableResource): Endpoint[] {
  const { noun, read, write } = resource;
  const path = `${resource.path}/discussions`;
  const pathOfOne = `${path}/:discussion_id`;
  const pathOfNote = `${pathOfOne}/notes/:note_id`;
  const shared = resource.tier ? { tier: resource.tier } : {};
  const ofTarget = { noteable_id: resource.noteable };
  const ofThread = { ...ofTarget, ...discussionId };
  const ofNote = { ...ofThread, ...noteId };
  const plain = resource.internal ? newNoteOfTeam : newNote;
  const said = resource.positioned ? { ...plain, ...notePosition } : plain;
  const changed = resource.resolvable
    ? Type.Object({ ...ofNote, ...changedNoteOfThread }, parameterRules(exactlyOne('body', 'resolved')))
    : Type.Object({ ...ofNote, ...changedNote });
  const resolve = endpoint({
    ...shared,
    method: 'PUT',
    path: pathOfOne,
    summary: `Settles a thread on ${noun}, or opens it again.`,
    access: write,
    input: Type.Object({ ...ofThread, ...resolution }),
    reply: DiscussionRecord,
    handle: async (context) => {
      const { subject, input } = context;
      const noteable = await resource.find(context, subject, input.noteable_id);
      const thread = await findThread(context, noteable, input.discussion_id);
      return presentThread(context, await resolveNotes(context, noteable, thread, input.resolved));
    },
  });
  return [
    endpoint({
      ...shared,
      method: 'POST',
      path,
      summary: `Begins a thread on ${noun}.`,
      access: write,
      also: [202, 409],
      bodyLimit: MAX_REQUEST_BYTES,
      input: Type.Object({ ...ofTarget, ...said }),
      reply: Type.Union([DiscussionRecord, CommandsReply]),
      handle: async (context) => {
        const { services, subject, input } = context;
        const noteable = await resource.find(context, subject, input.noteable_id);
        const { position }: NewNoteInput = input;
        const definition = definitionOf(services, noteable.kind);
        const { note, commands } = await createNote(context, noteable, input, {
          beginsThread: true,
          ...(position && (await definition?.place?.(context, noteable, position))),
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
        const { subject, input } = context;
        const noteable = await resource.find(context, subject, input.noteable_id);
        return presentThread(context, await findThread(context, noteable, input.discussion_id));
      },
    }),
    ...(resource.resolvable ? [resolve] : []),
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
        const { subject, input, page } = context;
        const noteable = await resource.find(context, subject, input.noteable_id);
        const notes = await selectThread(context, noteable, input.discussion_id, page);
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
      bodyLimit: MAX_REQUEST_BYTES,
      input: Type.Object({ ...ofThread, ...newNote }),
      reply: Type.Union([NoteRecord, CommandsReply]),
      handle: async (context) => {
        const { subject, input } = context;
        const noteable = await resource.find(context, subject, input.noteable_id);
        const thread = await findThread(context, noteable, input.discussion_id);
        return presentNoteResult(context, await createNote(context, noteable, input, { thread }));
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
        const { subject, input } = context;
        const noteable = await resource.find(context, subject, input.noteable_id);
        return presentNote(context, await findNote(context, noteable, input.note_id, input.discussion_id));
      },
    }),
    endpoint({
      ...shared,
      method: 'PUT',
      path: pathOfNote,
      summary: `Changes what a note of a thread on ${noun} says${resource.resolvable ? ', or settles it' : ''}.`,
      access: write,
      also: [202, 409],
      bodyLimit: MAX_REQUEST_BYTES,
      input: changed,
      reply: Type.Union([NoteRecord, CommandsReply]),
      handle: async (context) => {
        const { subject, input } = context;
        const { body, resolved }: { body?: string; resolved?: boolean } = input;
        const noteable = await resource.find(context, subject, input.noteable_id);
        const note = await findNote(context, noteable, input.note_id, input.discussion_id);
        if (resolved === undefined)
          return presentNoteResult(context, await updateNote(context, noteable, note, body ?? ''));
        const thread = await findThread(context, noteable, input.discussion_id);
        const after = await resolveNotes(context, noteable, thread, resolved, note);
        return presentNote(context, after.find(({ id }) => id === note.id) ?? note);
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
        const { subject, input, unmodified } = context;
        const noteable = await resource.find(context, subject, input.noteable_id);
        const note = await findNote(context, noteable, input.note_id, input.discussion_id);
        await deleteNote(context, noteable, note, unmodified);
        return null;
      },
    }),
  ];
}
