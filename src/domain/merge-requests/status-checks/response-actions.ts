/** Writes the responses of external status checks, and that one is asked for. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { announcementParts } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { runAsOne } from '../../../platform/db/run-as-one.ts';
import { conflict, Failure } from '../../../platform/failure.ts';
import { addJobs, type NewJob } from '../../../platform/jobs/jobs.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { mergeRequestAnnouncement } from '../writing/announcements.ts';
import { RESPONSE_TIMEOUT_MS, type ResponseStatus } from './rules.ts';

/** Records what a service says of the newest commit, and returns the id of its response; 409 for another commit. */
export async function writeResponse(
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  row: MergeRequestRow,
  { checkId, sha, status }: { checkId: number; sha: string; status: ResponseStatus },
): Promise<number> {
  const another = () => conflict(`SHA does not match HEAD of source branch: ${row.head_sha}`);
  if (sha !== row.head_sha) throw another();
  const columns = { sha, status, updated_at: now() };
  const write = db
    .insertInto('status_check_responses')
    .values({ ...columns, merge_request_id: row.id, check_id: checkId })
    .onConflict((on) =>
      on
        .columns(['merge_request_id', 'check_id'])
        .doUpdateSet(columns)
        // After a push at this moment, what is awaited for the new commit stays.
        .where(
          sql<boolean>`exists (select from merge_requests m where m.id = status_check_responses.merge_request_id and m.head_sha = ${sha})`,
        ),
    )
    .returning('id');
  const passed = mergeRequestAnnouncement(actor, project, row, 'merge_request_status_check_passed');
  const parts = status === 'passed' ? announcementParts([passed]) : [];
  const [written] = await runAsOne(db, { statements: [], parts }, write);
  if (!written) throw another();
  return written.id;
}

/** A response of these checks for the newest commit is awaited from now on, where it is another commit than before. */
export async function awaitResponses(
  db: Db,
  { id, head_sha }: Pick<MergeRequestRow, 'id' | 'head_sha'>,
  checkIds: readonly number[],
): Promise<void> {
  await sql`
    insert into status_check_responses as r (merge_request_id, check_id, sha, status, updated_at)
      select ${id}, c.id, ${head_sha}, 'pending', ${now()} from external_status_checks c
      where c.id = any(${[...checkIds]}::bigint[])
      on conflict (merge_request_id, check_id) do update
        set sha = excluded.sha, status = excluded.status, updated_at = excluded.updated_at
        where r.sha <> excluded.sha`.execute(db);
}

/** Awaits the response of a failed check anew, with the job that asks for it; 422 for one that has not failed. */
export const retryCheck = (
  db: Db,
  { id, head_sha }: Pick<MergeRequestRow, 'id' | 'head_sha'>,
  checkId: number,
  job: NewJob,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const time = now();
    const late = new Date(time.getTime() - RESPONSE_TIMEOUT_MS);
    const { rows } = await sql`
      insert into status_check_responses as r (merge_request_id, check_id, sha, status, updated_at)
        values (${id}, ${checkId}, ${head_sha}, 'pending', ${time})
        on conflict (merge_request_id, check_id) do update
          set sha = excluded.sha, status = excluded.status, updated_at = excluded.updated_at
          where r.sha <> excluded.sha or r.status = 'failed' or (r.status = 'pending' and r.updated_at <= ${late})
        returning r.id`.execute(tx);
    if (rows.length === 0) throw new Failure('unprocessable', 'External status check must be failed');
    await addJobs(tx, [job]);
  });
