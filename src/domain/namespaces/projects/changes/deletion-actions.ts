/** Deleting projects with a delay, at once, and restoring them (facts: Cross-cutting behaviour, delayed deletion). */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import { announce } from '../../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../../kernel/actor.ts';
import { markProjectDeleting } from '../../../../kernel/namespaces/erasure-actions.ts';
import { pathTaken, redirectProject } from '../../../../kernel/namespaces/path-actions.ts';
import type { Needs } from '../../../../kernel/services.ts';
import { now } from '../../../../platform/clock.ts';
import { ahead, inTransaction } from '../../../../platform/db/database.ts';
import { Failure } from '../../../../platform/failure.ts';
import type { Fact } from '../../../../platform/outbox/outbox.ts';
import { projectEntity } from './actions.ts';
import { lockWithParent } from './lock-queries.ts';

/** A project that is to be deleted has another path until then. */
const renamedFact = (projectId: number, from: string): Fact => ({
  name: 'project_renamed',
  payload: { project_id: projectId, from },
});

export type DeletionRequest = { permanently_remove?: boolean; full_path?: string };

/**
 * Marks the project: it stays readable under another path until the delay is over. With `permanently_remove`,
 * a marked project is deleted at once, when its full path is given exactly.
 */
export async function deleteProject(
  services: Needs<'database'>,
  actor: Actor,
  project: AuthorizedProject,
  request: DeletionRequest,
  unmodified: (updatedAt: Date) => void,
): Promise<void> {
  const entity = projectEntity(project.id, project.fullPath);
  await inTransaction(services.database.db, async (tx) => {
    const { row, parent } = await lockWithParent(tx, project);
    unmodified(row.updated_at);
    if (request.permanently_remove) {
      if (row.marked_for_deletion_on === null)
        throw badRequestText('Project must be marked for deletion first.');
      if (request.full_path !== `${parent.full_path}/${row.path}`) {
        throw badRequestText('`full_path` is incorrect. You must enter the complete path for the project.');
      }
      await markProjectDeleting(tx, project.id);
      await announce(tx, { author: actor, audit: { entity, event: 'project_destroyed' } });
      return;
    }
    if (row.marked_for_deletion_on !== null)
      throw badRequestText('Project has been already marked for deletion');
    const suffix = `-deletion_scheduled-${row.id}`;
    const time = now();
    await ahead(tx)
      .updateTable('projects')
      .set({
        marked_for_deletion_on: time.toISOString().slice(0, 10),
        marked_by_id: actor.id,
        path_before_deletion: row.path,
        name_before_deletion: row.name,
        path: row.path + suffix,
        name: row.name + suffix,
        updated_at: time,
      })
      .where('id', '=', row.id)
      .execute();
    await announce(tx, {
      author: actor,
      audit: { entity, event: 'project_deletion_marked' },
      fact: renamedFact(row.id, `${parent.full_path}/${row.path}`),
    });
  });
}

/** Removes the mark, and gives the path and the name back where they are still free. */
export async function restoreProject(
  services: Needs<'database'>,
  actor: Actor,
  project: AuthorizedProject,
): Promise<void> {
  await inTransaction(services.database.db, async (tx) => {
    const { row, parent } = await lockWithParent(tx, project);
    if (row.marked_for_deletion_on === null) throw badRequestText('Project has not been marked for deletion');
    const path = row.path_before_deletion ?? row.path;
    const { rows } = await sql<{ taken: boolean; named: boolean }>`
      select ${pathTaken(parent, path, { projectId: row.id })} as taken,
        exists (select from projects where namespace_id = ${parent.id} and id <> ${row.id}
          and lower(name) collate "C" = ${(row.name_before_deletion ?? row.name).toLowerCase()}) as named`.execute(
      tx,
    );
    const { taken = false, named = false } = rows[0] ?? {};
    const free = !taken;
    const fullPath = `${parent.full_path}/${free ? path : row.path}`;
    if (free) await redirectProject(tx, row.id, `${parent.full_path}/${row.path}`, fullPath);
    await ahead(tx)
      .updateTable('projects')
      .set({
        marked_for_deletion_on: null,
        marked_by_id: null,
        path_before_deletion: null,
        name_before_deletion: null,
        ...(free && { path }),
        ...(!named && row.name_before_deletion !== null && { name: row.name_before_deletion }),
        updated_at: now(),
      })
      .where('id', '=', row.id)
      .execute();
    await announce(tx, {
      author: actor,
      audit: { entity: projectEntity(row.id, fullPath), event: 'project_restored' },
      ...(free && { fact: renamedFact(row.id, `${parent.full_path}/${row.path}`) }),
    });
  });
}

/** The public texts here have no status before them. */
const badRequestText = (text: string): Failure => new Failure('bad_request', text, { error: text });
