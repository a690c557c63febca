/** What repacking and measuring record. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { Measures } from '../../../platform/git/copies/housekeeping.ts';
import type { RepositoryRow } from './queries.ts';

const update = (db: Db, { id }: RepositoryRow) => db.updateTable('repositories').where('id', '=', id);

/** What was counted while it was measured counts beside it: it may have come too late to be seen. */
const sizes = ({ bytes, commits }: Measures, counted: number) => ({
  size: sql<number>`${bytes} + greatest(size - ${counted}, 0)`,
  commit_count: commits,
});

export async function recordRepackStart(db: Db, row: RepositoryRow, started: Date): Promise<void> {
  await update(db, row).set({ tended_at: started }).execute();
}

/** Records the repack that has ended; writes during it still count. */
export async function recordRepack(
  db: Db,
  row: RepositoryRow,
  { measures, counted, packedAt }: { measures: Measures; counted: number; packedAt?: Date },
): Promise<void> {
  await update(db, row)
    .set({
      ...sizes(measures, counted),
      writes: sql<number>`greatest(writes - ${row.writes}, 0)`,
      measured_writes: 0,
      ...(packedAt && { packed_at: packedAt }),
    })
    .execute();
}

/** Returns the size that is counted by now. */
export async function recordMeasuringStart(db: Db, row: RepositoryRow): Promise<number> {
  const known = await update(db, row)
    .set({ measured_writes: row.writes })
    .returning('size')
    .executeTakeFirst();
  return known?.size ?? 0;
}

export async function recordMeasures(
  db: Db,
  row: RepositoryRow,
  measures: Measures,
  counted: number,
): Promise<void> {
  await update(db, row).set(sizes(measures, counted)).execute();
}
