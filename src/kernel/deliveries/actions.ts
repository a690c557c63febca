/** Takes receivers for a process, and gives them back. */
import { sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';
import type { Receivers } from './queries.ts';

/** Takes these receivers for a process, where no other live one has them, and returns their rows. */
export async function takeReceivers<Row>(
  db: Db,
  { receivers }: Receivers,
  ids: readonly number[],
  process: string,
  deadAfter: number,
): Promise<Row[]> {
  const table = sql.table(receivers);
  const { rows } = await sql<Row>`
    with free as (
      select r.id from ${table} r
      left join processes p on p.id = r.sender and p.beat_at > clock_timestamp() - make_interval(secs => ${deadAfter})
      where r.id = any(${[...ids]}::bigint[]) and p.id is null order by r.id for update of r skip locked
    )
    update ${table} r set sender = ${process}::uuid from free where r.id = free.id returning r.*`.execute(db);
  return rows;
}

/** Gives the receivers back. */
export const releaseReceivers = async (
  db: Db,
  { receivers }: Receivers,
  ids: readonly number[],
  process: string,
): Promise<void> => {
  await sql`update ${sql.table(receivers)} set sender = null
    where id = any(${[...ids]}::bigint[]) and sender = ${process}::uuid`.execute(db);
};
