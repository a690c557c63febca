/** The rule of any approver, whose count is also the project's setting `approvals_before_merge`: each follows the other. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db } from '../../../platform/db/database.ts';
import type { SettingFollowUp } from '../../namespaces/index.ts';

const NAME = 'All Members';

/** Sets the count of the project's rule of any approver, and makes one where there is none; the project's row is locked. */
async function setAnyApprover(tx: Db, projectId: number, count: number): Promise<void> {
  const time = now();
  await sql`
    with kept as (
      update approval_rules set approvals_required = ${count}, updated_at = ${time}
      where project_id = ${projectId} and rule_type = 'any_approver' returning id)
    insert into approval_rules (project_id, name, rule_type, approvals_required, created_at, updated_at)
    select ${projectId}, ${NAME}, 'any_approver', ${count}, ${time}, ${time}
    where ${count}::integer > 0 and not exists (select from kept)`.execute(ahead(tx));
}

/** Writes the count into the project's settings, where it is another. */
export async function keepApprovalsBeforeMerge(tx: Db, projectId: number, count: number): Promise<void> {
  await sql`
    update projects set settings = settings || jsonb_build_object('approvals_before_merge', ${count}::integer)
    where id = ${projectId} and coalesce((settings ->> 'approvals_before_merge')::integer, 0) <> ${count}`.execute(
    ahead(tx),
  );
}

/** Sets both; the project's row is locked. */
export async function setApprovalsBeforeMerge(tx: Db, projectId: number, count: number): Promise<void> {
  await setAnyApprover(tx, projectId, count);
  await keepApprovalsBeforeMerge(tx, projectId, count);
}

/** When a project's setting changes. */
export const followApprovalsBeforeMerge: SettingFollowUp = async (tx, projectId, changes) => {
  if (changes.approvals_before_merge !== undefined)
    await setAnyApprover(tx, projectId, changes.approvals_before_merge);
};
