/** The WAL file that a full disk would not let the server create. */
import type { ConnectionTarget } from '../database.ts';

/**
 * Creates the next WAL file of a cluster without a spare one. The server stops where it needs one and the
 * disk is full; later it recycles old ones, and rarely creates one. Only a stop waits for this.
 */
export async function makeSpareLog(target: ConnectionTarget): Promise<void> {
  // Loaded late: the embedded database starts before this process reads its drivers.
  const { connect } = await import('../database.ts');
  const sql = connect(target, { max: 1, statementTimeout: 10_000, name: 'spare log' });
  try {
    const [row] = await sql<{ spare: number }[]>`
      select count(*)::int as spare from pg_ls_waldir() where name > pg_walfile_name(pg_current_wal_lsn())`;
    if (row?.spare !== 0) return;
    await sql`select pg_switch_wal()`;
    await sql`checkpoint`;
  } finally {
    await sql.end();
  }
}
