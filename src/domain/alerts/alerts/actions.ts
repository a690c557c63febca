/** Changes an alert's status and assignees. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { invalid } from '../../../platform/failure.ts';
import { type ActorContext, completeTodos } from '../../conversation/index.ts';
import { addSystemNoteOfStatus, lockAlert } from '../incidents/link-actions.ts';
import type { AlertRow } from '../records.ts';
import { alertNoteable } from './alert-noteable.ts';
import { assignAlert, findAssignees } from './assign-actions.ts';
import type { AlertChanges } from './schema.ts';

/** 400 where another alert of the same group is open: at most one may be (facts: Grouping). */
async function refuseSecondOpen(tx: Db, alert: AlertRow): Promise<void> {
  if (alert.grouping_key === null) return;
  const open = await tx
    .selectFrom('alerts')
    .select('iid')
    .where('project_id', '=', alert.project_id)
    .where('grouping_key', '=', alert.grouping_key)
    .where('status', '<>', 'resolved')
    .where('id', '<>', alert.id)
    .executeTakeFirst();
  if (open) throw invalid({ fingerprint: ['Cannot have multiple unresolved alerts'] });
}

/** The changed columns of the locked alert; undefined without a change. */
async function statusColumns(tx: Db, alert: AlertRow, { status, ended_at }: AlertChanges) {
  const wanted = status ?? alert.status;
  if (ended_at !== undefined && wanted !== 'resolved')
    throw invalid({ ended_at: ['is only of a resolved alert'] });
  const endedAt = ended_at === undefined ? undefined : new Date(ended_at);
  if (endedAt && endedAt < alert.started_at) throw invalid({ ended_at: ['must not be before it started'] });
  if (wanted === alert.status) return endedAt && { ended_at: endedAt };
  if (wanted === 'resolved') return { status: wanted, ended_at: endedAt ?? now() };
  if (alert.status !== 'resolved') return { status: wanted };
  await refuseSecondOpen(tx, alert);
  return { status: wanted, ended_at: null };
}

/**
 * Changes the given properties. 400 where the alert would be a second open one of its group, and for an end
 * without a resolution or before the start; assignees who may not read the alert are ignored.
 */
export async function updateAlert(
  context: ActorContext,
  project: AuthorizedProject,
  alert: AlertRow,
  changes: AlertChanges,
): Promise<AlertRow> {
  const { db, actor } = context;
  const { assignee_ids } = changes;
  const assignees = assignee_ids && (await findAssignees(context, project, alert, assignee_ids));
  return inTransaction(db, async (tx) => {
    const before = found(await lockAlert(tx, alert.id), 'Alert');
    const columns = await statusColumns(tx, before, changes);
    const assigned = assignees ? await assignAlert(tx, actor, project, before, assignees) : false;
    if (!columns && !assigned) return before;
    const set = { ...columns, updated_at: now() };
    await ahead(tx).updateTable('alerts').set(set).where('id', '=', before.id).execute();
    const after = { ...before, ...set };
    if (after.status !== before.status) await addSystemNoteOfStatus(tx, actor, after);
    if (after.status === 'resolved') await completeTodos(ahead(tx), actor.id, alertNoteable(project, after));
    return after;
  });
}
