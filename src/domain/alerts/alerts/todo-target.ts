/** Alerts in to-do lists: shown, and marked. */
import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { mayInProjects } from '../../../kernel/access/policy-sql.ts';
import { projectFullPath } from '../../../kernel/namespaces/rows.ts';
import { integerId } from '../../../platform/http/parameters/schema.ts';
import { type TodoTarget, todoEndpoint } from '../../conversation/index.ts';
import { presentAlerts } from '../alert-records.ts';
import { findAlert, selectAlertsById } from '../queries.ts';
import { alertKind, alertNoteable } from './alert-noteable.ts';

export const alertTodoTarget: TodoTarget = {
  type: alertKind.type,
  column: 'alert_id',
  isVisible: (actor, level) => mayInProjects('read_alerts', actor, level),
  async load({ db, services, settings }, todos, projects) {
    const ids = todos.map(({ alert_id }) => alert_id ?? 0);
    const [rows, projectsById] = await Promise.all([selectAlertsById(db, ids), projects]);
    const around = { baseUrl: services.baseUrl(), settings };
    const paths = new Map([...projectsById].map(([id, project]) => [id, projectFullPath(project)]));
    const records = await presentAlerts({ db, around }, rows, paths);
    const byId = new Map(records.map((record) => [record.id, record]));
    return ({ alert_id }) => byId.get(alert_id ?? 0);
  },
};

export const alertTodoEndpoint = todoEndpoint({
  path: '/projects/:id/alert_management_alerts/:alert_iid/todo',
  summary: 'Reminds the caller of an alert; 304 where it waits for them already.',
  access: onProject('read_alerts'),
  input: Type.Object({ alert_iid: integerId() }),
  find: async ({ db, services, settings, subject, input }) => {
    const { payload: _, ...alert } = await findAlert(db, subject, input.alert_iid);
    const around = { baseUrl: services.baseUrl(), settings };
    const paths = new Map([[subject.id, subject.fullPath]]);
    const load = async () => (await presentAlerts({ db, around }, [alert], paths))[0];
    return { noteable: alertNoteable(subject, alert), load };
  },
});
