/** Links alerts and their incidents: writes the system notes of alerts, and their common status. */

import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { newDiscussionId } from '../../conversation/index.ts';
import type { SystemNote } from '../../work-items/index.ts';
import { type FoundAlert, isLogged } from '../queries.ts';
import { writeTimeline } from '../timeline/entry-actions.ts';
import { alertBot } from './bot-actions.ts';
import { alertNotes, type NotedAlert, sourceOf } from './links.ts';

/** The part of an alert that its incident's timeline needs. */
type LinkedAlert = NotedAlert & { iid: number; issue_id: number | null };

/** Writes a system note for each of the alerts, by one statement. */
export async function writeAlertNotes(
  tx: Db,
  author: { id: number },
  notes: readonly { alert: NotedAlert; note: SystemNote; createdAt?: Date }[],
): Promise<void> {
  if (notes.length === 0) return;
  const time = now();
  const rows = notes.map(({ alert, note, createdAt }) => ({
    alert_id: alert.id,
    project_id: alert.project_id,
    author_id: author.id,
    body: note.body,
    discussion_id: newDiscussionId(),
    in_thread: false,
    system_action: note.action,
    internal: false,
    created_at: createdAt ?? time,
    updated_at: createdAt ?? time,
  }));
  await ahead(tx).insertInto('notes').values(rows).execute();
}

/**
 * Ensures that an alert's notes begin with its source. The first read writes that note, once: a storm of
 * unread alerts is written only once.
 */
export async function beginLog(db: Db, alert: FoundAlert): Promise<void> {
  if (alert.is_logged) return;
  await inTransaction(db, async (tx) => {
    const held = await lockAlert(tx, alert.id);
    if (!held || held.is_logged) return;
    const source = sourceOf(alert, await integrationName(tx, alert));
    const note = alertNotes.created(source);
    await writeAlertNotes(tx, await alertBot(tx), [{ alert, note, createdAt: alert.created_at }]);
  });
}

/** The name of the alert's integration, while that exists. */
export async function integrationName(
  db: Db,
  { integration_id }: { integration_id: number | null },
): Promise<string | null> {
  if (integration_id === null) return null;
  const found = await db
    .selectFrom('alert_integrations')
    .select('name')
    .where('id', '=', integration_id)
    .executeTakeFirst();
  return found?.name ?? null;
}

/** Adds a system note and a timeline entry of the incident for a new status of the alert. */
export async function addSystemNoteOfStatus(
  tx: Db,
  author: { id: number },
  alert: LinkedAlert & { status: string },
): Promise<void> {
  const note = alertNotes.status(alert.status);
  await writeAlertNotes(tx, author, [{ alert, note }]);
  if (alert.issue_id === null) return;
  const entry = { action: 'alert', note: `${note.body} of alert ${alert.iid}` } as const;
  await writeTimeline(tx, { id: alert.issue_id, project_id: alert.project_id }, author, [entry]);
}

/**
 * Locks the alert, after its incident if it has one, until the transaction ends: closing an incident locks
 * the two in this order. Undefined when the alert is gone.
 */
export async function lockAlert(
  tx: Db,
  id: number,
  has = isLogged('alert'),
): Promise<FoundAlert | undefined> {
  const alert = tx.selectFrom('alerts').where('id', '=', id);
  await ahead(tx)
    .selectFrom('issues')
    .select('id')
    .where('id', '=', alert.select('issue_id'))
    .forNoKeyUpdate()
    .execute();
  await ahead(tx).selectFrom('alerts').select('id').where('id', '=', id).forUpdate().execute();
  return alert.selectAll().select(has.as('is_logged')).executeTakeFirst();
}
