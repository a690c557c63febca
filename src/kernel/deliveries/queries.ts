/** Reads for which receivers something waits. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';

/**
 * Receivers are rows of a project, of a namespace or of the instance, with the process that is their sender; deliveries are rows
 * with the receiver's id.
 */
export type Receivers = {
  /** The names of their tables. */
  receivers: string;
  deliveries: string;
  /** The column of deliveries with the receiver's id. */
  key: string;
  /** Which deliveries `d` wait, by an index on the key; all unless told. */
  waits?: RawBuilder<SqlBool>;
  /** Which receivers `r` may be sent to at that time; all unless told. */
  isReady?(time: Date): RawBuilder<SqlBool>;
};

/** Whose receiver it is: what one of them may have of the sender. */
export type WaitingReceiver = { id: number; owner: string };

const MAX_WAITING_RECEIVERS = 2_000;

/**
 * Receivers with deliveries that wait, to which no live process sends; each look steps over all that one of them has. `deadAfter`
 * is in seconds.
 */
export async function selectWaitingReceivers(
  db: Db,
  { receivers, deliveries, key, waits = sql`true`, isReady = () => sql`true` }: Receivers,
  time: Date,
  deadAfter: number,
): Promise<WaitingReceiver[]> {
  const [from, id] = [sql.table(deliveries), sql.ref(`d.${key}`)];
  const { rows } = await sql<WaitingReceiver>`
    with recursive waiting (id) as (
      (select ${id} from ${from} d where ${waits} order by ${id} limit 1)
      union all
      select (select ${id} from ${from} d where ${waits} and ${id} > w.id order by ${id} limit 1)
      from waiting w where w.id is not null
    )
    select r.id, case when r.project_id is not null then 'p' || r.project_id
      when r.namespace_id is not null then 'g' || r.namespace_id else 'instance' end as owner
    from (select id from waiting limit ${MAX_WAITING_RECEIVERS}) w join ${sql.table(receivers)} r on r.id = w.id
    left join processes p on p.id = r.sender and p.beat_at > clock_timestamp() - make_interval(secs => ${deadAfter})
    where p.id is null and ${isReady(time)}`.execute(db);
  return rows;
}
