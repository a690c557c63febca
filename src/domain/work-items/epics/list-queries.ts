/**
 * Lists of epics. The groups that the caller may read come first, whose number does not grow with epics; the
 * first epics of each are read from its index in the list's order, up to the page.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import { offsetPage, type Page, type PageRequest } from '../../../platform/pagination/page.ts';
import type { Condition } from './filter-queries.ts';
import type { EpicRow } from './records/epic-rows.ts';
import { inEpicGroup } from './records/visibility-queries.ts';
import type { epicOrders } from './schema.ts';

export type EpicQuery = {
  /** CTEs of epicGroups(). */
  groups: RawBuilder<unknown>;
  conditions: readonly Condition[];
  /** Whether the conditions likely match few epics. */
  few: boolean;
  by: (typeof epicOrders)[number];
  sort: 'asc' | 'desc';
};

/** Ids and sort keys of the epics: all, or the first `limit` of each group. */
function selection({ conditions, few, by, sort }: EpicQuery, limit: number): RawBuilder<unknown> {
  const columns = sql`epics.id, ${sql.ref(`epics.${by}`)} as place`;
  const where = sql.join([inEpicGroup, ...conditions], sql` and `);
  if (few) return sql`select ${columns} from epics, epic_groups v where ${where}`;
  const direction = sql.raw(sort);
  return sql`select listed.* from epic_groups v cross join lateral (
    select ${columns} from epics where ${where} order by place ${direction}, id ${direction} limit ${limit}) listed`;
}

/** A page of the groups' epics that meet the conditions, in two statements at most. */
export async function listEpics(
  db: Db,
  query: EpicQuery,
  page: PageRequest & { kind: 'offset' },
): Promise<Page<EpicRow>> {
  const { perPage, offset, countLimit } = page;
  const direction = sql.raw(query.sort);
  const order = sql`order by page.place ${direction}, page.id ${direction}`;
  const { rows } = await sql<EpicRow>`with ${query.groups}
    select epics.* from (
      select * from (${selection(query, offset + perPage + 1)}) page ${order} limit ${perPage + 1} offset ${offset}) page
    join epics on epics.id = page.id ${order}`.execute(db);
  return offsetPage(page, rows, async () => {
    const counted = await sql<{ count: number }>`with ${query.groups}
      select count(*) as count from (
        select from epics, epic_groups v where ${sql.join([inEpicGroup, ...query.conditions], sql` and `)}
        limit ${countLimit + 1}) counted`.execute(db);
    return counted.rows[0]?.count ?? 0;
  });
}
