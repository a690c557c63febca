/** Writes rules of protected branches and tags, and their grants. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db } from '../../../platform/db/database.ts';
import type { Allowed } from './protection-rules.ts';

/** A grant: a level, a user, a group or a deploy key, one of the four. */
export type Grant = Partial<Allowed>;

export type GrantAction = 'push' | 'merge' | 'unprotect' | 'create';

/** The rule of the grants. */
export type ProtectedRef = { protected_branch_id: number } | { protected_tag_id: number };

/** Grants by action; those of absent actions stay. */
export type Grants = Partial<Record<GrantAction, readonly Grant[]>>;

export type BranchProtectionDraft = {
  push: readonly Grant[];
  merge: readonly Grant[];
  unprotect?: readonly Grant[] | undefined;
  allowForcePush: boolean;
};

/** Adds grants. An empty list writes nothing; an action without any grant is forbidden to all. */
export async function addGrants(tx: Db, ref: ProtectedRef, grants: Grants): Promise<void> {
  const created_at = now();
  const rows = Object.entries(grants).flatMap(([action, entries]) =>
    entries.map(({ access_level = null, user_id = null, group_id = null, deploy_key_id = null }) => {
      return { ...ref, action, access_level, user_id, group_id, deploy_key_id, created_at };
    }),
  );
  if (rows.length > 0) await ahead(tx).insertInto('protected_ref_access').values(rows).execute();
}

/** Protects the branch, or every branch that a name with `*` matches; undefined when the rule exists. */
export async function createBranchProtection(
  tx: Db,
  projectId: number,
  name: string,
  { push, merge, unprotect = [], allowForcePush }: BranchProtectionDraft,
): Promise<number | undefined> {
  const time = now();
  const row = await tx
    .insertInto('protected_branches')
    .values({
      project_id: projectId,
      name,
      allow_force_push: allowForcePush,
      created_at: time,
      updated_at: time,
    })
    .onConflict((conflict) => conflict.columns(['project_id', 'name']).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (row) await addGrants(tx, { protected_branch_id: row.id }, { push, merge, unprotect });
  return row?.id;
}

/** Protects the branch; an existing rule of that name gets these grants instead. Returns whether the rule is new. */
export async function upsertBranchProtection(
  tx: Db,
  projectId: number,
  name: string,
  draft: BranchProtectionDraft,
): Promise<boolean> {
  const { push, merge, unprotect, allowForcePush } = draft;
  const time = now();
  // One statement, which also recreates a rule that was deleted meanwhile.
  const { id, isNew } = await tx
    .insertInto('protected_branches')
    .values({
      project_id: projectId,
      name,
      allow_force_push: allowForcePush,
      created_at: time,
      updated_at: time,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'name'])
        .doUpdateSet({ allow_force_push: allowForcePush, updated_at: time }),
    )
    .returning(['id', sql<boolean>`xmax = 0`.as('isNew')])
    .executeTakeFirstOrThrow();
  const grants = { push, merge, ...(unprotect && { unprotect }) };
  await ahead(tx)
    .deleteFrom('protected_ref_access')
    .where('protected_branch_id', '=', id)
    .where('action', 'in', Object.keys(grants))
    .execute();
  await addGrants(tx, { protected_branch_id: id }, grants);
  return isNew;
}

/** Deletes the rule with exactly this name; false when there is none. */
export async function removeBranchProtection(tx: Db, projectId: number, name: string): Promise<boolean> {
  const gone = await tx
    .deleteFrom('protected_branches')
    .where('project_id', '=', projectId)
    .where('name', '=', name)
    .executeTakeFirst();
  return gone.numDeletedRows > 0n;
}
