/** Notes, threads and awards as records. */
import { Reply } from '../../../kernel/api/endpoint.ts';
import { presentUserBasic, type UserBasicRow } from '../../../kernel/identity/records.ts';
import { notFound } from '../../../platform/failure.ts';
import type { Page } from '../../../platform/pagination/page.ts';
import type { AwardRow } from '../awards/awards.ts';
import type { FindContext } from '../noteables/noteable-resources.ts';
import { hideUnreadable } from './cross-reference-filter.ts';
import type { NoteResult } from './note-actions.ts';
import { type DiscussionRecord, gatherDiscussions, type NoteRecord, presentNotes } from './note-records.ts';
import type { NoteRow } from './notes.ts';
import type { AwardRecord, CommandsReply } from './schema.ts';

/** The part of the request that presenting needs. */
export type Presenting = FindContext;

const aroundOf = ({ services, settings }: Presenting) => ({ baseUrl: services.baseUrl(), settings });

async function present(context: Presenting, rows: readonly NoteRow[]): Promise<NoteRecord[]> {
  const records = await presentNotes(context, rows);
  return hideUnreadable(context, rows, records);
}

export const presentNotePage = async (
  context: Presenting,
  page: Page<NoteRow>,
): Promise<Page<NoteRecord>> => ({
  ...page,
  items: await present(context, page.items),
});

/** The record; 404 when its author was deleted meanwhile. */
export async function presentNote(context: Presenting, row: NoteRow): Promise<NoteRecord> {
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
  threads: readonly (readonly NoteRow[])[],
): Promise<DiscussionRecord[]> {
  return gatherDiscussions(threads.flat(), await present(context, threads.flat()));
}

/** The record; 404 when all its authors were deleted meanwhile. */
export async function presentThread(
  context: Presenting,
  rows: readonly NoteRow[],
): Promise<DiscussionRecord> {
  const [record] = await presentThreads(context, [rows]);
  if (!record) throw notFound('Discussion');
  return record;
}

const awardTypes = {
  issue_id: 'Issue',
  epic_id: 'Epic',
  snippet_id: 'Snippet',
  note_id: 'Note',
} as const;

/** An award with its user. */
export type AwardWithUser = AwardRow & { user: UserBasicRow };

export function presentAward(context: Presenting, { user, ...award }: AwardWithUser): AwardRecord {
  const { issue_id, epic_id, snippet_id, note_id } = award;
  const columns = { issue_id, epic_id, snippet_id, note_id };
  const column = (['issue_id', 'epic_id', 'snippet_id', 'note_id'] as const).find(
    (name) => columns[name] !== null,
  );
  return {
    id: award.id,
    name: award.name,
    user: presentUserBasic(aroundOf(context), user),
    created_at: award.created_at.toISOString(),
    updated_at: award.updated_at.toISOString(),
    awardable_id: columns[column ?? 'note_id'] ?? 0,
    awardable_type: awardTypes[column ?? 'note_id'],
    // The address of a custom emoji, which this program does not have.
    url: null,
  };
}
