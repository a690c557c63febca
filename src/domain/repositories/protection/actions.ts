/** Protects branches and tags, and changes and ends their protection. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import type { Json } from '../../../platform/db/rows.ts';
import { conflict, Failure, forbidden, invalid } from '../../../platform/failure.ts';
import { addGrants, createBranchProtection, type Grant, removeBranchProtection } from './branch-actions.ts';
import { isAllowed } from './protection-rules.ts';
import { lockBranch, selectGrants, selectOwnGroups, selectReaching, type TagRow } from './queries.ts';
import { BadGrant, changeGrants, type GrantChanges, newGrants } from './rules.ts';
import type { ChangeBranch, GrantInput, ProtectBranch, ProtectTag } from './schema.ts';

const unprocessable = (text: string): Failure => new Failure('unprocessable', text);

/** Reads a request's entries; 400 under the property's name for an invalid one. */
function read<T>(property: string, reading: () => T): T {
  try {
    return reading();
  } catch (error) {
    if (error instanceof BadGrant) throw invalid({ [property]: [error.message] });
    throw error;
  }
}

const idsOf = (grants: readonly Grant[], kind: 'user_id' | 'group_id' | 'deploy_key_id'): number[] =>
  grants.flatMap((grant) => grant[kind] ?? []);

/** An entry gives no access: it names only users, groups and keys that the project lets in already. */
async function refuseStrangers(tx: Db, projectId: number, grants: readonly Grant[]): Promise<void> {
  const requested = {
    users: idsOf(grants, 'user_id'),
    groups: idsOf(grants, 'group_id'),
    keys: idsOf(grants, 'deploy_key_id'),
  };
  if (requested.users.length + requested.groups.length + requested.keys.length === 0) return;
  const reaching = await selectReaching(tx, projectId, requested);
  const knows = (kind: string, ids: readonly number[]) => ids.every((id) => reaching.has(`${kind} ${id}`));
  if (!knows('user_id', requested.users) || !knows('group_id', requested.groups))
    throw unprocessable('Cannot add users or groups unless they have access to the project');
  if (!knows('deploy_key_id', requested.keys))
    throw unprocessable('Deploy key is not enabled for this project');
}

const audit = (
  tx: Db,
  actor: Actor,
  project: AuthorizedProject,
  event: string,
  target: { id: number; type: string; name: string },
  details: Record<string, Json> = {},
) =>
  announce(tx, {
    author: actor,
    audit: {
      entity: { type: 'Project', id: project.id, path: project.fullPath },
      event,
      details: { ...details, target_id: target.id, target_type: target.type, target_details: target.name },
    },
  });

const branchTarget = (id: number, name: string) => ({ id, type: 'ProtectedBranch', name });
const tagTarget = (id: number, name: string) => ({ id, type: 'ProtectedTag', name });

/**
 * Protects a branch, or all that match a pattern; 409 where the name has a rule, 422 for a user without
 * access to the project.
 */
export async function protectBranch(
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  input: ProtectBranch,
  premium: boolean,
): Promise<void> {
  const grants = (property: string, level: number | undefined, allowed: GrantInput[] | undefined) =>
    read(property, () => newGrants({ level, allowed }, premium));
  const push = grants('allowed_to_push', input.push_access_level, input.allowed_to_push);
  const merge = grants('allowed_to_merge', input.merge_access_level, input.allowed_to_merge);
  const unprotect = premium
    ? grants('allowed_to_unprotect', input.unprotect_access_level, input.allowed_to_unprotect)
    : [];
  await inTransaction(db, async (tx) => {
    await refuseStrangers(tx, project.id, [...push, ...merge, ...unprotect]);
    const allowForcePush = input.allow_force_push ?? false;
    const draft = { push, merge, unprotect, allowForcePush };
    const id = await createBranchProtection(tx, project.id, input.name, draft);
    if (id === undefined) throw conflict(`Protected branch '${input.name}' already exists`);
    if (premium && input.code_owner_approval_required)
      await ahead(tx)
        .updateTable('protected_branches')
        .set({ code_owner_approval_required: true })
        .where('id', '=', id)
        .execute();
    await audit(tx, actor, project, 'protected_branch_created', branchTarget(id, input.name));
  });
}

/** 403 for users whom the rule itself does not let change it, where it names any. */
async function refuseUnprotect(tx: Db, actor: Actor, project: AuthorizedProject, id: number) {
  const grants = await selectGrants(tx, id);
  const unprotect = grants.filter(({ action }) => action === 'unprotect');
  if (unprotect.length === 0 || actor.admin) return grants;
  const named = unprotect.flatMap(({ group_id }) => group_id ?? []);
  const groups = await selectOwnGroups(tx, actor, named);
  if (!isAllowed(unprotect, { id: actor.id, role: project.role, admin: actor.admin, groups }))
    throw forbidden();
  return grants;
}

async function writeChanges(tx: Db, id: number, action: 'push' | 'merge' | 'unprotect', plan: GrantChanges) {
  if (plan.remove.length > 0)
    await ahead(tx).deleteFrom('protected_ref_access').where('id', 'in', plan.remove).execute();
  for (const change of plan.change)
    await ahead(tx)
      .updateTable('protected_ref_access')
      .set({ access_level: null, user_id: null, group_id: null, deploy_key_id: null, ...change.grant })
      .where('id', '=', change.id)
      .execute();
  await addGrants(tx, { protected_branch_id: id }, { [action]: plan.add });
}

/** Changes the properties of a branch's protection that the request names. */
export async function changeBranch(
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  input: ChangeBranch,
  premium: boolean,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const row = found(await lockBranch(tx, project.id, input.name));
    const stored = premium
      ? await refuseUnprotect(tx, actor, project, row.id)
      : await selectGrants(tx, row.id);
    const plan = (action: 'push' | 'merge' | 'unprotect', requested: readonly GrantInput[] = []) => ({
      action,
      plan: read(`allowed_to_${action}`, () =>
        changeGrants(
          stored.filter((grant) => grant.action === action),
          requested,
          premium,
        ),
      ),
    });
    const level = input.unprotect_access_level;
    /** The level replaces the present ones. */
    const levels: GrantInput[] =
      level === undefined
        ? []
        : [
            ...stored
              .filter((grant) => grant.action === 'unprotect' && grant.access_level !== null)
              .map(({ id }) => ({ id, _destroy: true })),
            { access_level: level },
          ];
    const plans = [
      plan('push', input.allowed_to_push),
      plan('merge', input.allowed_to_merge),
      ...(premium ? [plan('unprotect', [...levels, ...(input.allowed_to_unprotect ?? [])])] : []),
    ];
    await refuseStrangers(
      tx,
      project.id,
      plans.flatMap((each) => [...each.plan.add, ...each.plan.change.map(({ grant }) => grant)]),
    );
    for (const each of plans) await writeChanges(tx, row.id, each.action, each.plan);
    const { allow_force_push } = input;
    const code_owner_approval_required = premium ? input.code_owner_approval_required : undefined;
    await ahead(tx)
      .updateTable('protected_branches')
      .set({
        ...(allow_force_push !== undefined && { allow_force_push }),
        ...(code_owner_approval_required !== undefined && { code_owner_approval_required }),
        updated_at: now(),
      })
      .where('id', '=', row.id)
      .execute();
    await audit(tx, actor, project, 'protected_branch_updated', branchTarget(row.id, row.name));
  });
}

/** Ends the protection with exactly this name; 404 without one. */
export const unprotectBranch = (
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  name: string,
  unmodified: (updatedAt: Date) => void,
  premium: boolean,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const row = found(await lockBranch(tx, project.id, name));
    unmodified(row.updated_at);
    if (premium) await refuseUnprotect(tx, actor, project, row.id);
    await removeBranchProtection(tx, project.id, name);
    await audit(tx, actor, project, 'protected_branch_removed', branchTarget(row.id, name));
  });

/** Protects a tag, or all that match a pattern; 422 where the name has a rule. */
export async function protectTag(
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  input: ProtectTag,
  premium: boolean,
): Promise<void> {
  const given = { level: input.create_access_level, allowed: input.allowed_to_create };
  const create = read('allowed_to_create', () => newGrants(given, premium));
  await inTransaction(db, async (tx) => {
    await refuseStrangers(tx, project.id, create);
    const time = now();
    const row = await tx
      .insertInto('protected_tags')
      .values({ project_id: project.id, name: input.name, created_at: time, updated_at: time })
      .onConflict((taken) => taken.columns(['project_id', 'name']).doNothing())
      .returning('id')
      .executeTakeFirst();
    if (!row) throw unprocessable('Name has already been taken');
    await addGrants(tx, { protected_tag_id: row.id }, { create });
    await audit(tx, actor, project, 'protected_tag_created', tagTarget(row.id, input.name));
  });
}

/** Ends the protection of a tag that was read for the caller. */
export const unprotectTag = (
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  { id, name }: TagRow,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const gone = await tx.deleteFrom('protected_tags').where('id', '=', id).executeTakeFirst();
    if (gone.numDeletedRows > 0n)
      await audit(tx, actor, project, 'protected_tag_removed', tagTarget(id, name));
  });
