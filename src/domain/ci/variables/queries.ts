/** Reads CI variables of a project, a group or the instance. */
import { type Selectable, sql } from 'kysely';
import { lockParent, ownedBy } from '../../../kernel/access/own-row-queries.ts';
import { isInstance, type ParentOrInstance } from '../../../kernel/access/resource-parents.ts';
import { ahead, type Db } from '../../../platform/db/database.ts';
import type { CiVariablesTable } from '../../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';

export type VariableRow = Selectable<CiVariablesTable>;

/** A variable by its key, and by its scope where several have the key. */
export type VariableName = { key: string; environment_scope?: string | undefined };

const own = (db: Db, parent: ParentOrInstance) =>
  db.selectFrom('ci_variables').where(ownedBy('ci_variables', parent));

/** One page, oldest first. */
export const selectVariables = (
  db: Db,
  parent: ParentOrInstance,
  page: PageRequest,
): Promise<Page<VariableRow>> =>
  selectPage(db, own(db, parent).selectAll(), page, { by: 'id', sort: 'asc' }, { id: 'ci_variables.id' });

const named = (db: Db, parent: ParentOrInstance, { key, environment_scope }: VariableName) => {
  const all = own(db, parent).selectAll().where('key', '=', key).orderBy('id').limit(2);
  return environment_scope ? all.where('environment_scope', '=', environment_scope) : all;
};

/** The variables of this name: none, one, or two of several. */
export const selectNamed = (db: Db, parent: ParentOrInstance, name: VariableName): Promise<VariableRow[]> =>
  named(db, parent, name).execute();

/** The same, locked until the transaction ends. */
export const lockNamed = (tx: Db, parent: ParentOrInstance, name: VariableName): Promise<VariableRow[]> =>
  named(tx, parent, name).forUpdate().execute();

/** Serializes changes of what variables a parent has: of their number, keys and scopes. */
export async function lockVariables(tx: Db, parent: ParentOrInstance): Promise<void> {
  if (!isInstance(parent)) return lockParent(tx, parent);
  await sql`select pg_advisory_xact_lock(hashtextextended('ci variables', 0))`.execute(ahead(tx));
}

/** How many variables the parent has, and whether one has the key and the scope. */
export const countVariables = (
  tx: Db,
  parent: ParentOrInstance,
  { key, environment_scope }: Required<VariableName>,
): Promise<{ count: number; taken: boolean }> =>
  own(tx, parent)
    .select([
      sql<number>`count(*)::integer`.as('count'),
      sql<boolean>`coalesce(bool_or(key = ${key} and environment_scope = ${environment_scope}), false)`.as(
        'taken',
      ),
    ])
    .executeTakeFirstOrThrow();
