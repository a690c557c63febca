/** Alert records: their fields, assignees and incident. */
import Type, { type Static } from 'typebox';
import { presentUserBasic, type Surroundings, UserBasic } from '../../kernel/users/records.ts';
import type { Db } from '../../platform/db/database.ts';
import { dateTime, nullable, stringEnum } from '../../platform/http/parameters/schema.ts';
import { type ListedAlertRow, loadRelations } from './queries.ts';
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

/** The web address of an alert. */
export const alertUrl = (baseUrl: string, projectPath: string, iid: number): string =>
  `${baseUrl}/${projectPath}/-/alert_management/${iid}/details`;

/**
 * The records of alerts, by one statement; `projectPaths` has their projects' full paths, and payloads are
 * shown where rows have them.
 */
export async function presentAlerts(
  { db, around }: { db: Db; around: Surroundings },
  rows: readonly (ListedAlertRow & { payload?: unknown })[],
  projectPaths: ReadonlyMap<number, string>,
): Promise<AlertRecord[]> {
  if (rows.length === 0) return [];
  const relations = await loadRelations(db, rows);
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
    issue_iid: relations.get(row.id)?.issue_iid ?? null,
    assignees: (relations.get(row.id)?.assignees ?? []).map((person) => presentUserBasic(around, person)),
    web_url: alertUrl(around.baseUrl, projectPaths.get(row.project_id) ?? '', row.iid),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    // Only objects are stored as payloads.
    ...(row.payload !== undefined && { details: row.payload as JsonObject }),
  }));
}
