/** Dependencies of merge requests, and those of them that the caller sees. */
import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { MergeRequestBlocksTable } from '../../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { visibleMergeRequests } from '../records/visibility-queries.ts';
import { type BlockCandidates, MAX_CHAINED } from './rules.ts';

/** A dependency with the project of the blocked merge request. */
export type BlockRow = Selectable<MergeRequestBlocksTable> & { project_id: number };
/** As its record has it. */
export type ShownBlock = Omit<BlockRow, 'created_at'>;

const blocks = (db: Db) =>
  db
    .selectFrom('merge_request_blocks')
    .innerJoin('merge_requests', 'merge_requests.id', 'merge_request_blocks.blocked_id')
    .selectAll('merge_request_blocks')
    .select('merge_requests.project_id');

type Side = 'blocked_id' | 'blocking_id';

/** A page of those in which the merge request is on this side, the oldest first. */
export const selectBlocks = (
  db: Db,
  side: Side,
  { id }: Pick<MergeRequestRow, 'id'>,
  page: PageRequest,
): Promise<Page<BlockRow>> =>
  selectPage(
    db,
    blocks(db).where(`merge_request_blocks.${side}`, '=', id),
    page,
    { by: 'id', sort: 'asc' },
    { id: 'merge_request_blocks.id' },
  );

/** The dependency of the blocked merge request. */
export const selectBlock = (
  db: Db,
  { id }: Pick<MergeRequestRow, 'id'>,
  blockId: number,
): Promise<BlockRow | undefined> =>
  blocks(db)
    .where('merge_request_blocks.id', '=', blockId)
    .where('merge_request_blocks.blocked_id', '=', id)
    .executeTakeFirst();

/** The CTEs for the projects of these merge requests in which the caller sees them. */
const seenProjects = (caller: Caller, ids: RawBuilder<unknown>): RawBuilder<unknown> =>
  visibleMergeRequests(
    caller,
    sql`p.id in (select m.project_id from merge_requests m where m.id in (${ids}))`,
  ).ctes;

/** Of these merge requests those that the caller sees. */
export async function selectSeen(db: Db, caller: Caller, ids: readonly number[]): Promise<MergeRequestRow[]> {
  const wanted = sql`select unnest(${[...ids]}::bigint[])`;
  const { rows } = await sql<MergeRequestRow>`
    with ${seenProjects(caller, wanted)}
    select i.* from merge_requests i join listed_projects v on v.id = i.project_id where i.id in (${wanted})`.execute(
    db,
  );
  return rows;
}

/** The same dependency with those of its merge requests that the caller sees, by one statement. */
export async function selectShownBlock(
  db: Db,
  caller: Caller,
  { id: project_id }: Pick<AuthorizedProject, 'id'>,
  iid: number,
  blockId: number,
): Promise<{ block: ShownBlock; seen: MergeRequestRow[] } | undefined> {
  const both = sql`select unnest(array[blocking_id, blocked_id]) from merge_request_blocks where id = ${blockId}`;
  const { rows } = await sql<MergeRequestRow & { blocking_id: number; blocked_id: number }>`
    with ${seenProjects(caller, both)}
    select i.*, b.blocking_id, b.blocked_id from merge_request_blocks b
    join merge_requests m on m.id = b.blocked_id and m.project_id = ${project_id} and m.iid = ${iid}
    join merge_requests i on i.id in (b.blocking_id, b.blocked_id)
    join listed_projects v on v.id = i.project_id where b.id = ${blockId}`.execute(db);
  const [first] = rows;
  if (!first) return undefined;
  const { blocking_id, blocked_id } = first;
  const seen = rows.map(({ blocking_id: _, blocked_id: __, ...row }) => row);
  return { block: { id: blockId, blocking_id, blocked_id, project_id }, seen };
}

/** The project's merge requests of these numbers. */
export const selectNumbered = (
  db: Db,
  { id }: Pick<AuthorizedProject, 'id'>,
  iids: readonly number[],
): Promise<MergeRequestRow[]> =>
  db.selectFrom('merge_requests').selectAll().where('project_id', '=', id).where('iid', 'in', iids).execute();

/** What is known of the two, and the id that their dependency gets. Call it under the lock of dependencies. */
export async function selectCandidates(
  tx: Db,
  blockingId: number,
  blockedId: number,
): Promise<{ id: number; candidates: BlockCandidates }> {
  const { rows } = await sql<Omit<BlockCandidates, 'blockingId' | 'blockedId'> & { id: number }>`
    with recursive chained(id) as (
      select blocking_id from merge_request_blocks where blocked_id = ${blockingId}
      union select b.blocking_id from merge_request_blocks b join chained c on b.blocked_id = c.id)
    select nextval(pg_get_serial_sequence('merge_request_blocks', 'id')) as id,
      exists (select from merge_request_blocks where blocked_id = ${blockedId} and blocking_id = ${blockingId}) as exists,
      (select count(*) from merge_request_blocks where blocked_id = ${blockedId})::integer as blockers,
      (select count(*) from merge_request_blocks b join merge_requests w on w.id = b.blocked_id
        join merge_requests own on own.id = ${blockedId} and own.project_id = w.project_id
        where b.blocking_id = ${blockingId})::integer as blockees,
      array(select id from chained limit ${MAX_CHAINED + 1}) as chained`.execute(tx);
  const [found] = rows;
  if (!found) throw new Error('one row of what is known');
  const { id, ...known } = found;
  return { id, candidates: { ...known, blockingId, blockedId } };
}
