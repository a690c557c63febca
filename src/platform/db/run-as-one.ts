/** Statements that change different rows, run as one: they see the tables as they were, and none is waited for alone. */
import { type Compilable, type OperationNodeSource, type RawBuilder, sql } from 'kysely';
import { ahead, type Db } from './database.ts';

export type StatementParts = {
  /** No row is changed by two of them. */
  statements: readonly (OperationNodeSource | undefined)[];
  /** Further parts of the `with`, by their names. */
  parts?: readonly RawBuilder<unknown>[];
};

/** All of them as one statement, which returns the rows of the last. */
function asOne<Row = never>(
  { statements, parts = [] }: StatementParts,
  last?: Compilable<Row> & OperationNodeSource,
): RawBuilder<Row> {
  const unnamed = statements.filter((statement) => statement !== undefined);
  const all = [...parts, ...unnamed.map((statement, at) => sql`${sql.ref(`part_${at}`)} as (${statement})`)];
  const end = last ?? sql`select`;
  return all.length === 0 ? sql<Row>`${end}` : sql<Row>`with ${sql.join(all)} ${end}`;
}

/** Runs all; returns the rows of the last. Without one, nobody waits for the answer. */
export async function runAsOne<Row = never>(
  tx: Db,
  parts: StatementParts,
  last?: Compilable<Row> & OperationNodeSource,
): Promise<Row[]> {
  const { rows } = await asOne(parts, last).execute(last ? tx : ahead(tx));
  return rows;
}
