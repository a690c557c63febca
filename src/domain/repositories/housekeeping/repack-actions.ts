/** What repacking and measuring record. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { Measures } from '../../../platform/git/copies/housekeeping.ts';
import type { RepositoryRow } from './queries.ts';

const update = (db: Db, { id }: RepositoryRow) => db.updateTable('repositories').where('id', '=', id);

const sizes = ({ bytes, commits }: Measures) => ({ size: bytes, commit_count: commits });

export async function recordRepackStart(db: Db, row: RepositoryRow, started: Date): Promise<void> {
  await update(db, row).set({ tended_at: started }).execute();
}

/** Records the repack that has ended; writes during it still count. */
export async function recordRepack(
  db: Db,
  row: RepositoryRow,
  { measures, packedAt }: { measures: Measures; packedAt?: Date },
): Promise<void> {
  await update(db, row)
    .set({
      ...sizes(measures),
      writes: sql<number>`greatest(writes - ${row.writes}, 0)`,
      measured_writes: 0,
      ...(packedAt && { packed_at: packedAt }),
    })
    .execute();
}

export async function recordMeasuringStart(db: Db, row: RepositoryRow): Promise<void> {
  await update(db, row).set({ measured_writes: row.writes }).execute();
}

export async function recordMeasures(db: Db, row: RepositoryRow, measures: Measures): Promise<void> {
  await update(db, row).set(sizes(measures)).execute();
}
