/** The locks of changes to a project: its row and its namespace's stay the same until the commit. */
import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import { lockNamespace } from '../../../../kernel/namespaces/path-actions.ts';
import type { NamespaceRow } from '../../../../kernel/namespaces/rows.ts';
import type { Db } from '../../../../platform/db/database.ts';
import { conflict, notFound } from '../../../../platform/failure.ts';

/**
 * Locks a project and before it its namespace, and returns both as they are now; 404 or 409 when it was
 * deleted or moved.
 */
export async function lockWithParent(tx: Db, project: AuthorizedProject) {
  const parent: NamespaceRow | undefined = await lockNamespace(tx, project.row.namespace_id);
  const row = await tx
    .selectFrom('projects')
    .selectAll()
    .where('id', '=', project.id)
    .where('deleting', '=', false)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw notFound('Project');
  if (!parent || row.namespace_id !== parent.id) throw conflict('409 Conflict: Resource lock');
  return { row, parent, fullPath: `${parent.full_path}/${row.path}` };
}

/** The visibility of a project, which does not change until the commit; undefined when it is gone. */
export async function lockVisibility(tx: Db, projectId: number): Promise<number | undefined> {
  const project = await tx
    .selectFrom('projects')
    .select('visibility')
    .where('id', '=', projectId)
    .where('deleting', '=', false)
    // Not only shared: two forks that are made at once both count themselves in this row afterwards.
    .forNoKeyUpdate()
    .executeTakeFirst();
  return project?.visibility;
}
