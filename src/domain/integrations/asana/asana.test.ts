/** Which tasks of Asana commits name, and what it is sent: a server in its place. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf } from '../../../../test/support/factories.ts';
import { startWebServer, type WebServer } from '../../../../test/support/web-server.ts';
import { siteMailer } from '../../../kernel/mail/site-mail.ts';
import { asanaDelivery, tasksIn } from './delivery.ts';

const ashlar = useApp({ still: true });
let asana: WebServer;
beforeAll(async () => {
  asana = await startWebServer((_, reply) => reply.end('{}'));
  const body = { outbound_local_requests_allowlist: ['127.0.0.1'] };
  bodyOf(await ashlar.root('PUT /application/settings', { body }), 200);
});
afterAll(() => asana.stop());

test.each<[string, [string, boolean][]]>([
  ['See #12345', [['12345', false]]],
  [
    'Fixes #12345 and closes: #23456',
    [
      ['12345', true],
      ['23456', true],
    ],
  ],
  ['#12345, later fix #12345', [['12345', true]]],
  ['Close https://app.asana.com/0/111/22222/f', [['22222', true]]],
  ['issue #7, a#12345 ##12345 prefix #12345x', []],
])('%j', (message, tasks) => {
  expect([...tasksIn(message)]).toEqual(tasks);
});

const event = {
  flag: 'push_events' as const,
  body: {
    ref: 'refs/heads/main',
    user_name: 'Ada',
    project: { path_with_namespace: 'g/p' },
    commits: [{ message: 'Fix #12345', url: 'https://ashlar.example/c' }],
  },
};

test('a task is completed and commented on, by the key', async () => {
  const delivery = asanaDelivery(asana.url);
  const [prepared, ...others] = await delivery.prepare(event, { restrict_to_branch: 'other, main' });
  expect(others).toEqual([]);
  const { services } = ashlar.app;
  await delivery.send(
    { ...services, mailer: siteMailer(services), ending: new AbortController().signal },
    prepared ?? null,
    { api_key: 'a-key' },
    'one',
  );
  expect(asana.received.map(({ method, path, body }) => [method, path, JSON.parse(body)])).toEqual([
    ['PUT', '/api/1.0/tasks/12345', { data: { completed: true } }],
    [
      'POST',
      '/api/1.0/tasks/12345/stories',
      { data: { text: 'Ada pushed to branch main of g/p (https://ashlar.example/c):\nFix #12345' } },
    ],
  ]);
  expect(asana.received[0]?.headers.authorization).toBe('Bearer a-key');
});

test('other branches than those that are named are not told', async () => {
  expect(await asanaDelivery(asana.url).prepare(event, { restrict_to_branch: 'other' })).toEqual([]);
});
