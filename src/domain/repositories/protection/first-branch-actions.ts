/** Protects the first branch of a project as its settings say. */

import { sql } from 'kysely';
import type { BranchProtection } from '../../../kernel/policy/branch-protection.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db } from '../../../platform/db/database.ts';
import { firstProtection, type ProtectionSettings } from './guard-queries.ts';

/** Protects a project's first branch as its group or the instance says; adds no rule for no protection. */
export async function protectFirstBranch(
  tx: Db,
  projectId: number,
  branch: string,
  settings: ProtectionSettings,
): Promise<void> {
  const protection = await firstProtection(tx, projectId, settings);
  const open = (entries: BranchProtection['allowed_to_push']) =>
    entries.some((each) => each.access_level === 30);
  if (open(protection.allowed_to_push) && open(protection.allowed_to_merge) && protection.allow_force_push)
    return;
  const time = now();
  const made = tx
    .insertInto('protected_branches')
    .values({
      project_id: projectId,
      name: branch,
      allow_force_push: protection.allow_force_push,
      created_at: time,
      updated_at: time,
    })
    .onConflict((conflict) => conflict.columns(['project_id', 'name']).doNothing())
    .returning('id');
  const access = (action: string, entries: BranchProtection['allowed_to_push']) =>
    (entries.length === 0 ? [{ access_level: 0 }] : entries).map(
      ({ access_level }) => sql`(${action}::text, ${access_level}::integer)`,
    );
  const grants = [
    ...access('push', protection.allowed_to_push),
    ...access('merge', protection.allowed_to_merge),
  ];
  await sql`
    with made as (${made})
    insert into protected_ref_access (protected_branch_id, action, access_level, created_at)
    select made.id, g.action, g.access_level, ${time} from made, (values ${sql.join(grants)}) g(action, access_level)`.execute(
    ahead(tx),
  );
}
