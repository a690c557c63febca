/** Makes, changes and deletes protection rules of packages. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { lockParent } from '../../../kernel/access/own-row-queries.ts';
import { auditedParent } from '../../../kernel/access/resource-parents.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { Failure } from '../../../platform/failure.ts';
import { countRules, lockRule, type RuleRow } from './queries.ts';
import { levelNamed } from './rules.ts';
import type { RuleChanges } from './schema.ts';

type Context = { db: Db; actor: Actor; subject: AuthorizedProject };

/** Of one project: each push of a package reads those of its format. */
const MAX_RULES = 100;

const unprocessable = (message: string): Failure => new Failure('unprocessable', [message]);

const audit = (tx: Db, { actor, subject }: Context, event: string, rule: RuleRow): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: auditedParent(subject),
      event: `package_protection_rule_${event}`,
      details: {
        target_id: rule.id,
        target_type: 'Packages::Protection::Rule',
        target_details: rule.package_name_pattern,
      },
    },
  });

/** The columns that the changes name. */
const columnsOf = (changes: RuleChanges) => ({
  ...(changes.package_name_pattern !== undefined && { package_name_pattern: changes.package_name_pattern }),
  ...(changes.package_type !== undefined && { package_type: changes.package_type }),
  ...(changes.minimum_access_level_for_push !== undefined && {
    push_level: levelNamed(changes.minimum_access_level_for_push),
  }),
  ...(changes.minimum_access_level_for_delete !== undefined && {
    delete_level: levelNamed(changes.minimum_access_level_for_delete),
  }),
});

/** 422 for a rule that asks nothing, and for one too many. */
export const createRule = (
  context: Context,
  rule: RuleChanges & Required<Pick<RuleChanges, 'package_name_pattern' | 'package_type'>>,
): Promise<RuleRow> =>
  inTransaction(context.db, async (tx) => {
    await lockParent(tx, context.subject);
    if ((await countRules(tx, context.subject)) >= MAX_RULES)
      throw unprocessable(`Maximum number of package protection rules (${MAX_RULES}) exceeded`);
    const { package_name_pattern, package_type } = rule;
    const levels = { push_level: null, delete_level: null, ...columnsOf(rule) };
    requireLevel(levels);
    const time = now();
    const row = await tx
      .insertInto('package_protection_rules')
      .values({
        ...levels,
        package_name_pattern,
        package_type,
        project_id: context.subject.id,
        created_at: time,
        updated_at: time,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await audit(tx, context, 'created', row);
    return row;
  });

function requireLevel({
  push_level,
  delete_level,
}: {
  push_level: number | null;
  delete_level: number | null;
}) {
  if (push_level === null && delete_level === null)
    throw unprocessable('A rule must have at least a minimum access role for push or delete.');
}

export const updateRule = (context: Context, id: number, changes: RuleChanges): Promise<RuleRow> =>
  inTransaction(context.db, async (tx) => {
    const before = found(await lockRule(tx, context.subject, id), 'Package Protection Rule');
    const columns = columnsOf(changes);
    requireLevel({ ...before, ...columns });
    const row = await tx
      .updateTable('package_protection_rules')
      .set({ ...columns, updated_at: now() })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
    await audit(tx, context, 'updated', row);
    return row;
  });

export const deleteRule = (
  context: Context,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(context.db, async (tx) => {
    const row = found(await lockRule(tx, context.subject, id), 'Package Protection Rule');
    unmodified(row.updated_at);
    await ahead(tx).deleteFrom('package_protection_rules').where('id', '=', id).execute();
    await audit(tx, context, 'deleted', row);
  });
