/** Makes CI variables, changes and deletes them. */

import {
  auditedParent,
  isInstance,
  isProject,
  type ParentKind,
  type ParentOrInstance,
  parentColumns,
  parentKind,
} from '../../../kernel/access/resource-parents.ts';
import { announceAll } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { defaultPlanLimits } from '../../../kernel/instance/plan-limits.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import type { Json } from '../../../platform/db/rows.ts';
import { conflict, invalid, type ValidationMessages } from '../../../platform/failure.ts';
import { seal } from '../../../platform/secret.ts';
import { variableOf } from './present.ts';
import { countVariables, lockNamed, lockVariables, type VariableName, type VariableRow } from './queries.ts';
import {
  changedVariable,
  differences,
  newVariable,
  placeProblems,
  problemsOf,
  type Variable,
  type VariableChanges,
  type VariableInput,
  visibilityProblems,
} from './rules.ts';

export type VariableContext = {
  services: Needs<'database' | 'instance' | 'secretKey' | 'config'>;
  actor: Actor;
  subject: ParentOrInstance;
};

/** As 404s name them, and the audit trail. */
const nouns: Record<ParentKind, { missing: string; type: string; event: string }> = {
  project: { missing: 'Variable', type: 'Ci::Variable', event: 'ci_variable' },
  group: { missing: 'GroupVariable', type: 'Ci::GroupVariable', event: 'ci_group_variable' },
  instance: { missing: 'InstanceVariable', type: 'Ci::InstanceVariable', event: 'ci_instance_variable' },
};

const audit = (
  tx: Db,
  { actor, subject }: VariableContext,
  event: 'created' | 'updated' | 'deleted',
  { id, key, environment_scope }: VariableRow,
  changes: readonly Record<string, Json>[] = [{}],
): Promise<void> => {
  const noun = nouns[parentKind(subject)];
  const target = { target_id: id, target_type: noun.type, target_details: key, environment_scope };
  return announceAll(
    tx,
    changes.map((change) => ({
      author: actor,
      audit: {
        entity: auditedParent(subject),
        event: `${noun.event}_${event}`,
        details: { ...target, ...change },
      },
    })),
  );
};

function refuse(...messages: ValidationMessages[]): void {
  const all = Object.assign({}, ...messages);
  if (Object.keys(all).length > 0) throw invalid(all);
}

/** Below Premium, variables of groups are for all environments, whatever the request says. */
function withinTier<Given extends VariableChanges>({ services, subject }: VariableContext, given: Given) {
  if (services.config.tier !== 'free' || isInstance(subject) || isProject(subject)) return given;
  const { environment_scope: _, ...others } = given;
  return others as Given;
}

/** The columns of a variable. */
const columnsOf = (secretKey: string, { value, ...plain }: Variable) => ({
  ...plain,
  value_sealed: seal(secretKey, value),
  updated_at: now(),
});

/** The one variable of the name; 404 without it, 409 where several have the key. */
export function oneOf(subject: ParentOrInstance, rows: readonly VariableRow[]): VariableRow {
  if (rows.length > 1)
    throw conflict(
      "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'",
    );
  return found(rows[0], nouns[parentKind(subject)].missing);
}

/** Makes a variable; 400 for one that cannot be, whose key and scope are taken, or that is one too many. */
export async function createVariable(context: VariableContext, input: VariableInput): Promise<VariableRow> {
  const { services, subject } = context;
  const variable = newVariable(withinTier(context, input));
  refuse(problemsOf(variable));
  const { limits } = await services.instance.read();
  return inTransaction(services.database.db, async (tx) => {
    await lockVariables(tx, subject);
    refuse(placeProblems(parentKind(subject), variable, await countVariables(tx, subject, variable), limits));
    const columns = columnsOf(services.secretKey, variable);
    const row = await tx
      .insertInto('ci_variables')
      .values({
        ...columns,
        ...(isInstance(subject) ? {} : parentColumns(subject)),
        created_at: columns.updated_at,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await audit(tx, context, 'created', row);
    return row;
  });
}

/** Changes what the request names; 404 without the variable, 409 where several have the key, 400 as for new ones. */
export const updateVariable = (
  context: VariableContext,
  name: VariableName,
  input: VariableChanges,
): Promise<VariableRow> =>
  inTransaction(context.services.database.db, async (tx) => {
    const { services, subject } = context;
    const changes = withinTier(context, input);
    await lockVariables(tx, subject);
    const row = oneOf(subject, await lockNamed(tx, subject, name));
    const before = variableOf(services.secretKey, row);
    const after = changedVariable(before, changes);
    refuse(problemsOf(after), visibilityProblems(before, changes));
    const changed = differences(before, after);
    if (changed.length === 0) return row;
    if (after.environment_scope !== before.environment_scope) {
      const { taken } = await countVariables(tx, subject, after);
      refuse(placeProblems(parentKind(subject), after, { taken, count: 0 }, defaultPlanLimits));
    }
    const updated = await tx
      .updateTable('ci_variables')
      .set(columnsOf(services.secretKey, after))
      .where('id', '=', row.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    await audit(tx, context, 'updated', updated, changed);
    return updated;
  });

/** Deletes the variable; 404 without it, 409 where several have the key. */
export const deleteVariable = (
  context: VariableContext,
  name: VariableName,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(context.services.database.db, async (tx) => {
    const row = oneOf(context.subject, await lockNamed(tx, context.subject, name));
    unmodified(row.updated_at);
    await ahead(tx).deleteFrom('ci_variables').where('id', '=', row.id).execute();
    await audit(tx, context, 'deleted', row);
  });
