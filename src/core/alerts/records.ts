/** What an alert is: the words for its severity and status, its row, and what a payload says before it is stored. */
import type { Selectable } from 'kysely';
import type { AlertIntegrationsTable, AlertsTable, Json } from '../../platform/db/rows.ts';

/** From the worst to what is not known. */
export const severities = ['critical', 'high', 'medium', 'low', 'info', 'unknown'] as const;
export type Severity = (typeof severities)[number];

export const statuses = ['triggered', 'acknowledged', 'resolved', 'ignored'] as const;
export type Status = (typeof statuses)[number];

/** The shapes in which alerts come: the generic one over HTTP, and that of metrics-alerting webhooks. */
export const kinds = ['http', 'metrics'] as const;
export type Kind = (typeof kinds)[number];

/** Characters; of hosts, of all together. Longer text is cut, and whole in the payload that is kept. */
export const limits = {
  title: 200,
  description: 1000,
  service: 100,
  monitoringTool: 100,
  hosts: 255,
  // Lists show these too: one that filled a payload would be there as often as there are rows.
  environmentName: 255,
  runbook: 2_000,
  query: 10_000,
  yLabel: 255,
} as const;

export type AlertRow = Selectable<AlertsTable>;
export type AlertIntegrationRow = Selectable<AlertIntegrationsTable>;

export type JsonObject = { readonly [key: string]: Json | undefined };

/** What one alert of a payload says: every text storable and cut to its limit. */
export type ParsedAlert = {
  title: string;
  description: string | null;
  severity: Severity;
  service: string | null;
  monitoringTool: string | null;
  hosts: string[];
  environmentName: string | null;
  runbook: string | null;
  query: string | null;
  yLabel: string | null;
  incidentMarkdown: string | null;
  /** SHA-1, 20 bytes; null where nothing tells occurrences of it apart. */
  fingerprint: Buffer | null;
  startedAt: Date;
  endedAt: Date | null;
  /** Whether it says that the alert is over, rather than that it fires. */
  resolves: boolean;
  /** What is kept with the alert, to be shown in its details. */
  payload: JsonObject;
};
