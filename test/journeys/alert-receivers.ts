/** A project that takes alerts in a running program, and the alerts that it acknowledged. */
import { ok } from 'node:assert/strict';
import type { Program } from './support.ts';
import { ROOT_TOKEN } from './support.ts';

export type Receiver = { projectId: number; url: string; key: string };

/** A new project of root's with an active integration, as its maintainer sees it. */
export async function makeReceiver(
  program: Program,
  name: string,
  type: 'http' | 'metrics',
): Promise<Receiver> {
  const project = (await (await program.root('POST /projects', { name })).json()) as { id: number };
  const made = await program.root(`POST /projects/${project.id}/alert_management_integrations`, {
    name: 'Monitoring',
    type,
    active: true,
  });
  ok(made.status === 201, await made.clone().text());
  const { url, key } = (await made.json()) as { url: string; key: string };
  return { projectId: project.id, url, key };
}

export type ShownAlert = {
  iid: number;
  title: string;
  description: string | null;
  severity: string;
  status: string;
  query: string | null;
  event_count: number;
  ended_at: string | null;
};

/** All alerts of the project, read by keyset to their end. */
export async function alertsOf(program: Program, { projectId }: Receiver): Promise<ShownAlert[]> {
  const alerts: ShownAlert[] = [];
  const query = 'pagination=keyset&order_by=id&sort=asc&per_page=100';
  let link: string | undefined =
    `${program.url}/api/v4/projects/${projectId}/alert_management_alerts?${query}`;
  for (let page = 0; link !== undefined && page < 1_000; page++) {
    const response = await fetch(link, { headers: { 'private-token': ROOT_TOKEN } });
    ok(response.status === 200, `${link}: ${response.status}`);
    alerts.push(...((await response.json()) as ShownAlert[]));
    link = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
  }
  return alerts;
}
