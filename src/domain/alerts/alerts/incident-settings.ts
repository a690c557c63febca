/** Endpoints of a project's incident settings: incidents of alerts, mail, and automatic closing. */
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint } from '../../../kernel/api/endpoint.ts';
import { changeSettings, columns, selectSettings } from './incident-settings-actions.ts';
import { ChangeIncidentSettings, IncidentSettingsRecord } from './schema.ts';

const path = '/projects/:id/incident_management_settings';

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
