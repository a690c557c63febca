/** Reads the approvals that a change of them left, for those who are told of it. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import { idArray, readTagged } from '../../../platform/db/tagged-rows.ts';
import type { InstanceLocks } from '../approval-settings/rules.ts';
import type { ApprovalChange } from '../approvals/approval-changes.ts';
import { type ApprovalRows, type LoadedApprovals, loadedApprovals } from '../approvals/loaded.ts';
import { approvalCtes, approvalSelects } from '../approvals/queries.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';

/** Those that it has now, with the rules that those whose approvals were taken are approvers of. */
export async function selectApprovalsSince(
  db: Db,
  instance: InstanceLocks,
  row: MergeRequestRow,
  change: ApprovalChange,
): Promise<LoadedApprovals> {
  const taken = 'taken' in change ? change.taken : [];
  const readers = sql`select unnest(${[...taken]}::bigint[]) as user_id`;
  const of = await readTagged<ApprovalRows>(
    db,
    approvalSelects(),
    approvalCtes(idArray([row.id]), { readers }),
  );
  return loadedApprovals(of, instance)(row);
}
