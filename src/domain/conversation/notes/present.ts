/** Notes and threads as records. */
import { Reply } from '../../../kernel/api/endpoint.ts';
import { notFound } from '../../../platform/failure.ts';
import type { Page } from '../../../platform/pagination/page.ts';
import type { FindContext } from '../noteables/noteable-resources.ts';
import { hideUnreadable } from './cross-reference-filter.ts';
import type { NoteResult } from './note-actions.ts';
import { type DiscussionRecord, gatherDiscussions, type NoteRecord, presentNotes } from './note-records.ts';
import type { NoteWithRelations } from './notes.ts';
import type { CommandsReply } from './schema.ts';

/** The part of the request that presenting needs. */
export type Presenting = FindContext;

async function present(context: Presenting, rows: readonly NoteWithRelations[]): Promise<NoteRecord[]> {
  return hideUnreadable(context, rows, await presentNotes(context, rows));
}

export const presentNotePage = async (
  context: Presenting,
  page: Page<NoteWithRelations>,
): Promise<Page<NoteRecord>> => ({
  ...page,
  items: await present(context, page.items),
});

/** The record; 404 when its author was deleted meanwhile. */
export async function presentNote(context: Presenting, row: NoteWithRelations): Promise<NoteRecord> {
  const [record] = await present(context, [row]);
  if (!record) throw notFound('Note');
  return record;
}

/** The note with the changes of its quick actions, or a 202 with those alone. */
export async function presentNoteResult(
  context: Presenting,
  said: NoteResult,
): Promise<NoteRecord | Reply<CommandsReply>> {
  if (said.commands) return new Reply(202, said.commands);
  return { ...(await presentNote(context, said.note)), commands_changes: said.changes };
}

/** Threads, each given by its notes, in their order. */
export async function presentThreads(
  context: Presenting,
  threads: readonly (readonly NoteWithRelations[])[],
): Promise<DiscussionRecord[]> {
  return gatherDiscussions(threads.flat(), await present(context, threads.flat()));
}

/** The record; 404 when all its authors were deleted meanwhile. */
export async function presentThread(
  context: Presenting,
  rows: readonly NoteWithRelations[],
): Promise<DiscussionRecord> {
  const [record] = await presentThreads(context, [rows]);
  if (!record) throw notFound('Discussion');
  return record;
}
