/** Pages of a project's alerts, and counts by status. */
import { type SelectQueryBuilder, sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { Tables } from '../../../platform/db/rows.ts';
import { containing } from '../../../platform/db/search.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { type ListedAlertRow, listedAlertColumns } from './alert-records.ts';
import { severities } from './records.ts';
import type { AlertFilters, StatusCounts } from './schema.ts';

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
