/** Note and discussion records (facts: Resource entities, Note, Discussion). */
import Type, { type Static } from 'typebox';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { presentUserBasic, UserBasic } from '../../../kernel/users/records.ts';
import type { Db } from '../../../platform/db/database.ts';
import { dateTime, deprecated, nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';
import type { NoteableKind } from '../noteables/noteables.ts';
import { noteables } from './noteable-registry.ts';
import { maySuggest, type NoteRow, type NoteWithRelations, positionOf } from './notes.ts';
import { SuggestionRecord } from './schema.ts';

const place = Type.Optional(nullable(Type.Integer()));
const LineEnd = Type.Object({
  line_code: nullable(Type.String()),
  type: nullable(Type.String()),
  old_line: nullable(Type.Integer()),
  new_line: nullable(Type.Integer()),
});

/** Lines for a position in text, the rest for one in an image. */
export const Position = Type.Object({
  base_sha: Type.String(),
  start_sha: Type.String(),
  head_sha: Type.String(),
  old_path: nullable(Type.String()),
  new_path: nullable(Type.String()),
  position_type: stringEnum(['text', 'image', 'file']),
  old_line: place,
  new_line: place,
  line_range: Type.Optional(nullable(Type.Object({ start: LineEnd, end: LineEnd }))),
  width: place,
  height: place,
  x: place,
  y: place,
});

export const NoteRecord = Type.Object({
  id: Type.Integer(),
  type: nullable(
    Type.String({ description: '`DiscussionNote` in a thread, `DiffNote` where it has a position.' }),
  ),
  body: Type.String(),
  author: UserBasic,
  created_at: dateTime(),
  updated_at: dateTime(),
  system: Type.Boolean(),
  noteable_id: nullable(Type.Integer()),
  noteable_type: Type.String(),
  project_id: nullable(Type.Integer()),
  commit_id: nullable(Type.String()),
  position: Type.Optional(Position),
  resolvable: Type.Boolean(),
  resolved: Type.Optional(Type.Boolean()),
  resolved_by: Type.Optional(nullable(UserBasic)),
  resolved_at: Type.Optional(nullable(dateTime())),
  suggestions: Type.Optional(Type.Array(SuggestionRecord, { description: 'Of a `DiffNote`.' })),
  confidential: deprecated(Type.Boolean(), 'internal'),
  internal: Type.Boolean(),
  imported: Type.Boolean(),
  imported_from: Type.String(),
  noteable_iid: nullable(Type.Integer()),
  commands_changes: Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true })),
});
export type NoteRecord = Static<typeof NoteRecord>;

export const DiscussionRecord = Type.Object({
  id: Type.String(),
  individual_note: Type.Boolean(),
  notes: Type.Array(NoteRecord),
});
export type DiscussionRecord = Static<typeof DiscussionRecord>;

/** Whether the note belongs to a thread that can be resolved. */
export const isResolvable = (
  kind: NoteableKind,
  note: Pick<NoteRow, 'in_thread' | 'system_action'>,
): boolean => kind.isResolvable && note.in_thread && note.system_action === null;

/** Whether the thread can be resolved, and is. */
export function isResolved(kind: NoteableKind, thread: readonly NoteRow[]): boolean {
  const resolvable = thread.filter((note) => isResolvable(kind, note));
  return resolvable.length > 0 && resolvable.every(({ resolved_at }) => resolved_at !== null);
}

type Presenting = { db: Db; services: Needs<'registered' | 'baseUrl'>; settings: ApplicationSettings };

/** The suggestions of those notes whose text has a block that may be one, by the notes' ids. */
async function loadSuggestions(
  { db, services }: Presenting,
  rows: readonly NoteRow[],
): Promise<ReadonlyMap<number, SuggestionRecord[]>> {
  const suggesting = rows.filter((row) => positionOf(row) && maySuggest(row.body));
  if (suggesting.length === 0) return new Map();
  const loaded = await Promise.all(
    noteables.all(services).map(({ kind, suggestions }) => {
      const ofKind = suggesting.filter((row) => row[kind.column] !== null).map(({ id }) => id);
      return suggestions && ofKind.length > 0 ? suggestions.load(db, ofKind) : new Map();
    }),
  );
  return new Map(loaded.flatMap((each) => [...each]));
}

/** The records, in the order of the rows; without those whose author was deleted meanwhile. */
export async function presentNotes(
  context: Presenting,
  rows: readonly NoteWithRelations[],
): Promise<NoteRecord[]> {
  const { services, settings } = context;
  const around = { baseUrl: services.baseUrl(), settings };
  const kinds = noteables.all(services).map(({ kind }) => kind);
  const suggestions = await loadSuggestions(context, rows);
  return rows.flatMap((row) => {
    const kind = kinds.find(({ column }) => row[column] !== null);
    if (!row.author || !kind) return [];
    const resolvable = isResolvable(kind, row);
    const position = positionOf(row);
    return {
      id: row.id,
      type: position ? 'DiffNote' : row.in_thread ? 'DiscussionNote' : null,
      body: row.body,
      author: presentUserBasic(around, row.author),
      created_at: row.created_at.toISOString(),
      updated_at: row.updated_at.toISOString(),
      system: row.system_action !== null,
      noteable_id: row.issue_id ?? row.epic_id ?? row.merge_request_id ?? row.snippet_id ?? row.alert_id,
      noteable_type: kind.type,
      project_id: row.project_id,
      commit_id: row.commit_sha,
      ...(position && { position }),
      resolvable,
      ...(resolvable && {
        resolved: row.resolved_at !== null,
        resolved_by: row.resolver ? presentUserBasic(around, row.resolver) : null,
        resolved_at: row.resolved_at?.toISOString() ?? null,
      }),
      ...(position && { suggestions: suggestions.get(row.id) ?? [] }),
      confidential: row.internal,
      internal: row.internal,
      imported: false,
      imported_from: 'none',
      noteable_iid: row.noteable_iid,
      commands_changes: {},
    };
  });
}

/** The notes grouped into discussions, in the order of their first notes. */
export function gatherDiscussions(
  rows: readonly NoteRow[],
  records: readonly NoteRecord[],
): DiscussionRecord[] {
  const rowsById = new Map(rows.map((row) => [row.id, row]));
  const gathered = new Map<string, DiscussionRecord>();
  for (const record of records) {
    const row = rowsById.get(record.id);
    if (!row) continue;
    const known = gathered.get(row.discussion_id);
    if (known) known.notes.push(record);
    else
      gathered.set(row.discussion_id, {
        id: row.discussion_id,
        individual_note: !row.in_thread,
        notes: [record],
      });
  }
  return [...gathered.values()];
}
