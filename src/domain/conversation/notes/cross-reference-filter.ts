/** Hides cross-references in system notes to noteables that the reader may not read. */
import type { CrossReference } from '../noteables/cross-reference-queries.ts';
import type { FindContext } from '../noteables/noteable-resources.ts';
import type { NoteRecord } from './note-records.ts';
import { noteables } from './noteable-registry.ts';
import type { NoteRow } from './notes.ts';

/** Actions of system notes with cross-references. Mentions are not read at all by readers who may not follow them. */
const crossReferencing = new Set([
  'merge',
  'closed',
  'discussion',
  'relate',
  'unrelate',
  'relate_epic',
  'unrelate_epic',
  'duplicate',
  'moved',
  'cloned',
  'issue_added_to_epic',
  'issue_removed_from_epic',
  'epic_issue_added',
  'epic_issue_removed',
]);

const reference = /((?:[\w.-]+\/)*[\w.-]+)?([#!&])(\d{1,9})\b/g;

/** Replaces a reference that the reader may not follow. */
const HIDDEN = '[hidden]';

type TextRow = Pick<NoteRow, 'system_action' | 'project_id' | 'namespace_id' | 'body'>;

/** The references in a system note; other notes have none of these. */
function namedIn(row: TextRow): CrossReference[] {
  if (row.system_action === null || !crossReferencing.has(row.system_action)) return [];
  return [...row.body.matchAll(reference)].map(([text, path, sign = '', iid]) => ({
    key: keyOf(row, path, text),
    sign,
    path: path?.toLowerCase(),
    home: (sign === '&' ? row.namespace_id : row.project_id) ?? 0,
    iid: Number(iid),
  }));
}

const keyOf = (row: TextRow, path: string | undefined, text: string): string =>
  path === undefined ? `${row.project_id ?? ''} ${row.namespace_id ?? ''} ${text}` : text;

/** The records, without references that the reader may not follow. */
export async function hideUnreadable(
  context: FindContext,
  rows: readonly NoteRow[],
  records: readonly NoteRecord[],
): Promise<NoteRecord[]> {
  const named = [...new Map(rows.flatMap(namedIn).map((each) => [each.key, each])).values()];
  if (named.length === 0) return [...records];
  const found = await Promise.all(
    noteables.all(context.services).map(({ crossReferences }) => {
      const ofKind = named.filter(({ sign }) => sign === crossReferences?.sign);
      return crossReferences && ofKind.length > 0 ? crossReferences.readable(context, ofKind) : [];
    }),
  );
  const readable = new Set(found.flat().map(({ key }) => key));
  const rowsById = new Map(rows.map((row) => [row.id, row]));
  return records.map((record) => {
    const row = rowsById.get(record.id);
    if (!row || namedIn(row).every(({ key }) => readable.has(key))) return record;
    const body = record.body.replaceAll(reference, (text, path) =>
      readable.has(keyOf(row, path, text)) ? text : HIDDEN,
    );
    return { ...record, body };
  });
}
