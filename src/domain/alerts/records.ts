/** Alerts: severities, statuses, rows, and parsed payloads. */
import type { Selectable } from 'kysely';
import type { AlertIntegrationsTable, AlertsTable, Json } from '../../platform/db/rows.ts';

/** Worst first. */
export const severities = ['critical', 'high', 'medium', 'low', 'info', 'unknown'] as const;
export type Severity = (typeof severities)[number];

export const statuses = ['triggered', 'acknowledged', 'resolved', 'ignored'] as const;
export type Status = (typeof statuses)[number];

/** The formats of alerts: generic over HTTP, and metrics-alerting webhooks. */
export const kinds = ['http', 'metrics'] as const;
export type Kind = (typeof kinds)[number];

/** Characters; for hosts, of all of them. Longer text is truncated, and whole in the stored payload. */
export const limits = {
  title: 200,
  description: 1000,
  service: 100,
  monitoringTool: 100,
  hosts: 255,
  // Lists repeat these in every row, so a long one would multiply.
  environmentName: 255,
  runbook: 2_000,
  query: 10_000,
  yLabel: 255,
} as const;

export type AlertRow = Selectable<AlertsTable>;
export type AlertIntegrationRow = Selectable<AlertIntegrationsTable>;

export type JsonObject = { readonly [key: string]: Json | undefined };

/** One alert of a payload: every text storable and truncated to its limit. */
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
  /** SHA-1, 20 bytes; null where alerts are not grouped. */
  fingerprint: Buffer | null;
  startedAt: Date;
  endedAt: Date | null;
  /** Whether it is a recovery. */
  resolves: boolean;
  /** The stored payload, for the alert's details. */
  payload: JsonObject;
};
