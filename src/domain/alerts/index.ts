/** Alerts: ingested from monitoring tools, grouped, resolved, assigned, and turned into incidents. */
import { activityTargets } from '../../core/activity/targets.ts';
import type { Capability } from '../../core/capability.ts';
import type { Services } from '../../core/services.ts';
import { issueFollowUps } from '../../core/work/issue-follow-ups.ts';
import { noteables } from '../../core/work/noteable-registry.ts';
import { conversationEndpoints } from '../conversation/index.ts';
import { todoTargets } from '../todos/index.ts';
import { alertActivityTarget } from './activity-target.ts';
import { alertDefinition, alertResource } from './alert-notes.ts';
import { alertEndpoints } from './alert-routes.ts';
import { incidentFollowUp } from './incident-follow-up.ts';
import { alertMailTasks, MAIL } from './incident-mail.ts';
import { incidentSettingsEndpoints } from './incident-settings.ts';
import { incidentTask, MAKE_INCIDENT, RECOVER, recoveryTask } from './incidents.ts';
import { integrationEndpoints } from './integration-routes.ts';
import { metricImagePages } from './metric-image-pages.ts';
import { metricImageEndpoints } from './metric-image-routes.ts';
import { receiverRoutes } from './receiver.ts';
import { timelineEndpoints } from './timeline-routes.ts';
import { alertTodoEndpoint, alertTodoTarget } from './todo-target.ts';

export const alertsCapability = (services: Services): Capability => ({
  name: 'alerts',
  registrations: [
    noteables.add(alertDefinition),
    issueFollowUps.add(incidentFollowUp),
    todoTargets.add(alertTodoTarget),
    activityTargets.add(alertActivityTarget),
  ],
  endpoints: [
    ...conversationEndpoints(alertResource),
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
  async reassign(tx, userId, ghostId) {
    await tx.deleteFrom('alert_assignees').where('user_id', '=', userId).execute();
    await tx
      .updateTable('metric_images')
      .set({ author_id: ghostId })
      .where('author_id', '=', userId)
      .execute();
    await tx
      .updateTable('incident_timeline_events')
      .set({ author_id: ghostId })
      .where('author_id', '=', userId)
      .execute();
  },
});
