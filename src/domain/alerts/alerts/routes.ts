/** Endpoints of alerts (facts: Alerts; the paths are our own). */
import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { type Context, type Endpoint, endpoint, found, listing } from '../../../kernel/api/endpoint.ts';
import { forbidden } from '../../../platform/failure.ts';
import type { KeysetRule } from '../../../platform/pagination/pagination.ts';
import { IssueRecord, presentCreated } from '../../work-items/index.ts';
import { AlertRecord, presentAlerts } from '../alert-records.ts';
import { createIncident } from '../incidents/actions.ts';
import { countAlerts, findAlert, type ListedAlertRow, selectAlerts } from '../queries.ts';
import { updateAlert } from './actions.ts';
import { alertFilters, alertIid, ListAlerts, StatusCounts, UpdateAlert } from './schema.ts';

const alertsPath = '/projects/:id/alert_management_alerts';
const alertPath = `${alertsPath}/:alert_iid` as const;

const byId: KeysetRule = {
  type: 'Alert',
  orderBy: { id: 'integer', iid: 'integer' },
  sort: ['asc', 'desc'],
  anonymous: false,
  signedIn: true,
  default: { orderBy: 'id', sort: 'desc' },
  link: 'cursor',
};

type Presenting = Pick<Context<unknown, unknown, Caller>, 'db' | 'services' | 'settings'>;

const present = (
  { db, services, settings }: Presenting,
  project: AuthorizedProject,
  rows: readonly ListedAlertRow[],
): Promise<AlertRecord[]> =>
  presentAlerts(
    { db, around: { baseUrl: services.baseUrl(), settings } },
    rows,
    new Map([[project.id, project.fullPath]]),
  );

async function presentOne(
  context: Presenting,
  project: AuthorizedProject,
  row: ListedAlertRow,
): Promise<AlertRecord> {
  const [record] = await present(context, project, [row]);
  return found(record, 'Alert');
}

export const alertsEndpoint = listing({
  method: 'GET',
  path: alertsPath,
  summary: 'Alerts of a project, newest first, without their payloads.',
  access: onProject('read_alerts'),
  page: byId,
  input: ListAlerts,
  item: AlertRecord,
  handle: async (context) => {
    const { db, subject, input, page } = context;
    const { order_by: by = 'created_at', sort = 'desc', status = [], statuses = [], ...filters } = input;
    const requested = { ...filters, status: [...status, ...statuses] };
    const alerts = await selectAlerts(db, subject.id, requested, { by, sort }, page);
    return { ...alerts, items: await present(context, subject, alerts.items) };
  },
});

export const alertEndpoint = endpoint({
  method: 'GET',
  path: alertPath,
  summary: 'One alert with its payload.',
  access: onProject('read_alerts'),
  input: Type.Object(alertIid),
  reply: AlertRecord,
  handle: async (context) => {
    const { db, subject, input } = context;
    return presentOne(context, subject, await findAlert(db, subject, input.alert_iid));
  },
});

export const alertEndpoints: Endpoint[] = [
  alertsEndpoint,
  endpoint({
    method: 'GET',
    path: `${alertsPath}/status_counts`,
    summary: 'How many alerts of a project have each status.',
    access: onProject('read_alerts'),
    input: Type.Object(alertFilters),
    reply: StatusCounts,
    handle: ({ db, subject, input }) => countAlerts(db, subject.id, input),
  }),
  alertEndpoint,
  endpoint({
    method: 'PUT',
    path: alertPath,
    summary: 'Changes the status of an alert, and who is to work on it.',
    access: onProject('manage_alerts'),
    input: UpdateAlert,
    reply: AlertRecord,
    handle: async (context) => {
      const { db, subject, input } = context;
      const { alert_iid, ...changes } = input;
      const alert = await findAlert(db, subject, alert_iid);
      return presentOne(context, subject, await updateAlert(context, subject, alert, changes));
    },
  }),
  endpoint({
    method: 'POST',
    path: `${alertPath}/issue`,
    summary: 'Makes an incident of an alert; 400 where it has one.',
    access: onProject('manage_alerts'),
    input: Type.Object(alertIid),
    reply: IssueRecord,
    handle: async (context) => {
      const { db, subject, input } = context;
      if (!subject.may('create_issues')) throw forbidden();
      const alert = await findAlert(db, subject, input.alert_iid);
      return presentCreated(context, await createIncident(context, subject, alert));
    },
  }),
];
