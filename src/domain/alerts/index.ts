/** Alerts: ingested from monitoring tools, grouped, resolved, assigned, and turned into incidents. */

import { activityTargets } from '../../kernel/activity/targets.ts';
import type { Capability } from '../../kernel/capability.ts';
import type { Needs } from '../../kernel/services.ts';
import { noteables, todoTargets } from '../conversation/index.ts';
import { issueFollowUps } from '../work-items/index.ts';
import { alertActivityTarget } from './alerts/activity-target.ts';
import { alertConversation, alertDefinition } from './alerts/alert-notes.ts';
import { incidentSettingsEndpoints } from './alerts/incident-settings.ts';
import { alertMailTasks, MAIL } from './alerts/mail-tasks.ts';
import { alertEndpoints } from './alerts/routes.ts';
import { alertTodoEndpoint, alertTodoTarget } from './alerts/todo-target.ts';
import { incidentTask, MAKE_INCIDENT, RECOVER, recoveryTask } from './incidents/actions.ts';
import { incidentFollowUp } from './incidents/incident-follow-up.ts';
import { receiverRoutes } from './ingest/receiver.ts';
import { integrationEndpoints } from './integrations/routes.ts';
import { metricImagePages } from './metric-images/pages.ts';
import { metricImageEndpoints } from './metric-images/routes.ts';
import { reassignAlerts } from './reassign-actions.ts';
import { timelineEndpoints } from './timeline/routes.ts';

export { AlertRecord } from './alert-records.ts';
export { alertConversation } from './alerts/alert-notes.ts';
export { alertEndpoint, alertsEndpoint } from './alerts/routes.ts';
export type { MetricImageRecord } from './alerts/schema.ts';
export { alertImagesEndpoint, issueImagesEndpoint } from './metric-images/routes.ts';
export { statuses } from './records.ts';
export { timelineEndpoint } from './timeline/routes.ts';

export const alertsCapability = (
  services: Needs<
    | 'config'
    | 'database'
    | 'settings'
    | 'instance'
    | 'blobs'
    | 'features'
    | 'authenticator'
    | 'limiter'
    | 'disk'
    | 'repositories'
    | 'outbound'
    | 'registered'
    | 'log'
    | 'secretKey'
    | 'baseUrl'
    | 'wake'
  >,
): Capability => ({
  name: 'alerts',
  registrations: [
    noteables.add(alertDefinition),
    issueFollowUps.add(incidentFollowUp),
    todoTargets.add(alertTodoTarget),
    activityTargets.add(alertActivityTarget),
  ],
  endpoints: [
    ...alertConversation.all,
    ...integrationEndpoints,
    ...alertEndpoints,
    ...metricImageEndpoints,
    ...incidentSettingsEndpoints,
    ...timelineEndpoints,
    alertTodoEndpoint,
  ],
  routes: [...receiverRoutes(services), ...metricImagePages(services)],
  tasks: {
    [MAKE_INCIDENT]: incidentTask(services),
    [RECOVER]: recoveryTask(services),
    ...alertMailTasks(services),
  },
  // Each listener loads the alert itself, so that in a storm none waits for the others.
  listeners: [
    {
      fact: 'alert_created',
      task: MAKE_INCIDENT,
      when: ({ create_issue }) => create_issue === true,
      anyOrder: true,
    },
    { fact: 'alert_created', task: MAIL, when: ({ send_email }) => send_email === true, anyOrder: true },
    { fact: 'alert_recovered', task: RECOVER, anyOrder: true },
  ],
  // Rows go with their project by foreign key, assignees with their alert.
  tables: [
    'alerts',
    'alert_integrations',
    'alert_assignees',
    'incident_settings',
    'incident_timeline_events',
    'metric_images',
  ],
  unique: { alerts_open_group: { property: 'fingerprint' } },
  reassign: reassignAlerts,
});
