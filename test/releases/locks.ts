/**
 * What the statements of a migration do to tables that are there already: which they write anew or read whole, and what they
 * have locked meanwhile. The locks, not the time: on a small fixture all is fast.
 */

import type { PoolSql, Sql } from '../../src/platform/db/driver/sql.ts';
import { isOutside, type Step, statementsOf, stepsOf } from '../../src/platform/db/migration-statements.ts';

export type Effect = {
  statement: string;
  /** Tables that it wrote anew. */
  rewritten: readonly string[];
  /** Tables that it read whole. */
  scanned: readonly string[];
  /** Tables of which it changed rows that were there. */
  changed: readonly string[];
  /** Tables that got an index of the statement. */
  indexed: readonly string[];
  /** Tables that nobody else writes, or reads, until the transaction ends. */
  locked: readonly string[];
};

/** They have a row, or as many as somebody has set up by hand. */
const small = new Set(
  ['application_settings', 'appearance', 'feature_gates', 'plan_limits', 'migrations', 'processes'].map(
    (name) => `public.${name}`,
  ),
);

const OUTSIDE = 'in a file whose first line is `-- outside a transaction`';

/** Why a large table would be held up, one line for each reason with its remedy. */
export function problemsOf({ statement, ...effect }: Effect): string[] {
  const large = (tables: readonly string[]) => tables.filter((table) => !small.has(table));
  const shown = statement
    .replace(/--[^\n]*\n/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 120);
  const problem = (tables: readonly string[], what: string, remedy: string): string[] =>
    tables.length === 0 ? [] : [`${shown} … ${what} ${tables.join(', ')}: ${remedy}`];
  const rewritten = large(effect.rewritten);
  const indexed = large(effect.indexed).filter((table) => !rewritten.includes(table));
  const scanned = large(effect.scanned).filter((table) => ![...rewritten, ...indexed].includes(table));
  const changed = large(effect.changed);
  const locked = large(effect.locked);
  return [
    ...problem(
      rewritten,
      'writes anew',
      'add a column without a default that is computed, fill it by batches, and let the program go over to it',
    ),
    ...problem(indexed, 'builds an index on', `\`create index concurrently\` ${OUTSIDE}`),
    ...(locked.length === 0
      ? []
      : problem(
          scanned.filter((table) => !changed.includes(table)),
          `with ${locked.join(', ')} locked reads all of`,
          `add the constraint \`not valid\` and \`validate constraint\` it by a later statement ${OUTSIDE}`,
        )),
    ...problem(
      scanned.filter((table) => changed.includes(table)),
      'changes at once all of',
      `change it by batches with a \`limit\` ${OUTSIDE}`,
    ),
  ];
}

type State = Map<string, { file: number; scans: number; changes: number; indexes: number }>;

/** Of all tables, in this transaction. */
async function look(tx: Sql): Promise<State> {
  const rows = await tx<{ name: string; file: number; scans: number; changes: number; indexes: number }[]>`
    select n.nspname || '.' || c.relname as name, pg_relation_filenode(c.oid)::int8 as file,
      coalesce(pg_stat_get_xact_numscans(c.oid), 0) as scans,
      coalesce(pg_stat_get_xact_tuples_updated(c.oid), 0) + coalesce(pg_stat_get_xact_tuples_deleted(c.oid), 0) as changes,
      (select count(*) from pg_index where indrelid = c.oid) as indexes
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'r' and n.nspname = 'public'`;
  return new Map(rows.map(({ name, ...state }) => [name, state]));
}

/** Of which writers wait. */
const lockedTables = async (tx: Sql): Promise<string[]> => {
  const rows = await tx<{ name: string }[]>`
    select distinct n.nspname || '.' || c.relname as name
    from pg_locks l join pg_class c on c.oid = l.relation join pg_namespace n on n.oid = c.relnamespace
    where l.pid = pg_backend_pid() and c.relkind = 'r' and n.nspname = 'public'
      and l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock') order by 1`;
  return rows.map(({ name }) => name);
};

/** Runs the statements in one transaction, and tells what each did to the tables that were there before it. */
async function measure(sql: PoolSql, statements: readonly string[]): Promise<Effect[]> {
  return sql.begin(async (tx) => {
    // A table of few rows is read whole where a large one is read by its index.
    await tx`set local enable_seqscan = off`;
    const first = await look(tx);
    const effects: Effect[] = [];
    for (const statement of statements) {
      const before = await look(tx);
      await tx.unsafe(statement);
      const after = await look(tx);
      const where = (differs: (name: string) => boolean) => [...first.keys()].filter(differs);
      const grew = (field: 'scans' | 'changes' | 'indexes') =>
        where((name) => (after.get(name)?.[field] ?? 0) > (before.get(name)?.[field] ?? 0));
      effects.push({
        statement,
        rewritten: where((name) => after.has(name) && after.get(name)?.file !== before.get(name)?.file),
        scanned: grew('scans'),
        changed: grew('changes'),
        indexed: grew('indexes'),
        locked: (await lockedTables(tx)).filter((name) => first.has(name)),
      });
    }
    return effects;
  });
}

/** What takes long, and holds nobody up. */
const isGentle = (step: Step): boolean =>
  step.kind === 'index' ||
  step.kind === 'batches' ||
  / validate constraint | index concurrently |^analyze /i.test(step.text);

/** The problems of a migration, which is applied; each names it. */
export async function examine(sql: PoolSql, name: string, text: string): Promise<string[]> {
  const effects: Effect[] = [];
  if (!isOutside(text)) effects.push(...(await measure(sql, statementsOf(text))));
  else
    for (const step of stepsOf(name, text)) {
      // Of a fixture's few rows, one batch is all.
      if (isGentle(step)) await sql.unsafe(step.text);
      else effects.push(...(await measure(sql, [step.text])));
    }
  return effects.flatMap(problemsOf).map((problem) => `${name}: ${problem}`);
}
