/** Takes mirrors that are due for this process, and writes what came of their runs. */
import { sql } from 'kysely';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { DEAD_AFTER_SECONDS } from '../../../platform/db/processes.ts';
import type { MirrorRow } from '../queries.ts';
import type { After } from '../rules.ts';

export const MIRROR_FAILED = 'mirror_failed';

/** Runs of all mirrors of one top-level group, or of one user, at a time. */
const PLACES_OF_OWNER = 2;
/** Runs of all mirrors that one user set up, who may have any number of groups. */
const PLACES_OF_USER = 4;

const isHeld = sql`exists (select from processes p where p.id = m.runner
  and p.beat_at > clock_timestamp() - make_interval(secs => ${DEAD_AFTER_SECONDS}))`;

/**
 * Takes what is due, the longest waiting first, by turns of owners: at most so many for this process, and so many over all of
 * them. What a dead process had taken is due again; mirrors of projects that are being moved wait.
 */
export async function takeDue(
  db: Db,
  process: string,
  { places, capacity }: { places: number; capacity: number },
): Promise<MirrorRow[]> {
  const time = now();
  const { rows } = await sql<MirrorRow>`
    with held as (
      select coalesce(n.ancestor_ids[1], n.id) as owner, count(*) as count
      from mirrors m join projects pr on pr.id = m.project_id join namespaces n on n.id = pr.namespace_id
      where m.runner is not null and ${isHeld} group by 1
    ), held_of_user as (
      select m.user_id, count(*) as count
      from mirrors m where m.runner is not null and ${isHeld} group by m.user_id
    ), due as (
      select m.id, m.due_at, m.user_id, coalesce(n.ancestor_ids[1], n.id) as owner,
        row_number() over (partition by coalesce(n.ancestor_ids[1], n.id) order by m.due_at, m.id) as place
      from mirrors m join projects pr on pr.id = m.project_id join namespaces n on n.id = pr.namespace_id
      where m.due_at <= ${time} and (m.runner is null or not ${isHeld})
        and not pr.deleting and not pr.repository_read_only
    ), of_owners as (
      select d.*, row_number() over (partition by d.user_id order by d.place, d.due_at, d.id) as place_of_user
      from due d left join held h on h.owner = d.owner
      where d.place + coalesce(h.count, 0) <= ${PLACES_OF_OWNER}
    ), chosen as (
      select o.id from of_owners o left join held_of_user u on u.user_id = o.user_id
      where o.user_id is null or o.place_of_user + coalesce(u.count, 0) <= ${PLACES_OF_USER}
      order by o.place, o.due_at, o.id
      limit least(${places}::bigint, greatest(0, ${capacity}::bigint - (select coalesce(sum(count), 0) from held)))
    ), free as (
      select m.id from mirrors m where m.id in (select id from chosen)
        and m.due_at <= ${time} and (m.runner is null or not ${isHeld})
      order by m.id for update of m skip locked
    )
    update mirrors m set runner = ${process}::uuid, status = 'started', last_update_started_at = ${time}
    from free where m.id = free.id returning m.*`.execute(db);
  return rows;
}

/** Writes what came of a run; a run that was asked for meanwhile stays due. */
export const finishRun = (db: Db, process: string, row: MirrorRow, after: After): Promise<void> =>
  inTransaction(db, async (tx) => {
    const { due_at: next, tells, ...columns } = after;
    const time = now();
    const written = await tx
      .updateTable('mirrors')
      .set({
        ...columns,
        last_update_at: time,
        ...(columns.status === 'finished' && { last_successful_update_at: time }),
        due_at: sql<Date | null>`case when due_at is distinct from ${row.due_at}::timestamptz then due_at
          when enabled = ${row.enabled} then ${next}::timestamptz end`,
        runner: null,
      })
      .where('id', '=', row.id)
      .where('runner', '=', process)
      .executeTakeFirst();
    if (written.numUpdatedRows === 0n || !tells) return;
    const payload = { project_id: row.project_id, mirror_id: row.id };
    await announce(tx, { fact: { name: MIRROR_FAILED, payload } });
  });

/**
 * Whether a run is to go on: its mirror is there and as it was, and its project is neither being deleted nor moved, which waits
 * for writes to end.
 */
export async function goesOn(
  db: Db,
  process: string,
  { id, url, credentials_sealed, enabled }: MirrorRow,
): Promise<boolean> {
  const { rows } = await sql`
    select from mirrors m join projects p on p.id = m.project_id
    where m.id = ${id} and m.runner = ${process}::uuid and m.enabled = ${enabled} and m.url = ${url}
      and m.credentials_sealed is not distinct from ${credentials_sealed}::text
      and not p.deleting and not p.repository_read_only`.execute(db);
  return rows.length > 0;
}

/** Gives a run back that this process does not end: another takes it up. */
export async function giveBack(db: Db, process: string, id: number): Promise<void> {
  await db
    .updateTable('mirrors')
    .set({ runner: null, status: 'scheduled' })
    .where('id', '=', id)
    .where('runner', '=', process)
    .execute();
}

/** A project that has no branch and no name for its first takes that of the repository it comes from. */
export async function nameFirstBranch(db: Db, projectId: number, branch: string): Promise<void> {
  await ahead(db)
    .updateTable('projects')
    .set({ default_branch: branch })
    .where('id', '=', projectId)
    .where('empty_repo', '=', true)
    .where('default_branch', 'is', null)
    .execute();
}
