/** Hides cross-references in system notes to issues and epics that the reader may not read. */
import { sql } from 'kysely';
import { visibleEpics } from '../../core/work/epic-visibility.ts';
import { visibleIssues } from '../../core/work/issue-visibility.ts';
import type { NoteRecord } from '../../core/work/note-records.ts';
import type { NoteRow } from '../../core/work/notes.ts';
import type { FindContext } from './noteable-resources.ts';

/** Actions of system notes with cross-references. */
const crossReferencing = new Set([
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

const reference = /((?:[\w.-]+\/)*[\w.-]+)?([#&])(\d{1,9})\b/g;

/** Replaces a reference that the reader may not follow. */
const HIDDEN = '[hidden]';

/** A reference, by path, or without one in the project or group of id `home`. */
type Named = { key: string; sign: string; path: string | undefined; home: number; iid: number };

function namedIn(row: NoteRow): Named[] {
  if (row.system_action === null || !crossReferencing.has(row.system_action)) return [];
  return [...row.body.matchAll(reference)].map(([text, path, sign = '', iid]) => ({
    key: keyOf(row, path, text),
    sign,
    path: path?.toLowerCase(),
    home: (sign === '#' ? row.project_id : row.namespace_id) ?? 0,
    iid: Number(iid),
  }));
}

const keyOf = (row: NoteRow, path: string | undefined, text: string): string =>
  path === undefined ? `${row.project_id ?? ''} ${row.namespace_id ?? ''} ${text}` : text;

/** The references as a table `q`, so that one statement finds many. */
const asked = (named: readonly Named[]) => sql`unnest(
  ${named.map(({ key }) => key)}::text[], ${named.map(({ home }) => home)}::bigint[],
  ${named.map(({ path }) => path ?? null)}::text[], ${named.map(({ iid }) => iid)}::integer[]) q(key, home, path, iid)`;

type Keys = { key: string }[];

/** The keys of the issues that the reader may read. */
async function readableIssues({ db, actor }: FindContext, named: readonly Named[]): Promise<Keys> {
  if (named.length === 0) return [];
  const { ctes, condition } = visibleIssues(actor, sql`p.id in (select id from named)`);
  const { rows } = await sql<{ key: string }>`with named(key, id, iid) as (
    select q.key, q.home, q.iid from ${asked(named)} where q.path is null
    union all
    select q.key, p.id, q.iid from ${asked(named)}
      join namespaces n on lower(n.full_path) collate "C" = regexp_replace(q.path, '/[^/]*$', '')
      join projects p on p.namespace_id = n.id and lower(p.path) collate "C" = regexp_replace(q.path, '^.*/', '')), ${ctes}
    select named.key from named join issues i on i.project_id = named.id and i.iid = named.iid
    join issue_projects v on v.id = i.project_id where ${condition}`.execute(db);
  return rows;
}

/** The keys of the epics that the reader may read. */
async function readableEpics({ db, actor }: FindContext, named: readonly Named[]): Promise<Keys> {
  if (named.length === 0) return [];
  const { rows } = await sql<{ key: string }>`with named(key, id, iid) as (
    select q.key, q.home, q.iid from ${asked(named)} where q.path is null
    union all
    select q.key, n.id, q.iid from ${asked(named)} join namespaces n on lower(n.full_path) collate "C" = q.path)
    select named.key from named join epics on epics.namespace_id = named.id and epics.iid = named.iid
    where ${visibleEpics(actor)}`.execute(db);
  return rows;
}

/** The records, without references that the reader may not follow. */
export async function hideUnreadable(
  context: FindContext,
  rows: readonly NoteRow[],
  records: readonly NoteRecord[],
): Promise<NoteRecord[]> {
  const named = [...new Map(rows.flatMap(namedIn).map((each) => [each.key, each])).values()];
  if (named.length === 0) return [...records];
  const found = await Promise.all([
    readableIssues(
      context,
      named.filter(({ sign }) => sign === '#'),
    ),
    readableEpics(
      context,
      named.filter(({ sign }) => sign === '&'),
    ),
  ]);
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
