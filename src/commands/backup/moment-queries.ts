/** By what a backup knows that a table has the rows which an earlier backup has. */
import type { CopyConnection } from '../../platform/db/driver/copy.ts';
import { digest } from '../../platform/secret.ts';
import type { Header } from './format.ts';

/** Of which moment of which database rows are. */
export type RowsMoment = {
  database: string;
  /** The program and its tables. */
  schema: string;
  /** PostgreSQL's number of a transaction before which all had ended at that moment. */
  before: string;
};

/** Beyond these many transactions, in which their short numbers begin anew, no two moments are compared. */
const MAX_TRANSACTIONS = 2n ** 30n;

/** Null where rows are kept elsewhere too, or where the server does not say which database it is. */
export async function describeMoment(
  snapshot: CopyConnection,
  { version, migrations, tables }: Pick<Header, 'version' | 'migrations' | 'tables'>,
): Promise<RowsMoment | null> {
  const [there] = await snapshot.ask<{ knows: boolean }>(`
    select has_function_privilege('pg_control_system()', 'execute') and has_function_privilege('pg_control_checkpoint()', 'execute')
      and not exists (select from pg_extension where extname = 'citus') as knows`);
  if (!there?.knows) return null;
  // Where its files were put back to an earlier moment, or another server took its place, it was started since: its numbers of
  // transactions may then be those of other ones, and only a restore from PostgreSQL's own archive begins another time line.
  const [found] = await snapshot.ask<{ database: string; before: string }>(`
    select concat_ws(' ', s.system_identifier, c.timeline_id, extract(epoch from pg_postmaster_start_time()), d.oid) as database,
      pg_snapshot_xmin(pg_current_snapshot())::text as before
    from pg_control_system() s, pg_control_checkpoint() c, pg_database d where d.datname = current_database()`);
  const schema = digest(JSON.stringify([version, migrations, tables])).toString('hex');
  return found ? { ...found, schema } : null;
}

/** Whether rows of the one moment may be compared with those of the other, later one. Pure. */
export function isSameDatabase(earlier: RowsMoment | null, later: RowsMoment | null): boolean {
  if (!earlier || !later || earlier.database !== later.database || earlier.schema !== later.schema)
    return false;
  const passed = BigInt(later.before) - BigInt(earlier.before);
  return passed >= 0n && passed < MAX_TRANSACTIONS;
}

/**
 * Whether a table has the rows that it had at an earlier moment, as many as `count`: none is of a later transaction, and none has
 * gone. Tables of which only some rows are kept are not asked about, since which ones changes by itself.
 */
export async function isUnchanged(
  snapshot: CopyConnection,
  table: string,
  { before }: RowsMoment,
  count: number,
): Promise<boolean> {
  const [found] = await snapshot.ask<{ same: boolean }>(`
    select count(*) = ${count} and not coalesce(bool_or(age(xmin) <= age('${before}'::xid8::xid)), false) as same
    from public."${table}"`);
  return found?.same === true;
}
