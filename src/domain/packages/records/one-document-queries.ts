/** Documents that have all versions of a name, or all names: how much of them comes from the database. */
import { type RawBuilder, sql } from 'kysely';

/**
 * Those of the rows that one document has, the newest of them, as a table to select from: so many, with so many characters of
 * `description` together. The rows have that and an `id`.
 */
export const oneDocument = (
  rows: RawBuilder<unknown>,
  { most = 10_000, characters = 16_777_216 } = {},
): RawBuilder<unknown> => sql`(
  select * from (
    select each.*, sum(length(each.description::text)) over (order by each.id desc) as characters from (${rows}) each
    order by each.id desc limit ${most}) counted
  where characters <= ${characters})`;
