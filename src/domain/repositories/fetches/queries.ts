/** Reads how often a project was fetched. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { firstDay } from './rules.ts';

export type FetchesOfDay = { count: number; date: string };

/** The days on which the project was fetched, the latest first. */
export async function selectFetches(db: Db, projectId: number): Promise<FetchesOfDay[]> {
  const { rows } = await sql<FetchesOfDay>`
    select fetches as count, to_char(day, 'YYYY-MM-DD') as date from project_fetches
    where project_id = ${projectId} and day >= ${firstDay(now())}::date order by day desc`.execute(db);
  return rows;
}
