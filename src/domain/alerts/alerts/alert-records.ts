/** Alert records: their fields, assignees and incident. */
import { type Selectable, sql } from 'kysely';
import Type, { type Static } from 'typebox';
import {
  presentUserBasic,
  type Surroundings,
  UserBasic,
  type UserBasicRow,
  userBasicColumns,
} from '../../../kernel/users/records.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { AlertsTable } from '../../../platform/db/rows.ts';
import { dateTime, nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { type JsonObject, type Severity, type Status, severities, statuses } from './records.ts';

const text = nullable(Type.String());
const details = Type.Unsafe<JsonObject>({
  type: 'object',
  additionalProperties: true,
  description: 'The payload that came first; of one alert, not in lists.',
});

export const AlertRecord = Type.Object({
  id: Type.Integer(),
  iid: Type.Integer(),
  project_id: Type.Integer(),
  title: Type.String(),
  description: text,
  severity: stringEnum(severities),
  status: stringEnum(statuses),
  service: text,
  monitoring_tool: text,
  hosts: Type.Array(Type.String()),
  environment_name: text,
  runbook: text,
  query: nullable(Type.String({ description: 'Of the metric that the alert watches.' })),
  y_label: text,
  fingerprint: nullable(
    Type.String({ description: 'SHA-1 of what tells occurrences apart, in hexadecimal.' }),
  ),
  event_count: Type.Integer({ description: 'How often it came.' }),
  started_at: dateTime(),
  ended_at: nullable(dateTime()),
  issue_iid: nullable(Type.Integer({ description: 'The number of its incident in the project.' })),
  assignees: Type.Array(UserBasic),
  web_url: Type.String(),
  created_at: dateTime(),
  updated_at: dateTime(),
  details: Type.Optional(details),
});
export type AlertRecord = Static<typeof AlertRecord>;

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

/** The web address of an alert. */
export const alertUrl = (baseUrl: string, projectPath: string, iid: number): string =>
  `${baseUrl}/${projectPath}/-/alert_management/${iid}/details`;

type Assigned = UserBasicRow & { alert_id: number };

async function loadRelations(db: Db, rows: readonly ListedAlertRow[]) {
  const ids = rows.map(({ id }) => id);
  const issueIds = rows.flatMap(({ issue_id }) => issue_id ?? []);
  const [people, issues] = await Promise.all([
    db
      .selectFrom('alert_assignees')
      .innerJoin('users', 'users.id', 'alert_assignees.user_id')
      .select(userBasicColumns)
      .select('alert_assignees.alert_id')
      .where(sql<boolean>`alert_assignees.alert_id = any(${ids}::bigint[])`)
      .orderBy('users.id')
      .execute(),
    issueIds.length === 0
      ? []
      : db.selectFrom('issues').select(['id', 'iid']).where('id', 'in', issueIds).execute(),
  ]);
  return {
    assignees: Map.groupBy<number, Assigned>(people, ({ alert_id }) => alert_id),
    issueIids: new Map(issues.map(({ id, iid }) => [id, iid])),
  };
}

/**
 * The records of alerts, by two statements; `projectPaths` has their projects' full paths, and payloads are
 * shown where rows have them.
 */
export async function presentAlerts(
  { db, around }: { db: Db; around: Surroundings },
  rows: readonly (ListedAlertRow & { payload?: unknown })[],
  projectPaths: ReadonlyMap<number, string>,
): Promise<AlertRecord[]> {
  if (rows.length === 0) return [];
  const { assignees, issueIids } = await loadRelations(db, rows);
  return rows.map((row) => ({
    id: row.id,
    iid: row.iid,
    project_id: row.project_id,
    title: row.title,
    description: row.description,
    // The table's check constraints admit these values only.
    severity: row.severity as Severity,
    status: row.status as Status,
    service: row.service,
    monitoring_tool: row.monitoring_tool,
    hosts: row.hosts,
    environment_name: row.environment_name,
    runbook: row.runbook,
    query: row.query,
    y_label: row.y_label,
    fingerprint: row.fingerprint?.toString('hex') ?? null,
    event_count: row.events,
    started_at: row.started_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
    issue_iid: issueIids.get(row.issue_id ?? 0) ?? null,
    assignees: (assignees.get(row.id) ?? []).map((person) => presentUserBasic(around, person)),
    web_url: alertUrl(around.baseUrl, projectPaths.get(row.project_id) ?? '', row.iid),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    // Only objects are stored as payloads.
    ...(row.payload !== undefined && { details: row.payload as JsonObject }),
  }));
}
