/** Creates, changes and deletes feature flags, each in one transaction with its audit event. */
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import { announce } from '../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../kernel/actor.ts';
import { found } from '../../kernel/api/endpoint.ts';
import { now } from '../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../platform/db/database.ts';
import type { Json } from '../../platform/db/rows.ts';
import { invalid } from '../../platform/failure.ts';
import { readStrategies } from './present.ts';
import { type FeatureFlagRow, lockFeatureFlag, reserveIds } from './queries.ts';
import { changeStrategies, checkName, countNewParts, messagesOf, type StoredStrategy } from './rules.ts';
import type { CreateInput, StrategyInput, UpdateInput } from './schema.ts';
import { keepLists } from './user-lists/queries.ts';

/** The strategies after the change; 400 for invalid ones, or an invalid name. */
async function decideStrategies(
  tx: Db,
  project: AuthorizedProject,
  current: readonly StoredStrategy[],
  inputs: readonly StrategyInput[],
  nameProblems: string[],
): Promise<StoredStrategy[]> {
  const ids = await reserveIds(tx, countNewParts(inputs));
  const { strategies, problems } = changeStrategies(current, inputs, () => ids.shift() ?? 0);
  const named = strategies.flatMap(({ user_list_id: list }) => (list === undefined ? [] : [list]));
  const kept = await keepLists(tx, project, named);
  if (named.some((list) => !kept.has(list))) problems.push('user list must belong to the same project');
  const messages = messagesOf({ name: nameProblems, strategies: problems });
  if (Object.keys(messages).length > 0) throw invalid(messages);
  return strategies;
}

const auditOf = (project: AuthorizedProject, flag: FeatureFlagRow, event: string, details = {}) => ({
  entity: { type: 'Project' as const, id: project.id, path: project.fullPath },
  event,
  details: {
    target_id: flag.id,
    target_type: 'Operations::FeatureFlag',
    target_details: flag.name,
    ...details,
  },
});

/** Creates a flag; 400 for invalid input, such as a taken name. */
export const createFeatureFlag = (
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  input: CreateInput,
): Promise<FeatureFlagRow> =>
  inTransaction(db, async (tx) => {
    const strategies = await decideStrategies(tx, project, [], input.strategies ?? [], checkName(input.name));
    const created_at = now();
    const flag = await tx
      .insertInto('project_feature_flags')
      .values({
        project_id: project.id,
        name: input.name,
        description: input.description ?? null,
        active: input.active ?? true,
        strategies: asJson(strategies),
        created_at,
        updated_at: created_at,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await announce(tx, { author: actor, audit: auditOf(project, flag, 'feature_flag_created') });
    return flag;
  });

/** Changes a flag; omitted properties stay. */
export const updateFeatureFlag = (
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  input: UpdateInput,
): Promise<FeatureFlagRow> =>
  inTransaction(db, async (tx) => {
    const before = found(await lockFeatureFlag(tx, project, input.feature_flag_name));
    const { name = before.name, description = before.description, active = before.active } = input;
    const strategies = await decideStrategies(
      tx,
      project,
      readStrategies(before),
      input.strategies ?? [],
      name === before.name ? [] : checkName(name),
    );
    const flag = await tx
      .updateTable('project_feature_flags')
      .set({ name, description, active, strategies: asJson(strategies), updated_at: now() })
      .where('id', '=', before.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    const details = { from: summaryOf(before), to: summaryOf(flag) };
    const payload = {
      project_id: project.id,
      user_id: actor.id,
      feature_flag_id: flag.id,
      active: flag.active,
    };
    await announce(tx, {
      author: actor,
      audit: auditOf(project, flag, 'feature_flag_updated', details),
      ...(flag.active !== before.active && { fact: { name: 'feature_flag_switched', payload } }),
    });
    return flag;
  });

/** Deletes the flag; `check` sees the locked flag first. */
export const deleteFeatureFlag = (
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  name: string,
  check: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const flag = found(await lockFeatureFlag(tx, project, name));
    check(flag.updated_at);
    await ahead(tx).deleteFrom('project_feature_flags').where('id', '=', flag.id).execute();
    await announce(tx, { author: actor, audit: auditOf(project, flag, 'feature_flag_deleted') });
  });

const asJson = (strategies: readonly StoredStrategy[]): Json =>
  strategies.map((strategy) => ({ ...strategy }));

/** The flag in audit events. */
const summaryOf = ({ name, description, active, strategies }: FeatureFlagRow): Json => ({
  name,
  description,
  active,
  strategies,
});

/** Makes the token of the project's programs another one; the number of it. */
export const resetClientToken = (db: Db, actor: Actor, project: AuthorizedProject): Promise<number> =>
  inTransaction(db, async (tx) => {
    const { generation } = await tx
      .insertInto('feature_flag_clients')
      .values({ project_id: project.id, generation: 1, updated_at: now() })
      .onConflict((conflict) =>
        conflict.column('project_id').doUpdateSet({
          generation: (eb) => eb('feature_flag_clients.generation', '+', 1),
          updated_at: now(),
        }),
      )
      .returning('generation')
      .executeTakeFirstOrThrow();
    await announce(tx, {
      author: actor,
      audit: {
        entity: { type: 'Project', id: project.id, path: project.fullPath },
        event: 'feature_flag_client_token_reset',
        details: {
          target_id: project.id,
          target_type: 'Operations::FeatureFlagsClient',
          target_details: project.fullPath,
        },
      },
    });
    return generation;
  });
