/** Statements of reminders of due dates. */

import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';

export const HOUR_MS = 3_600_000;

/** Missed hours that are made up for: no reminder of the morning is sent at night. */
const MAX_HOURS = 12;

/** The instance fact with the last handled hour. */
const REMINDED_UNTIL = 'issue_due_told_until';

/** Takes the full hours, in milliseconds, that are not handled yet. */
export async function takeHours(tx: Db, time: Date): Promise<number[]> {
  const current = Math.floor(time.getTime() / HOUR_MS);
  const { rows } = await sql<{ until: number | null }>`
    insert into instance_facts as f (name, value) values (${REMINDED_UNTIL}, to_jsonb(${current}::bigint))
    on conflict (name) do update set value = to_jsonb(greatest(${current}::bigint, (f.value #>> '{}')::bigint))
    returning (select (old.value #>> '{}')::bigint from instance_facts old where old.name = ${REMINDED_UNTIL}) as until`.execute(
    tx,
  );
  const first = Math.max((rows[0]?.until ?? current - 1) + 1, current - MAX_HOURS + 1);
  return Array.from({ length: Math.max(0, current - first + 1) }, (_, index) => (first + index) * HOUR_MS);
}

/** The time zones of all users; '' for those who have none. */
export async function selectZones(db: Db): Promise<string[]> {
  const { rows } = await sql<{ zone: string }>`
    select distinct coalesce(timezone, '') as zone from users`.execute(db);
  return rows.map(({ zone }) => zone);
}

/** Open issues that are due on a day, after an id. */
export const selectDueIssues = (db: Db, day: string, after: number, limit: number) =>
  db
    .selectFrom('issues')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .select(['issues.id', 'issues.project_id'])
    .where('issues.due_date', '=', day)
    .where('issues.state', '=', 'opened')
    .where('projects.archived', '=', false)
    .where('projects.deleting', '=', false)
    .where('issues.id', '>', after)
    .orderBy('issues.id')
    .limit(limit)
    .execute();
