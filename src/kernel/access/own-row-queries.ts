/** The rows that a parent has itself, and the lock of their number and names. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { ahead, type Db } from '../../platform/db/database.ts';
import { lockNamespace } from './resource-parent-queries.ts';
import { isInstance, isProject, type ParentOrInstance, type ResourceParent } from './resource-parents.ts';

/** Serializes changes of what the parent has; others may still read, and write rows that refer to it. */
export async function lockParent(tx: Db, parent: ResourceParent): Promise<void> {
  return isProject(parent) ? lockProject(tx, parent.id) : lockNamespace(tx, parent.id);
}

/** The same for a project by its id. */
export async function lockProject(tx: Db, id: number): Promise<void> {
  await ahead(tx).selectFrom('projects').select('id').where('id', '=', id).forNoKeyUpdate().execute();
}

/** The condition on the rows of a table that belong to the parent itself; those of the instance name neither. */
export function ownedBy(table: 'hooks' | 'ci_variables', parent: ParentOrInstance): RawBuilder<SqlBool> {
  const [project, namespace] = [sql.ref(`${table}.project_id`), sql.ref(`${table}.namespace_id`)];
  if (isInstance(parent)) return sql`(${project} is null and ${namespace} is null)`;
  return isProject(parent) ? sql`${project} = ${parent.id}` : sql`${namespace} = ${parent.id}`;
}
