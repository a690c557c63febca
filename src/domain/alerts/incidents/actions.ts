/** Creates incidents of alerts, by settings or on request, and closes them when their alerts end. */

import { sql } from 'kysely';
import { type AuthorizedProject, reachProject } from '../../../kernel/access/find.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { badRequest, Failure, notFound } from '../../../platform/failure.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import { type ActorContext, newDiscussionId } from '../../conversation/index.ts';
import { readTemplate } from '../../repositories/index.ts';
import { type CreatedIssue, closeIssue, created, insertIssue, prepareIssue } from '../../work-items/index.ts';
import { alertUrl } from '../alert-records.ts';
import { isLogged } from '../queries.ts';
import type { AlertRow } from '../records.ts';
import { writeTimeline } from '../timeline/entry-actions.ts';
import { alertBot } from './bot-actions.ts';
import { integrationName, lockAlert, writeAlertNotes } from './link-actions.ts';
import { alertNotes, plain, sourceOf } from './links.ts';
import { incidentDescription, incidentSeverity } from './text.ts';

export const MAKE_INCIDENT = 'alerts.incident';
export const RECOVER = 'alerts.recovered';

async function templateFor(
  { db, services }: ActorContext,
  project: AuthorizedProject,
): Promise<string | null> {
  const settings = await db
    .selectFrom('incident_settings')
    .select('issue_template_key')
    .where('project_id', '=', project.id)
    .executeTakeFirst();
  const key = settings?.issue_template_key;
  return key ? ((await readTemplate(services, project, 'issues', (name) => name === key)) ?? null) : null;
}

/**
 * Creates the alert's incident, if the locked alert still needs one. Quick actions of the template run as far
 * as they concern a new incident; text of the alert never runs as a command.
 */
async function makeIncident(
  context: ActorContext,
  project: AuthorizedProject,
  alert: AlertRow,
  isWanted: (alert: AlertRow) => boolean,
): Promise<CreatedIssue | undefined> {
  const { db, services, actor } = context;
  const url = alertUrl(services.baseUrl(), project.fullPath, alert.iid);
  const prepare = (template: string | null) =>
    prepareIssue(
      context,
      project,
      {
        title: alert.title,
        description: template,
        issue_type: 'incident',
        severity: incidentSeverity(alert),
        labels: ['incident'],
      },
      (text) => incidentDescription(alert, url, text),
    );
  const plan = await prepare(await templateFor(context, project)).catch((error: unknown) => {
    // A faulty template must not prevent the incident.
    if (error instanceof Failure && error.kind === 'bad_request') return prepare(null);
    throw error;
  });
  return inTransaction(db, async (tx) => {
    const held = await lockAlert(tx, alert.id);
    if (!held || !isWanted(held)) return undefined;
    const { prepared, labels } = (await plan.createLabels?.(tx)) ?? plan;
    // A template cannot change the type.
    const incident = { ...prepared, issueType: 'incident' };
    const inserted = await insertIssue(tx, { actor, project, issue: incident });
    const { issue } = inserted;
    await ahead(tx)
      .updateTable('alerts')
      .set({ issue_id: issue.id, updated_at: now() })
      .where('id', '=', alert.id)
      .execute();
    await writeTimeline(tx, issue, actor, [
      {
        action: 'alert',
        note: `alert **${plain(alert.title)}** was triggered`,
        occurredAt: alert.started_at,
      },
    ]);
    await writeAlertNotes(tx, actor, [{ alert, note: alertNotes.incident(`#${issue.iid}`) }]);
    return created(project, inserted, { prepared, labels });
  });
}

/** Creates an incident by the caller; 400 when the alert has one, 404 when the alert is gone. */
export async function createIncident(
  context: ActorContext,
  project: AuthorizedProject,
  alert: AlertRow,
): Promise<CreatedIssue> {
  const incident = await makeIncident(context, project, alert, ({ issue_id }) => {
    if (issue_id !== null) throw badRequest('An issue already exists');
    return true;
  });
  if (!incident) throw notFound('Alert');
  return incident;
}

const selectAlert = (db: Db, id: number): Promise<AlertRow | undefined> =>
  db.selectFrom('alerts').selectAll().where('id', '=', id).executeTakeFirst();

/** The payload of the facts. */
type AlertFact = { project_id: number; alert_id: number; auto_close?: boolean; fact_at: string };

type IncidentServices = Needs<
  | 'config'
  | 'database'
  | 'limiter'
  | 'repositories'
  | 'outbound'
  | 'registered'
  | 'log'
  | 'secretKey'
  | 'baseUrl'
  | 'wake'
>;

/** The task that creates the incident of a new alert; none for one that has an incident, or is resolved. */
export function incidentTask(services: IncidentServices): Task {
  const { background: db, points } = services.database;
  return async (payload) => {
    // Written by the statement in domain/alerts/ingest/ingest-actions.ts.
    const { project_id, alert_id } = payload as AlertFact;
    const project = await reachProject(points, project_id);
    const alert = await selectAlert(db, alert_id);
    const isWanted = (each: AlertRow) => each.issue_id === null && each.status !== 'resolved';
    if (!project?.may('create_issues') || !alert || !isWanted(alert)) return;
    const actor = await inTransaction(db, alertBot);
    await makeIncident({ db, services, actor }, project, alert, isWanted);
    services.wake();
  };
}

/**
 * The task that adds system notes to an ended alert, and closes its incident where the project's settings say
 * so.
 */
export function recoveryTask(services: IncidentServices): Task {
  const { background: db, points } = services.database;
  return async (payload) => {
    // As above.
    const { project_id, alert_id, auto_close, fact_at } = payload as AlertFact;
    const project = await reachProject(points, project_id);
    if (!project) return;
    await inTransaction(db, async (tx) => {
      const actor = await alertBot(tx);
      const at = new Date(fact_at);
      const alert = await lockAlert(tx, alert_id, isLogged('recovery', at));
      // The task may run twice.
      if (!alert || alert.is_logged) return;
      const source = sourceOf(alert, await integrationName(tx, alert));
      const notes = [alertNotes.recovered(source), alertNotes.status('resolved')];
      await writeAlertNotes(
        tx,
        actor,
        notes.map((note) => ({ alert, note, createdAt: at })),
      );
      if (alert.issue_id === null) return;
      const incident = { id: alert.issue_id, project_id };
      const entry = { action: 'alert', note: `alert **${plain(alert.title)}** recovered` } as const;
      await writeTimeline(tx, incident, actor, [{ ...entry, occurredAt: alert.ended_at ?? at }]);
      // A member may have reopened the alert meanwhile.
      if (auto_close && alert.status === 'resolved' && project.may('update_issues'))
        await closeIssue({ db: tx, services, actor }, tx, project, incident.id);
    });
    services.wake();
  };
}

/** Resolves the alerts of an incident that was closed. */
export async function resolveAlertsOf(
  tx: Db,
  author: { id: number },
  incident: { id: number; iid: number },
): Promise<void> {
  const time = now();
  const { action, body } = alertNotes.status('resolved', ` by closing incident #${incident.iid}`);
  await sql`
    with resolved as (update alerts set status = 'resolved', ended_at = ${time}, updated_at = ${time}
      where issue_id = ${incident.id} and status <> 'resolved' returning id, project_id)
    insert into notes (alert_id, project_id, author_id, body, discussion_id, system_action, created_at, updated_at)
    select id, project_id, ${author.id}, ${body}, left(encode(sha256((id || ${newDiscussionId()}::text)::bytea), 'hex'), 40),
      ${action}, ${time}, ${time} from resolved`.execute(ahead(tx));
}
