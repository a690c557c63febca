/** Notes when packages were last fetched. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { FetchedFile } from './queries.ts';

/** At most this often: not a write for each download. */
const INTERVAL_MS = 600_000;

/** Waits for nobody: who holds the row publishes to the package, or notes the same. */
export async function noteDownload(
  db: Db,
  { package_id, last_downloaded_at }: Pick<FetchedFile, 'package_id' | 'last_downloaded_at'>,
): Promise<void> {
  const time = now();
  if (last_downloaded_at && time.getTime() - last_downloaded_at.getTime() < INTERVAL_MS) return;
  await sql`update packages set last_downloaded_at = ${time} where id = (
    select id from packages where id = ${package_id} for no key update skip locked)`.execute(db);
}
