/** Makes, changes and deletes protection rules of a project's packages and images. */
import { sql } from 'kysely';
import { now } from '../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../platform/db/database.ts';
import { Failure } from '../../platform/failure.ts';
import type { AuthorizedProject } from '../access/find.ts';
import { lockParent } from '../access/own-row-queries.ts';
import { auditedParent } from '../access/resource-parents.ts';
import { announce } from '../activity/announce-actions.ts';
import type { Actor } from '../actor.ts';
import { found } from '../api/endpoint.ts';
import type { RuleLevels } from './levels.ts';

export type RuleContext = { db: Db; actor: Actor; subject: AuthorizedProject };

type AnyRule = RuleLevels & { id: number; updated_at: Date };

/** A kind of rules, whose table has the columns of levels, a project, and times. */
export type RuleKind<Row extends AnyRule> = {
  table: `${string}_protection_rules`;
  /** `package`, `container registry`; of one project, which has a number of them at most: each push reads them. */
  name: string;
  most: number;
  /** In refusals of one that is missing. */
  noun: string;
  audited: { event: string; type: string; details(row: Row): string };
  /** Refuses, in the transaction, a rule as it would become; `before` is missing for a new one. */
  check(rule: Omit<Row, 'id' | 'project_id' | 'created_at' | 'updated_at'>, before?: Row): void;
};

export const unprocessable = (message: string): Failure => new Failure('unprocessable', [message]);

/** 422 for a rule that asks nothing. */
export function requireLevel({ push_level, delete_level }: RuleLevels): void {
  if (push_level === null && delete_level === null)
    throw unprocessable('A rule must have at least a minimum access role for push or delete.');
}

type Columns<Row> = Partial<Omit<Row, 'id' | 'project_id' | 'created_at' | 'updated_at'>>;

const audit = <Row extends AnyRule>(
  tx: Db,
  { actor, subject }: RuleContext,
  { audited }: RuleKind<Row>,
  what: string,
  rule: Row,
): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: auditedParent(subject),
      event: `${audited.event}_${what}`,
      details: { target_id: rule.id, target_type: audited.type, target_details: audited.details(rule) },
    },
  });

async function countRules(tx: Db, table: string, { id }: AuthorizedProject): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from ${sql.table(table)} where project_id = ${id}`.execute(tx);
  return rows[0]?.count ?? 0;
}

/** Locked until the transaction ends; 404 where the project has no such rule. */
async function lockRule<Row extends AnyRule>(
  tx: Db,
  { subject }: RuleContext,
  { table, noun }: RuleKind<Row>,
  id: number,
): Promise<Row> {
  const { rows } = await sql<Row>`
    select * from ${sql.table(table)} where project_id = ${subject.id} and id = ${id} for update`.execute(tx);
  return found(rows[0], noun);
}

/** 422 for one too many. */
export const createRule = <Row extends AnyRule>(
  context: RuleContext,
  kind: RuleKind<Row>,
  rule: Omit<Row, 'id' | 'project_id' | 'created_at' | 'updated_at'>,
): Promise<Row> =>
  inTransaction(context.db, async (tx) => {
    const { table, name, most } = kind;
    await lockParent(tx, context.subject);
    if ((await countRules(tx, table, context.subject)) >= most)
      throw unprocessable(`Maximum number of ${name} protection rules (${most}) exceeded`);
    kind.check(rule);
    const time = now();
    const row = { ...rule, project_id: context.subject.id, created_at: time, updated_at: time };
    const { rows } = await sql<Row>`
      insert into ${sql.table(table)} (${sql.join(Object.keys(row).map((column) => sql.ref(column)))})
      values (${sql.join(Object.values(row))}) returning *`.execute(tx);
    const [made] = rows as [Row];
    await audit(tx, context, kind, 'created', made);
    return made;
  });

export const updateRule = <Row extends AnyRule>(
  context: RuleContext,
  kind: RuleKind<Row>,
  id: number,
  columns: Columns<Row>,
): Promise<Row> =>
  inTransaction(context.db, async (tx) => {
    const before = await lockRule(tx, context, kind, id);
    kind.check({ ...before, ...columns }, before);
    const changes = Object.entries({ ...columns, updated_at: now() }).map(
      ([column, value]) => sql`${sql.ref(column)} = ${value}`,
    );
    const { rows } = await sql<Row>`
      update ${sql.table(kind.table)} set ${sql.join(changes)} where id = ${id} returning *`.execute(tx);
    const [row] = rows as [Row];
    await audit(tx, context, kind, 'updated', row);
    return row;
  });

export const deleteRule = <Row extends AnyRule>(
  context: RuleContext,
  kind: RuleKind<Row>,
  id: number,
  unmodified: (updatedAt: Date) => void,
  mayDelete: (row: Row) => void = () => {},
): Promise<void> =>
  inTransaction(context.db, async (tx) => {
    const row = await lockRule(tx, context, kind, id);
    mayDelete(row);
    unmodified(row.updated_at);
    await sql`delete from ${sql.table(kind.table)} where id = ${id}`.execute(ahead(tx));
    await audit(tx, context, kind, 'deleted', row);
  });
