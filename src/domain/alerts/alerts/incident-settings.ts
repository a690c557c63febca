/** Endpoints of a project's incident settings: incidents of alerts, mail, and automatic closing. */
import { onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { announce } from '../../../kernel/activity/announce.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { type Endpoint, endpoint } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { ChangeIncidentSettings, IncidentSettingsRecord } from './schema.ts';

const path = '/projects/:id/incident_management_settings';

/** Settings of a project without a row (facts: Alerts, incident settings). */
const defaults: IncidentSettingsRecord = {
  create_issue: false,
  issue_template_key: null,
  send_email: false,
  auto_close_incident: true,
};
const columns = ['create_issue', 'issue_template_key', 'send_email', 'auto_close_incident'] as const;

const selectSettings = async (db: Db, projectId: number): Promise<IncidentSettingsRecord> =>
  (await db
    .selectFrom('incident_settings')
    .select(columns)
    .where('project_id', '=', projectId)
    .executeTakeFirst()) ?? defaults;

const changeSettings = (
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  changes: Partial<IncidentSettingsRecord>,
): Promise<IncidentSettingsRecord> =>
  inTransaction(db, async (tx) => {
    const set = { ...changes, updated_at: now() };
    const settings = await tx
      .insertInto('incident_settings')
      .values({ project_id: project.id, ...defaults, ...set })
      .onConflict((known) => known.column('project_id').doUpdateSet(set))
      .returning(columns)
      .executeTakeFirstOrThrow();
    await announce(tx, {
      author: actor,
      audit: {
        entity: { type: 'Project', id: project.id, path: project.fullPath },
        event: 'incident_management_settings_updated',
        details: { change: Object.keys(changes).join(', ') },
      },
    });
    return settings;
  });

export const incidentSettingsEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path,
    summary: 'What becomes of alerts in a project.',
    access: onProject('update_project'),
    reply: IncidentSettingsRecord,
    handle: ({ db, subject }) => selectSettings(db, subject.id),
  }),
  endpoint({
    method: 'PUT',
    path,
    summary: 'Changes what becomes of alerts in a project; what is not sent stays as it is.',
    access: onProject('manage_alert_integrations'),
    input: ChangeIncidentSettings,
    reply: IncidentSettingsRecord,
    handle: async ({ db, actor, subject, input }) => {
      const changes = Object.fromEntries(
        columns.flatMap((name) => (input[name] === undefined ? [] : [[name, input[name]]])),
      );
      return changeSettings(db, actor, subject, changes);
    },
  }),
];
