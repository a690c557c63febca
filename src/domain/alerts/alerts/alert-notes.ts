/** Alerts as noteables: their notes over the API. */
import { onProject } from '../../../kernel/access/access.ts';
import { forbidden } from '../../../platform/failure.ts';
import { integerId } from '../../../platform/http/parameters/schema.ts';
import {
  conversationEndpoints,
  type NoteableDefinition,
  plainQuickActions,
  projectOf,
  textRules,
} from '../../conversation/index.ts';
import { beginLog } from '../incidents/link-actions.ts';
import { findAlert } from '../queries.ts';
import { alertKind, alertNoteable } from './alert-noteable.ts';

export const alertConversation = conversationEndpoints({
  path: '/projects/:id/alert_management_alerts/:noteable_id',
  noun: 'an alert',
  noteable: integerId({ description: 'The number of the alert in the project.' }),
  read: onProject('read_alerts'),
  write: onProject('create_notes'),
  notes: true,
  awards: undefined,
  internal: false,
  resolvable: false,
  positioned: false,
  find: async ({ db, services, settings, request }, home, named) => {
    const project = projectOf(home);
    if (!project.may('read_alerts')) throw forbidden();
    const alert = await findAlert(db, project, Number(named));
    // Reading goes on without the log while nothing can be written.
    const writes = !settings.maintenance_mode && services.disk.problem() === undefined;
    if (request.method !== 'DELETE' && writes) await beginLog(db, alert);
    return alertNoteable(project, alert);
  },
});

export const alertDefinition: NoteableDefinition = {
  kind: alertKind,
  quickActions: plainQuickActions(textRules),
};
