/** Senders without a key: nothing of theirs is parsed, and after many failures nothing is read. */
import { afterAll, expect, test } from 'vitest';
import { makeIntegration } from '../../../../test/support/alerts.ts';
import { useApp } from '../../../../test/support/app.ts';
import { makeProject } from '../../../../test/support/factories.ts';
import { moveClock, now } from '../../../platform/clock.ts';

const app = useApp({ env: { ASHLAR_TRUSTED_PROXIES: '127.0.0.1' } });
// The limit's windows are minutes: all requests here fall into one.
const back = moveClock(60_000 - (now().getTime() % 60_000));
afterAll(back);

async function post(path: string, body: string, key: string, address: string) {
  const response = await fetch(`${app.url}/${path}`, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${key}`, 'x-forwarded-for': address },
  });
  return { status: response.status, retryAfter: response.headers.get('retry-after') };
}

test('a large payload is parsed for the key only; what its bytes show is said first', async () => {
  const { id, path_with_namespace: project } = await makeProject(app);
  const { key } = await makeIntegration(app.app.services.database.sql, id);
  const path = `${project}/alerts/notify.json`;
  const broken = `{"title":"a","x":[${'0,'.repeat(40_000)}`;
  expect((await post(path, broken, 'wrong', '192.0.2.9')).status).toBe(401);
  expect((await post(path, broken, key, '192.0.2.9')).status).toBe(400);
  for (const payload of ['['.repeat(100_000), `[${'{},'.repeat(100_000)}`, ' '.repeat(1_100_000)])
    expect((await post(path, payload, 'wrong', '192.0.2.9')).status).toBe(400);
});

test('an address with very many wrong keys is refused, and no other is', async () => {
  const { id, path_with_namespace: project } = await makeProject(app);
  const { key } = await makeIntegration(app.app.services.database.sql, id);
  const path = `${project}/alerts/notify.json`;
  const statuses = new Map<number, number>();
  for (let round = 0; round < 32; round++) {
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => post(path, '{"title":"a"}', 'wrong', '192.0.2.1')),
    );
    for (const { status } of responses) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  expect([...statuses.keys()]).toEqual([401, 429]);
  expect(statuses.get(429)).toBeGreaterThanOrEqual(10);
  const refused = await post(path, '{"title":"a"}', key, '192.0.2.1');
  expect(refused).toEqual({ status: 429, retryAfter: expect.stringMatching(/^\d+$/) });
  expect((await post(path, '{"title":"a"}', key, '192.0.2.2')).status).toBe(200);
  const collector = 'api/v4/error_tracking/collector/1/store';
  expect((await post(collector.replace('collector/', 'collector/api/'), '{}', 'x', '192.0.2.1')).status).toBe(
    404,
  );
});
