/** Makes, changes and removes push rules, and copies a group's to a new project. */
import { sql } from 'kysely';
import {
  auditedParent,
  isProject,
  parentColumns,
  type ResourceParent,
} from '../../../kernel/access/resource-parents.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { Failure, invalid, type ValidationMessages } from '../../../platform/failure.ts';
import { patternCompiler } from '../../../platform/patterns/pattern.ts';
import { lockRule, type PushRuleRow } from './queries.ts';
import { inLines } from './rules.ts';
import { patterns, type RuleInput } from './schema.ts';

const audit = (
  tx: Db,
  actor: Actor,
  parent: ResourceParent,
  event: 'created' | 'updated' | 'destroyed',
  { id }: Pick<PushRuleRow, 'id'>,
): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: auditedParent(parent),
      event: `push_rule_${event}`,
      details: { target_id: id, target_type: 'PushRule', target_details: 'push rule' },
    },
  });

/** 400 for patterns that cannot be run. */
async function requirePatterns(input: RuleInput): Promise<void> {
  const names = Object.keys(patterns) as (keyof typeof patterns)[];
  if (!names.some((name) => input[name])) return;
  const compile = await patternCompiler();
  const messages: ValidationMessages = {};
  for (const name of names) {
    const compiled = compile(
      name.startsWith('commit_message') ? inLines(input[name] ?? '') : (input[name] ?? ''),
    );
    if ('problem' in compiled) messages[name] = [compiled.problem];
  }
  if (Object.keys(messages).length > 0) throw invalid(messages);
}

/** 422 where there is one. */
export async function createRule(
  db: Db,
  actor: Actor,
  parent: ResourceParent,
  input: RuleInput,
): Promise<PushRuleRow> {
  await requirePatterns(input);
  return inTransaction(db, async (tx) => {
    const time = now();
    const made = await tx
      .insertInto('push_rules')
      .values({ ...parentColumns(parent), ...input, created_at: time, updated_at: time })
      .onConflict((conflict) => conflict.doNothing())
      .returningAll()
      .executeTakeFirst();
    if (!made)
      throw new Failure(
        'unprocessable',
        `${isProject(parent) ? 'Project' : 'Group'} push rule exists, try updating`,
      );
    await audit(tx, actor, parent, 'created', made);
    return made;
  });
}

/** 404 where there is none. */
export async function updateRule(
  db: Db,
  actor: Actor,
  parent: ResourceParent,
  input: RuleInput,
): Promise<PushRuleRow> {
  await requirePatterns(input);
  return inTransaction(db, async (tx) => {
    const rule = found(await lockRule(tx, parent), 'Push Rule');
    const changed = await tx
      .updateTable('push_rules')
      .set({ ...input, updated_at: now() })
      .where('id', '=', rule.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    await audit(tx, actor, parent, 'updated', changed);
    return changed;
  });
}

export const deleteRule = (
  db: Db,
  actor: Actor,
  parent: ResourceParent,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const rule = found(await lockRule(tx, parent), 'Push Rule');
    unmodified(rule.updated_at);
    await ahead(tx).deleteFrom('push_rules').where('id', '=', rule.id).execute();
    await audit(tx, actor, parent, 'destroyed', rule);
  });

const copied = sql.raw(
  [
    ...Object.keys(patterns),
    'max_file_size',
    'deny_delete_tag',
    'member_check',
    'prevent_secrets',
    'commit_committer_check',
    'commit_committer_name_check',
    'reject_unsigned_commits',
    'reject_non_dco_commits',
  ].join(', '),
);

/** A new project has the rule of the nearest group that has one, as a copy of its own. */
export async function inheritRule(tx: Db, projectId: number, groupId: number): Promise<void> {
  await sql`
    insert into push_rules (project_id, ${copied}, created_at, updated_at)
    select ${projectId}, ${copied}, ${now()}, ${now()}
    from namespaces n join push_rules r on r.namespace_id = any(n.ancestor_ids)
    where n.id = ${groupId} order by array_position(n.ancestor_ids, r.namespace_id) desc limit 1`.execute(
    ahead(tx),
  );
}
