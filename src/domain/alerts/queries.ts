/** Pages of a project's alerts, and counts by status. */
import { type Selectable, type SelectQueryBuilder, sql } from 'kysely';
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import { peopleColumns } from '../../kernel/users/queries.ts';
import type { UserBasicRow } from '../../kernel/users/records.ts';
import type { Db } from '../../platform/db/database.ts';
import type { AlertsTable, Tables } from '../../platform/db/rows.ts';
import { containing } from '../../platform/db/search.ts';
import { notFound } from '../../platform/failure.ts';
import { type Page, type PageRequest, selectPage } from '../../platform/pagination/page.ts';
import type { AlertFilters, StatusCounts } from './alerts/schema.ts';
import { LOGGED, logged } from './incidents/links.ts';
import { type AlertRow, severities } from './records.ts';

const words = (list: readonly string[]): string => `array[${list.map((word) => `'${word}'`).join(',')}]`;

/** The worst severity sorts last, and so does the status that most needs work. */
const columns = {
  id: 'alerts.id',
  // Numbers are given in the order of arrival, and have an index.
  created_at: 'alerts.iid',
  iid: 'alerts.iid',
  updated_at: 'alerts.updated_at',
  started_at: 'alerts.started_at',
  event_count: 'alerts.events',
  severity: `array_position(${words(severities.toReversed())}, alerts.severity)`,
  status: `array_position(${words(['ignored', 'resolved', 'acknowledged', 'triggered'])}, alerts.status)`,
};

function within<O>(
  query: SelectQueryBuilder<Tables, 'alerts', O>,
  projectId: number,
  filters: AlertFilters,
): SelectQueryBuilder<Tables, 'alerts', O> {
  const { severity, status, search, assignee_username, iids, issue_iid } = filters;
  let kept = query.where('alerts.project_id', '=', projectId);
  if (severity?.length) kept = kept.where('alerts.severity', 'in', severity);
  if (status?.length) kept = kept.where('alerts.status', 'in', status);
  if (iids?.length) kept = kept.where('alerts.iid', 'in', iids);
  if (issue_iid !== undefined)
    kept = kept.where(
      sql<boolean>`alerts.issue_id = (select id from issues where project_id = ${projectId} and iid = ${issue_iid})`,
    );
  if (search)
    kept = kept.where((where) =>
      where.or(
        (['title', 'description', 'service', 'monitoring_tool'] as const).map((column) =>
          where(`alerts.${column}`, 'ilike', containing(search)),
        ),
      ),
    );
  if (assignee_username !== undefined)
    kept = kept.where(sql<boolean>`exists (
      select from alert_assignees a join users u on u.id = a.user_id
      where a.alert_id = alerts.id and lower(u.username) collate "C" = ${assignee_username.toLowerCase()})`);
  return kept;
}

/** A page of alerts without their payloads. */
export const selectAlerts = (
  db: Db,
  projectId: number,
  filters: AlertFilters,
  order: { by: keyof typeof columns; sort: 'asc' | 'desc' },
  page: PageRequest,
): Promise<Page<ListedAlertRow>> =>
  selectPage(
    db,
    within(db.selectFrom('alerts'), projectId, filters).select(listedAlertColumns),
    page,
    order,
    columns,
  );

/** The number of alerts by status, after the filters. */
export async function countAlerts(db: Db, projectId: number, filters: AlertFilters): Promise<StatusCounts> {
  const rows = await within(db.selectFrom('alerts'), projectId, filters)
    .select(['alerts.status', (eb) => eb.fn.countAll<number>().as('count')])
    .groupBy('alerts.status')
    .execute();
  const counted = new Map(rows.map(({ status, count }) => [status, Number(count)]));
  const of = (status: string): number => counted.get(status) ?? 0;
  const [triggered, acknowledged, resolved, ignored] = [
    of('triggered'),
    of('acknowledged'),
    of('resolved'),
    of('ignored'),
  ];
  const open = triggered + acknowledged;
  return { triggered, acknowledged, resolved, ignored, open, all: open + resolved + ignored };
}

/**
 * Whether an alert has this note at this time, that of its arrival unless another is given: an alert may recover in the
 * moment of its arrival.
 */
export const isLogged = (what: keyof typeof logged, at: unknown = sql`alerts.created_at`) =>
  sql<boolean>`exists (select from notes n where n.alert_id = alerts.id and n.created_at = ${at}
    and n.system_action = ${LOGGED} and n.body like ${`${logged[what]} %`})`;

/** An alert, and whether its notes begin with its source. */
export type FoundAlert = AlertRow & { is_logged: boolean };

/** The alert of the project by its number; 404 without one. */
export async function findAlert(db: Db, project: AuthorizedProject, iid: number): Promise<FoundAlert> {
  const alert = await db
    .selectFrom('alerts')
    .selectAll()
    .select(isLogged('alert').as('is_logged'))
    .where('project_id', '=', project.id)
    .where('iid', '=', iid)
    .executeTakeFirst();
  if (!alert) throw notFound('Alert');
  return alert;
}

/** The columns of a list: payloads may be large, and only single alerts show them. */
export const listedAlertColumns = [
  'alerts.id',
  'alerts.iid',
  'alerts.project_id',
  'alerts.issue_id',
  'alerts.title',
  'alerts.description',
  'alerts.severity',
  'alerts.status',
  'alerts.service',
  'alerts.monitoring_tool',
  'alerts.hosts',
  'alerts.environment_name',
  'alerts.runbook',
  'alerts.query',
  'alerts.y_label',
  'alerts.fingerprint',
  'alerts.events',
  'alerts.started_at',
  'alerts.ended_at',
  'alerts.created_at',
  'alerts.updated_at',
] as const;

type Column<Name> = Name extends `alerts.${infer Plain extends keyof Selectable<AlertsTable>}`
  ? Plain
  : never;

export type ListedAlertRow = Pick<Selectable<AlertsTable>, Column<(typeof listedAlertColumns)[number]>>;

export type AlertRelations = { id: number; issue_iid: number | null; assignees: UserBasicRow[] };

/** The assignees of the alerts and the numbers of their incidents, by the alerts' ids. */
export async function loadRelations(
  db: Db,
  rows: readonly ListedAlertRow[],
): Promise<Map<number, AlertRelations>> {
  const ids = rows.map(({ id }) => id);
  const { rows: relations } = await sql<AlertRelations>`
    select a.id, i.iid as issue_iid, (select coalesce(jsonb_agg(to_jsonb(p) order by p.id), '[]') from (
      select ${peopleColumns} from alert_assignees s join users u on u.id = s.user_id where s.alert_id = a.id) p) as assignees
    from alerts a left join issues i on i.id = a.issue_id where a.id = any(${ids}::bigint[])`.execute(db);
  return new Map(relations.map((each) => [each.id, each]));
}

/** Alerts by their ids, without their payloads. */
export const selectAlertsById = (db: Db, ids: readonly number[]): Promise<ListedAlertRow[]> =>
  db.selectFrom('alerts').select(listedAlertColumns).where('alerts.id', 'in', ids).execute();
