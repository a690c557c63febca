/** What follows pushes: versions and judgements of open merge requests. */
import { type RawBuilder, sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { runAsOne } from '../../../platform/db/run-as-one.ts';
import { addJobs, type NewJob } from '../../../platform/jobs/jobs.ts';
import { replaceOwnerRules } from '../code-owners/owner-rule-actions.ts';
import type { JudgedOwners } from '../code-owners/owner-rules.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import type { Judgement } from '../versions/judge.ts';
import type { Heads } from '../versions/read-version.ts';
import { type LostApprovals, rememberApprovers, removeApprovals } from './approval-actions.ts';
import { closingStatements, type FindClosing } from './closing-actions.ts';
import { jobsForJudged } from './following-jobs.ts';
import { type OpenedVersion, versionStatements } from './version-actions.ts';

/** What follows the judgement of the row as it was found. */
const jobsForJudgement = (row: MergeRequestRow, { mergeStatus }: Judgement): NewJob[] =>
  jobsForJudged(row.merge_status, { ...row, merge_status: mergeStatus });

/**
 * Writes the judgement of these heads, with the job that tells of a new conflict, unless the merge request has another version by
 * now, or other code owners where these are to be as they were; the row then.
 */
export async function writeJudgement(
  db: Db,
  row: MergeRequestRow,
  heads: Heads,
  judgement: Judgement,
  owners: JudgedOwners,
): Promise<MergeRequestRow | undefined> {
  const jobs = jobsForJudgement(row, judgement);
  if (owners.rules === undefined && jobs.length === 0)
    return updateJudgement(db, row, heads, judgement, owners);
  return inTransaction(db, async (tx) => {
    const judged = await updateJudgement(tx, row, heads, judgement, owners);
    if (!judged) return undefined;
    if (owners.rules !== undefined)
      await runAsOne(tx, { statements: replaceOwnerRules(row.id, owners.rules) });
    await addJobs(tx, jobs);
    return judged;
  });
}

const updateJudgement = (
  db: Db,
  { id, head_sha, code_owners_sha }: Pick<MergeRequestRow, 'id' | 'head_sha' | 'code_owners_sha'>,
  heads: Heads,
  judgement: Judgement,
  { sha, rules }: JudgedOwners,
): Promise<MergeRequestRow | undefined> =>
  db
    .updateTable('merge_requests')
    .set({
      merge_status: judgement.mergeStatus,
      is_behind: judgement.isBehind,
      judged_source_sha: heads.source,
      judged_target_sha: heads.target,
      code_owners_sha: sha,
    })
    .where('id', '=', id)
    .where('head_sha', '=', head_sha)
    .where('state', '=', 'opened')
    .$if(rules === undefined, (update) => update.where('code_owners_sha', '=', code_owners_sha))
    .returningAll()
    .executeTakeFirst();

/** A judgement of a merge request whose code owners are as they were. */
export type Judged = { row: MergeRequestRow; judgement: Judgement };

/** Rows are locked in the order of their ids, which avoids deadlocks. */
const lockedInOrder = (which: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`select id from merge_requests where ${which} order by id for no key update`;

/** The same of many that go into a branch of this head, by one statement. */
export async function writeJudgements(
  db: Db,
  judged: readonly Judged[],
  target: string,
  ownersSha: string,
): Promise<void> {
  const jobs = judged.flatMap(({ row, judgement }) => jobsForJudgement(row, judgement));
  if (jobs.length === 0) return updateJudgements(db, judged, target, ownersSha);
  return inTransaction(db, async (tx) => {
    await updateJudgements(tx, judged, target, ownersSha);
    await addJobs(tx, jobs);
  });
}

async function updateJudgements(
  db: Db,
  judged: readonly Judged[],
  target: string,
  ownersSha: string,
): Promise<void> {
  if (judged.length === 0) return;
  const ids = judged.map(({ row }) => row.id);
  await sql`
    update merge_requests m set merge_status = g.merge_status, is_behind = g.is_behind, judged_source_sha = g.source,
      judged_target_sha = ${target}
    from (${lockedInOrder(sql`id = any(${ids}::bigint[])`)}) k
    join unnest(${ids}::bigint[], ${judged.map(({ row }) => row.head_sha ?? '')}::text[],
      ${judged.map(({ judgement }) => judgement.mergeStatus)}::text[],
      ${judged.map(({ judgement }) => judgement.isBehind)}::boolean[])
      g(id, source, merge_status, is_behind) on g.id = k.id
    where m.id = k.id and m.head_sha = g.source and m.state = 'opened' and m.code_owners_sha = ${ownersSha}`.execute(
    db,
  );
}

/** One of its branches is gone: nothing is merged until it is judged again; the row then. */
export const writeUnmergeable = (
  db: Db,
  { id, head_sha }: Pick<MergeRequestRow, 'id' | 'head_sha'>,
): Promise<MergeRequestRow | undefined> =>
  db
    .updateTable('merge_requests')
    .set({ merge_status: 'cannot_be_merged', judged_source_sha: null })
    .where('id', '=', id)
    .where('head_sha', '=', head_sha)
    .where('state', '=', 'opened')
    .returningAll()
    .executeTakeFirst();

/** Writes a version of an open merge request, which loses these approvals by it, unless it has another one by now; the row then. */
export async function writeFollowedVersion(
  tx: Db,
  { id, head_sha }: Pick<MergeRequestRow, 'id' | 'head_sha'>,
  opened: OpenedVersion,
  findClosing: FindClosing,
  lost: LostApprovals,
): Promise<MergeRequestRow | undefined> {
  const locked = await tx
    .selectFrom('merge_requests')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (locked?.state !== 'opened' || locked.head_sha !== head_sha) return undefined;
  const { columns, statements } = versionStatements(tx, id, opened);
  // Why a rebase failed is no longer so when the source is another one.
  const isPushed = head_sha !== opened.version.head;
  const changed = { ...columns, ...(isPushed && { merge_error: null }), updated_at: now() };
  const change = tx
    .updateTable('merge_requests')
    .set({ ...changed, ...rememberApprovers(id, lost) })
    .where('id', '=', id);
  const closing = closingStatements(tx, id, await findClosing(tx, locked));
  await runAsOne(tx, { statements: [change, ...statements, ...closing, ...removeApprovals(tx, id, lost)] });
  const followed = { ...locked, ...changed };
  await addJobs(tx, jobsForJudged(locked.merge_status, followed));
  return followed;
}

/** Open merge requests into the branch that were not judged for this head of it, or had no branch, are to be; it stays known which were in conflict. */
export const forgetJudgements = (
  db: Db,
  projectId: number,
  { branch, after }: { branch: string; after: string },
): Promise<unknown> =>
  db
    .updateTable('merge_requests')
    .set({
      merge_status: sql`case merge_status when 'cannot_be_merged' then 'cannot_be_merged_recheck' else 'unchecked' end`,
    })
    .where(
      sql<boolean>`id in (${lockedInOrder(sql`project_id = ${projectId} and target_branch = ${branch} and state = 'opened'
        and merge_status in ('can_be_merged', 'cannot_be_merged')
        and (judged_target_sha is distinct from ${after} or judged_source_sha is null)`)})`,
    )
    .execute();
