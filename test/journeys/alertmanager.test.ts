/** Debian's Alertmanager, configured by its own file only: fires and resolves, and loses nothing while we are away. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { alertsOf, makeReceiver, type Receiver } from './alert-receivers.ts';
import { cleanUp, freePort, makeFolder, startProgram } from './support.ts';

const ALERTMANAGER = '/usr/bin/prometheus-alertmanager';

const children: ChildProcess[] = [];
afterAll(async () => {
  for (const child of children) if (child.kill('SIGTERM')) await once(child, 'exit');
  await cleanUp();
});

/** A port of the loopback address that nothing listens on. */
const configuration = ({ url, key }: Receiver): string => `
route:
  receiver: ashlar
  group_by: [service]
  group_wait: 200ms
  group_interval: 1s
  repeat_interval: 3s
receivers:
  - name: ashlar
    webhook_configs:
      - url: ${url}
        send_resolved: true
        http_config:
          authorization:
            credentials: ${key}
`;

type Fired = { name: string; service: string; severity?: string; startsAt: Date; endsAt?: Date };
type Tool = { send(...alerts: readonly Fired[]): Promise<void>; output(): string };

/** Runs it with the receiver in its file; resolves when it is ready. */
async function startAlertmanager(receiver: Receiver): Promise<Tool> {
  if (!existsSync(ALERTMANAGER))
    throw new Error(`no ${ALERTMANAGER}: install the Debian package prometheus-alertmanager`);
  const folder = makeFolder();
  const file = join(folder, 'alertmanager.yml');
  writeFileSync(file, configuration(receiver));
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    ALERTMANAGER,
    [
      `--config.file=${file}`,
      `--storage.path=${join(folder, 'storage')}`,
      `--web.listen-address=${address}`,
      '--cluster.listen-address=',
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  children.push(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-20_000);
    });
  const ready = () =>
    fetch(`http://${address}/-/ready`).then(
      ({ status }) => status,
      () => said,
    );
  await expect.poll(ready, { timeout: 20_000 }).toBe(200);
  return {
    output: () => said,
    async send(...alerts) {
      const body = alerts.map(({ name, service, severity, startsAt, endsAt }) => ({
        labels: { alertname: name, service, ...(severity !== undefined && { severity }) },
        annotations: { description: `About ${name}`, runbook: 'https://example.com/run' },
        generatorURL: 'http://metrics.example/graph?g0.expr=up+%3D%3D+0&g0.tab=1',
        startsAt,
        ...(endsAt && { endsAt }),
      }));
      const response = await fetch(`http://${address}/api/v2/alerts`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      expect(response.status, await response.text()).toBe(200);
    },
  };
}

test('alerts that Alertmanager sends are grouped and resolved, and none is lost while nobody takes them', async () => {
  // The same address after a restart: it is in the other's file.
  const env = { ASHLAR_PORT: String(await freePort()) };
  let program = await startProgram({ env });
  const receiver = await makeReceiver(program, 'Watched', 'metrics');
  expect(receiver.url).toBe(`${program.url}/root/watched/metrics/alerts/notify.json`);
  // The configuration of existing tools works unchanged.
  const tool = await startAlertmanager({
    ...receiver,
    url: receiver.url.replace('/metrics/', '/prometheus/'),
  });
  const states = async (): Promise<Record<string, string[]>> => {
    const shown: Record<string, string[]> = {};
    for (const { title, status } of await alertsOf(program, receiver))
      shown[title] = [...(shown[title] ?? []), status];
    return shown;
  };
  const expectStates = (expected: Record<string, string>) =>
    expect
      .poll(states, { timeout: 60_000, message: tool.output() })
      .toEqual(Object.fromEntries(Object.entries(expected).map(([title, status]) => [title, [status]])));

  const startsAt = new Date(Date.now() - 60_000);
  const disk = { name: 'DiskFull', service: 'database', severity: 'page', startsAt };
  const slow = { name: 'Slow', service: 'database', severity: 'warning', startsAt };
  const down = { name: 'Down', service: 'web', startsAt };
  await tool.send(disk, slow, down);
  await expectStates({ DiskFull: 'triggered', Slow: 'triggered', Down: 'triggered' });
  const [first] = (await alertsOf(program, receiver)).filter(({ title }) => title === 'DiskFull');
  expect(first).toMatchObject({ severity: 'high', description: 'About DiskFull', query: 'up == 0' });

  // It repeats the alert now and then, and that is counted.
  const seen = async (): Promise<number> =>
    (await alertsOf(program, receiver)).find(({ title }) => title === 'Down')?.event_count ?? 0;
  await expect.poll(seen, { timeout: 60_000 }).toBeGreaterThan(1);

  // While nothing listens, one is resolved and another fires.
  await program.stop();
  const late = { name: 'Late', service: 'web', startsAt: new Date() };
  await tool.send({ ...disk, endsAt: new Date() }, late);
  await expect.poll(tool.output, { timeout: 60_000 }).toContain('connection refused');
  program = await startProgram({ data: program.data, env });
  await expectStates({ DiskFull: 'resolved', Slow: 'triggered', Down: 'triggered', Late: 'triggered' });

  // In maintenance it gets 503, and retries.
  const maintain = async (maintenance_mode: boolean): Promise<void> => {
    const response = await program.root('PUT /application/settings', { maintenance_mode });
    expect(response.status, await response.text()).toBe(200);
  };
  await maintain(true);
  const over = { endsAt: new Date() };
  await tool.send({ ...slow, ...over }, { ...down, ...over }, { ...late, ...over });
  await expect.poll(tool.output, { timeout: 60_000 }).toContain('503');
  expect((await states()).Down).toEqual(['triggered']);
  await maintain(false);
  await expectStates({ DiskFull: 'resolved', Slow: 'resolved', Down: 'resolved', Late: 'resolved' });

  // The same alert after its end is a new one.
  await tool.send({ ...disk, startsAt: new Date() });
  await expect
    .poll(async () => (await states()).DiskFull, { timeout: 60_000 })
    .toEqual(['resolved', 'triggered']);
  expect((await program.stop()).code).toBe(0);
});
