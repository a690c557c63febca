/** Rows of a select as one JSON value, so that one statement reads the rows of several tables. */
import { type RawBuilder, sql } from 'kysely';

/** An array in the order of the rows. Times arrive as ISO 8601 text. */
export const jsonRows = (select: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(select coalesce(jsonb_agg(x), '[]') from (${select}) x)`;
