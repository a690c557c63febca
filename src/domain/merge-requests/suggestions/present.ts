/** Suggestions as records. */
import type { Db } from '../../../platform/db/database.ts';
import { positionOf, type SuggestionRecord } from '../../conversation/index.ts';
import { type Appliability, whyNotAppliable } from '../review/apply-suggestions.ts';
import { rangeOf } from '../review/suggestions.ts';
import { type SuggestionRow, selectSuggestionsOf } from './queries.ts';

export function appliabilityOf(row: SuggestionRow, hasSourceBranch: boolean): Appliability {
  const position = positionOf(row);
  return {
    ...rangeOf({ new_line: position?.new_line ?? null }, row),
    from_content: row.from_content,
    to_content: row.to_content,
    path: position?.new_path ?? '',
    applied: row.commit_sha !== null,
    state: row.state as Appliability['state'],
    hasSourceBranch,
    isOutdated: row.is_note_outdated || row.outdated,
  };
}

/** Whose source branch was deleted is closed, soon. */
export function presentSuggestion(row: SuggestionRow): SuggestionRecord {
  const appliability = appliabilityOf(row, row.source_project_id !== null);
  const { from_line, to_line, from_content, to_content, applied } = appliability;
  const appliable = whyNotAppliable(appliability) === undefined;
  return { id: row.id, from_line, to_line, appliable, applied, from_content, to_content };
}

/** The records of the notes, by their ids. */
export async function loadSuggestions(
  db: Db,
  noteIds: readonly number[],
): Promise<ReadonlyMap<number, SuggestionRecord[]>> {
  const byNote = Map.groupBy(await selectSuggestionsOf(db, noteIds), ({ note_id }) => note_id);
  return new Map([...byNote].map(([noteId, rows]) => [noteId, rows.map(presentSuggestion)]));
}
