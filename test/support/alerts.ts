/** Integrations for tests, and the requests of monitoring tools to them. */
import { createHash, randomBytes } from 'node:crypto';
import type { Sql } from '../../src/platform/db/driver/sql.ts';
import type { Called } from './app.ts';

export type Integration = { id: number; identifier: string; key: string };

/** A project's integration, active by default, whose key only the caller knows. */
export async function makeIntegration(
  sql: Sql,
  projectId: number,
  options: { kind?: 'http' | 'metrics'; active?: boolean; mapping?: unknown } = {},
): Promise<Integration> {
  const { kind = 'http', active = true, mapping } = options;
  const key = randomBytes(16).toString('hex');
  const identifier = randomBytes(8).toString('hex');
  const digest = createHash('sha256').update(key).digest();
  const [row] = await sql<{ id: number }[]>`
    insert into alert_integrations (project_id, kind, name, active, identifier, key_digest, mapping, created_at, updated_at)
    values (${projectId}, ${kind}, ${`The ${kind} one`}, ${active}, ${identifier}, ${digest},
      ${mapping === undefined ? null : sql.json(mapping)}, now(), now()) returning id`;
  if (!row) throw new Error('an insert returns its row');
  return { id: row.id, identifier, key };
}

/** Posts a payload (text as it is) to an address below the root; as a bearer of the key, where one is given. */
export async function postAlert(
  url: string,
  path: string,
  payload: unknown,
  options: { key?: string | undefined; headers?: Record<string, string> } = {},
): Promise<Called> {
  const response = await fetch(`${url}/${path}`, {
    method: 'POST',
    redirect: 'manual',
    headers: {
      'content-type': 'application/json',
      ...(options.key !== undefined && { authorization: `Bearer ${options.key}` }),
      ...options.headers,
    },
    body: typeof payload === 'string' ? payload : JSON.stringify(payload),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('application/json');
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? JSON.parse(text) : undefined,
    text,
  };
}

/** An item of a metrics payload; `status` is its own. */
export const metricsItem = (name: string, changes: Record<string, unknown> = {}) => ({
  status: 'firing',
  labels: { alertname: name, severity: 'warning' },
  annotations: { description: `About ${name}` },
  startsAt: '2026-01-01T00:00:00Z',
  endsAt: '0001-01-01T00:00:00Z',
  generatorURL: 'http://metrics.example/graph?g0.expr=up+%3D%3D+0',
  ...changes,
});

/** A payload of version 4 with these items. */
export const metricsPayload = (...alerts: readonly Record<string, unknown>[]) => ({
  version: '4',
  groupKey: '{}:{}',
  status: 'firing',
  receiver: 'ashlar',
  groupLabels: {},
  commonLabels: {},
  commonAnnotations: {},
  externalURL: 'http://metrics.example',
  alerts,
});
