/** References in the system notes on a noteable. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { CrossReference } from '../noteables/cross-reference-queries.ts';
import { type Noteable, noteableKey } from '../noteables/noteables.ts';
import { namedIn } from './cross-reference-filter.ts';

/** Newest mentions that are looked at. */
const MAX_MENTIONS = 1_000;

/** What the noteable was mentioned in, of the kind with this sign. Whether it is there, and for whom, is not checked. */
export async function mentionsOf(db: Db, noteable: Noteable, sign: string): Promise<CrossReference[]> {
  const { column, id } = noteableKey(noteable);
  const rows = await db
    .selectFrom('notes')
    .select(['system_action', 'project_id', 'namespace_id', 'body'])
    .where(sql.ref<number | string>(column), '=', id)
    // A literal, for the index that has only these.
    .where(sql<boolean>`system_action = 'cross_reference'`)
    .orderBy('id', 'desc')
    .limit(MAX_MENTIONS)
    .execute();
  return rows.flatMap(namedIn).filter((named) => named.sign === sign);
}
