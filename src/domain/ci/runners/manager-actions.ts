/** Writes the processes of runners. */
import { sql as statement } from 'kysely';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import { Failure } from '../../../platform/failure.ts';
import { MAX_MANAGERS, type ManagerFields, RECENT_MS } from './rules.ts';

export type WrittenManager = ManagerFields & {
  runnerId: number;
  systemId: string;
  ipAddress: string;
  /** Null where the request leaves the time as it is. */
  contactedAt: Date | null;
};

/** Writes what is known of a process, and the time also to its runner; returns its id, undefined where the runner is gone. */
export async function writeManager(sql: Sql, manager: WrittenManager): Promise<number | undefined> {
  const { runnerId, systemId, contactedAt, ipAddress } = manager;
  const [written] = await sql<{ id: number }[]>`
    with heard as (
      update runners set contacted_at = greatest(contacted_at, ${contactedAt}::timestamptz)
      where id = ${runnerId} and ${contactedAt}::timestamptz is not null)
    insert into runner_managers (runner_id, system_xid, version, revision, platform, architecture, executor, features, gpus,
        ip_address, contacted_at, created_at)
      select id, ${systemId}, ${manager.version}::text, ${manager.revision}::text, ${manager.platform}::text,
        ${manager.architecture}::text, ${manager.executor}::text, ${sql.json(manager.features)}, ${manager.gpus}::text,
        ${ipAddress}, ${contactedAt}::timestamptz, ${now()}::timestamptz
      from runners where id = ${runnerId} for key share
    on conflict (runner_id, system_xid) do update set
      version = excluded.version, revision = excluded.revision, platform = excluded.platform,
      architecture = excluded.architecture, executor = excluded.executor, features = excluded.features, gpus = excluded.gpus,
      ip_address = excluded.ip_address, contacted_at = greatest(runner_managers.contacted_at, excluded.contacted_at)
    returning id`;
  return written?.id;
}

/** Removes processes that were not heard of for long, and the oldest beyond the number that is kept: for a new one. */
export async function forgetManagers(sql: Sql, runnerId: number, keptId: number): Promise<void> {
  const stale = new Date(now().getTime() - RECENT_MS);
  await sql`delete from runner_managers where id in (
    select id from runner_managers
    where runner_id = ${runnerId} and id <> ${keptId} and (
      greatest(created_at, contacted_at) <= ${stale} or id in (
        select id from runner_managers where runner_id = ${runnerId}
        order by greatest(created_at, contacted_at) desc, id desc offset ${MAX_MANAGERS}))
    for update skip locked)`;
}

/** Removes a process by its name; 404 without it. */
export const deleteManager = (
  db: Db,
  { runnerId, systemId }: { runnerId: number; systemId: string },
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const manager = await tx
      .selectFrom('runner_managers')
      .select(['id', statement<Date>`greatest(created_at, contacted_at)`.as('updated_at')])
      .where('runner_id', '=', runnerId)
      .where('system_xid', '=', systemId)
      .forUpdate()
      .executeTakeFirst();
    if (!manager) throw new Failure('not_found', 'Runner manager not found');
    unmodified(manager.updated_at);
    await ahead(tx).deleteFrom('runner_managers').where('id', '=', manager.id).execute();
  });
