/** Assigns alerts. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { ahead, type Db } from '../../../platform/db/database.ts';
import { type ActorContext, addTodos, readersAmong, usersByIds } from '../../conversation/index.ts';
import { systemNote } from '../../work-items/index.ts';
import { writeAlertNotes } from '../incidents/link-actions.ts';
import type { AlertRow } from '../records.ts';
import { alertNoteable } from './alert-noteable.ts';

export type Assignee = { id: number; username: string };

/** The users who may read the alert, in the given order; others are ignored. Free has one assignee. */
export async function findAssignees(
  { db, services }: ActorContext,
  project: AuthorizedProject,
  alert: AlertRow,
  ids: readonly number[],
): Promise<Assignee[]> {
  const wanted = [...new Set(ids)].filter((id) => id > 0);
  if (wanted.length === 0) return [];
  const people = await usersByIds(db, wanted);
  const readers = await readersAmong(db, services.database.points, alertNoteable(project, alert), people);
  const byId = new Map(people.map((person) => [person.id, person]));
  const found = wanted.flatMap((id) => (readers.has(id) ? (byId.get(id) ?? []) : []));
  return services.config.tier === 'free' ? found.slice(0, 1) : found;
}

/** Replaces the assignees of the locked alert and adds a system note; returns whether they changed. */
export async function assignAlert(
  tx: Db,
  actor: ActorContext['actor'],
  project: AuthorizedProject,
  alert: AlertRow,
  assignees: readonly Assignee[],
): Promise<boolean> {
  const before = await tx
    .selectFrom('alert_assignees')
    .innerJoin('users', 'users.id', 'alert_assignees.user_id')
    .select(['users.id', 'users.username'])
    .where('alert_assignees.alert_id', '=', alert.id)
    .orderBy('users.id')
    .execute();
  const added = assignees.filter(({ id }) => !before.some((each) => each.id === id));
  const removed = before.filter(({ id }) => !assignees.some((each) => each.id === id));
  if (added.length === 0 && removed.length === 0) return false;
  if (removed.length > 0)
    await ahead(tx)
      .deleteFrom('alert_assignees')
      .where('alert_id', '=', alert.id)
      .where(
        'user_id',
        'in',
        removed.map(({ id }) => id),
      )
      .execute();
  if (added.length > 0)
    await ahead(tx)
      .insertInto('alert_assignees')
      .values(added.map(({ id }) => ({ alert_id: alert.id, user_id: id })))
      .execute();
  const note = systemNote({ what: 'assignees', added: [...added], removed });
  await writeAlertNotes(tx, actor, [{ alert, note }]);
  const others = added.filter(({ id }) => id !== actor.id);
  await addTodos(
    tx,
    { author: actor, target: alertNoteable(project, alert) },
    others.map(({ id }) => ({ userId: id, action: 'assigned' })),
  );
  return true;
}
