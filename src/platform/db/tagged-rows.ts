/** Rows of several selects by one statement: each with the name of its select, and its columns as JSON. */
import { type RawBuilder, sql } from 'kysely';

/** A description is no part of the JSON: it may be long, and only texts of their own columns are counted. */
export type TaggedRow = { tag: string; row: object; description: string | null };

/** Times arrive as ISO 8601 text; rows are in any order. `isDescribed`: they have a column `description`. */
export const taggedRows = (
  tag: string,
  select: RawBuilder<unknown>,
  { isDescribed = false } = {},
): RawBuilder<TaggedRow> =>
  isDescribed
    ? sql`select ${sql.lit(tag)} as tag, to_jsonb(x) - 'description' as row, x.description from (${select}) x`
    : sql`select ${sql.lit(tag)} as tag, to_jsonb(x) as row, null as description from (${select}) x`;
