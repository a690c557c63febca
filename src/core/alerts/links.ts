/** What alerts and their incidents say of each other: notes under alerts, and what one does to the other. */
import { now } from '../../platform/clock.ts';
import { type Db, inTransaction } from '../../platform/db/database.ts';
import { newDiscussionId } from '../work/notes.ts';
import type { SystemNote } from '../work/system-notes.ts';
import { alertBot } from './bot.ts';
import type { AlertRow } from './records.ts';
import { writeTimeline } from './timeline-writes.ts';

/** As much of an alert as what is said under it needs. */
export type NotedAlert = { id: number; project_id: number };
/** As much of an alert as its incident is told. */
type LinkedAlert = NotedAlert & { iid: number; issue_id: number | null };

/** What notes call the source of an alert: the monitoring tool, else the integration by its name. */
export const sourceOf = (alert: { monitoring_tool: string | null }, integrationName: string | null): string =>
  alert.monitoring_tool ?? integrationName ?? 'Generic Alert Endpoint';

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
/** A name from outside inside of bold text: nothing in it is Markdown. */
export const plain = (text: string): string =>
  text.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_{}[\]()#+!<>|~@&%$:]/g, '\\$&');

/** How the notes begin with which a log tells that its alert came, and that it is over. */
const logged = { alert: 'logged an alert from', recovery: 'logged a recovery alert from' } as const;
const LOGGED = 'new_alert_added';

/** The notes of alerts, in the public words. */
export const alertNotes = {
  created: (source: string): SystemNote => ({
    action: LOGGED,
    body: `${logged.alert} **${plain(source)}**`,
  }),
  recovered: (source: string): SystemNote => ({
    action: LOGGED,
    body: `${logged.recovery} **${plain(source)}**`,
  }),
  /** `reason` is how it came: ` by closing incident #1`. */
  status: (status: string, reason = ''): SystemNote => ({
    action: 'status',
    body: `changed the status to **${capitalized(status)}**${reason}`,
  }),
  incident: (reference: string): SystemNote => ({
    action: 'alert_issue_added',
    body: `created incident ${reference} for this alert`,
  }),
};

/** Writes a note of the program's under each of the alerts, by one statement. */
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
  await tx.insertInto('notes').values(rows).execute();
}

/** Whether the log of the alert tells it, as of that moment: an alert may be over in the one in which it came. */
export const isLogged = async (
  db: Db,
  alertId: number,
  what: keyof typeof logged,
  at: Date,
): Promise<boolean> =>
  (await db
    .selectFrom('notes')
    .select('id')
    .where('alert_id', '=', alertId)
    .where('created_at', '=', at)
    .where('system_action', '=', LOGGED)
    .where('body', 'like', `${logged[what]} %`)
    .executeTakeFirst()) !== undefined;

/**
 * Sees to it that the log of an alert begins with where the alert came from. That is written when somebody first reads the
 * log, and once: of a storm of alerts that nobody looks at, nothing is written twice.
 */
export async function beginLog(db: Db, alert: AlertRow): Promise<void> {
  const begins = (on: Db) => isLogged(on, alert.id, 'alert', alert.created_at);
  if (await begins(db)) return;
  await inTransaction(db, async (tx) => {
    const held = await lockAlert(tx, alert.id);
    if (!held || (await begins(tx))) return;
    const source = sourceOf(alert, await integrationName(tx, alert));
    const note = alertNotes.created(source);
    await writeAlertNotes(tx, await alertBot(tx), [{ alert, note, createdAt: alert.created_at }]);
  });
}

/** The name of the integration that the alert came through, while it is there. */
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

/** Tells under the alert, and in the timeline of its incident, that somebody gave it another status. */
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

/** Resolves the alerts of an incident that was closed. Inside the transaction that closes it. */
export async function resolveAlertsOf(
  tx: Db,
  author: { id: number },
  incident: { id: number; iid: number },
): Promise<void> {
  const time = now();
  const resolved = await tx
    .updateTable('alerts')
    .set({ status: 'resolved', ended_at: time, updated_at: time })
    .where('issue_id', '=', incident.id)
    .where('status', '<>', 'resolved')
    .returning(['id', 'project_id'])
    .execute();
  const note = alertNotes.status('resolved', ` by closing incident #${incident.iid}`);
  await writeAlertNotes(
    tx,
    author,
    resolved.map((alert) => ({ alert, note })),
  );
}

/**
 * Holds the alert, and its incident before it where it has one, until the transaction ends: whoever closes the incident
 * holds the two in this order. Undefined when the alert is gone.
 */
export async function lockAlert(tx: Db, id: number) {
  const known = await tx.selectFrom('alerts').select('issue_id').where('id', '=', id).executeTakeFirst();
  if (known?.issue_id != null)
    await tx.selectFrom('issues').select('id').where('id', '=', known.issue_id).forNoKeyUpdate().execute();
  return tx.selectFrom('alerts').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
}
