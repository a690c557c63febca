/** Protects environments, and changes and ends their protection. */
import {
  auditedParent,
  parentColumns,
  type ResourceParent,
} from '../../../kernel/access/resource-parents.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { conflict, Failure } from '../../../platform/failure.ts';
import { areKnown, type ProtectedRow, selectOne } from './queries.ts';
import {
  type Access,
  type AccessChanges,
  type AccessInput,
  BadAccess,
  changesOf,
  ruleChangesOf,
  type StoredAccess,
} from './rules.ts';
import type { ChangeInput } from './schema.ts';

type Context = { services: Needs<'database'>; actor: Actor; subject: ResourceParent };

type ApprovalInput = Pick<ChangeInput, 'required_approval_count' | 'approval_rules'>;

const audit = (
  tx: Db,
  { actor, subject }: Context,
  event: 'created' | 'updated' | 'removed',
  { id, name }: { id: number; name: string },
) =>
  announce(tx, {
    author: actor,
    audit: {
      entity: auditedParent(subject),
      event: `protected_environment_${event}`,
      details: { target_id: id, target_type: 'ProtectedEnvironment', target_details: name },
    },
  });

/** 422 for entries that cannot be, or name who has no access. */
async function plan(
  tx: Db,
  subject: ResourceParent,
  field: 'deploy_access_levels' | 'approval_rules',
  stored: readonly StoredAccess[],
  requested: readonly AccessInput[],
): Promise<AccessChanges> {
  try {
    const changes = (field === 'approval_rules' ? ruleChangesOf : changesOf)(stored, requested);
    const all = [...changes.add, ...changes.change];
    const users = all.flatMap(({ user_id }) => user_id ?? []);
    const groups = all.flatMap(({ group_id }) => group_id ?? []);
    if (!(await areKnown(tx, subject, users, groups)))
      throw new Failure('unprocessable', 'Cannot add users or groups unless they have access to the project');
    return changes;
  } catch (error) {
    if (error instanceof BadAccess) throw new Failure('unprocessable', { [field]: [error.message] });
    throw error;
  }
}

const columnsOf = (access: Access): Access => {
  const { access_level, user_id, group_id, group_inheritance_type, required_approvals } = access;
  return { access_level, user_id, group_id, group_inheritance_type, required_approvals };
};

async function write(tx: Db, id: number, { remove, change, add }: AccessChanges): Promise<void> {
  if (remove.length > 0)
    await ahead(tx).deleteFrom('protected_environment_access').where('id', 'in', remove).execute();
  for (const { id: entry, ...access } of change)
    await ahead(tx)
      .updateTable('protected_environment_access')
      .set(columnsOf(access))
      .where('id', '=', entry)
      .execute();
  if (add.length > 0)
    await ahead(tx)
      .insertInto('protected_environment_access')
      .values(add.map((access) => ({ ...columnsOf(access), protected_environment_id: id })))
      .execute();
}

/** Protects an environment, or a tier; 409 where it is protected, 422 for entries that cannot be. */
export async function protect(
  context: Context,
  {
    name,
    deploy_access_levels,
    required_approval_count = 0,
    approval_rules = [],
  }: ApprovalInput & {
    name: string;
    deploy_access_levels: readonly AccessInput[];
  },
): Promise<ProtectedRow> {
  const { services, subject } = context;
  return inTransaction(services.database.db, async (tx) => {
    const changes = await plan(tx, subject, 'deploy_access_levels', [], deploy_access_levels);
    const rules = await plan(tx, subject, 'approval_rules', [], approval_rules);
    const time = now();
    const row = await tx
      .insertInto('protected_environments')
      .values({
        ...parentColumns(subject),
        name,
        required_approval_count,
        created_at: time,
        updated_at: time,
      })
      .onConflict((taken) => taken.doNothing())
      .returning(['id', 'name'])
      .executeTakeFirst();
    if (!row) throw conflict(`Protected environment '${name}' already exists`);
    await write(tx, row.id, changes);
    await write(tx, row.id, rules);
    await audit(tx, context, 'created', row);
    return found(await selectOne(tx, subject, name));
  });
}

const lock = async (tx: Db, subject: ResourceParent, name: string): Promise<ProtectedRow> => {
  const { id } = found(await selectOne(tx, subject, name));
  await tx.selectFrom('protected_environments').select('id').where('id', '=', id).forUpdate().execute();
  // As it is under the lock.
  return found(await selectOne(tx, subject, name));
};

/** Changes who may deploy and who must approve; 404 without the protection, 422 for entries that cannot be. */
export async function changeProtection(
  context: Context,
  { name, deploy_access_levels = [], approval_rules = [], required_approval_count }: ChangeInput,
): Promise<ProtectedRow> {
  const { services, subject } = context;
  return inTransaction(services.database.db, async (tx) => {
    const row = await lock(tx, subject, name);
    const changes = await plan(tx, subject, 'deploy_access_levels', row.entries, deploy_access_levels);
    const rules = await plan(tx, subject, 'approval_rules', row.rules, approval_rules);
    await write(tx, row.id, changes);
    await write(tx, row.id, rules);
    await ahead(tx)
      .updateTable('protected_environments')
      .set({ updated_at: now(), ...(required_approval_count !== undefined && { required_approval_count }) })
      .where('id', '=', row.id)
      .execute();
    await audit(tx, context, 'updated', row);
    return found(await selectOne(tx, subject, name));
  });
}

/** Ends the protection; 404 without it. */
export const unprotect = (
  context: Context,
  name: string,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(context.services.database.db, async (tx) => {
    const row = await lock(tx, context.subject, name);
    unmodified(row.updated_at);
    await ahead(tx).deleteFrom('protected_environments').where('id', '=', row.id).execute();
    await audit(tx, context, 'removed', row);
  });
