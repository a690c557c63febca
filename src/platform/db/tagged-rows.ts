/** Rows of several selects by one statement: each with the name of its select, and its columns as JSON. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from './database.ts';

/** A description is no part of the JSON: it may be long, and only texts of their own columns are counted. */
type TaggedRow = { tag: string; row: object; description: string | null };

/** Times arrive as ISO 8601 text; rows are in any order. `isDescribed`: they have a column `description`. */
export const taggedRows = (
  tag: string,
  select: RawBuilder<unknown>,
  { isDescribed = false } = {},
): RawBuilder<TaggedRow> =>
  isDescribed
    ? sql`select ${sql.lit(tag)} as tag, to_jsonb(x) - 'description' as row, x.description from (${select}) x`
    : sql`select ${sql.lit(tag)} as tag, to_jsonb(x) as row, null as description from (${select}) x`;

/** Runs the selects as one statement, behind the `with` where there is one; the function gives the rows of a tag. */
export async function readTagged<Rows extends Record<string, object>>(
  db: Db,
  selects: readonly RawBuilder<TaggedRow>[],
  ctes: RawBuilder<unknown> | undefined = undefined,
): Promise<<Tag extends keyof Rows>(tag: Tag) => Rows[Tag][]> {
  const { rows } = await sql<TaggedRow>`
    ${ctes ? sql`with ${ctes}` : sql``} ${sql.join(selects, sql` union all `)}`.execute(db);
  const byTag = Map.groupBy<PropertyKey, TaggedRow>(rows, ({ tag }) => tag);
  return <Tag extends keyof Rows>(tag: Tag) =>
    // The select of the tag has these columns.
    (byTag.get(tag) ?? []).map(({ row, description }) => ({ ...row, description }) as unknown as Rows[Tag]);
}

/**
 * PostgreSQL assumes ten entries of an array that it does not know. It would plan the statement anew for each shorter
 * one, which takes longer than the statement: shorter ones are filled up with an id that no row has.
 */
const ASSUMED_IDS = 10;

/** The ids, each once, as an array of such a statement. */
export function idArray(ids: readonly (number | null)[]): RawBuilder<unknown> {
  const distinct = [...new Set(ids.filter((id): id is number => id !== null))];
  const filling = Array.from({ length: Math.max(0, ASSUMED_IDS - distinct.length) }, () => 0);
  return sql`${[...distinct, ...filling]}::bigint[]`;
}

export const byId = <Row extends { id: number }>(rows: readonly Row[]): Map<number, Row> =>
  new Map(rows.map((row) => [row.id, row]));
