/** Events reach chat services: a real receiver, over HTTP. */
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeGroup,
  type MadeProject,
  makeGroup,
  makeProject,
} from '../../../../test/support/factories.ts';
import { useHookReceiver } from '../../../../test/support/hooks.ts';
import { waitForMail } from '../../../../test/support/mailbox.ts';
import { fillProject } from '../../../../test/support/repositories.ts';
import { startWebServer, type WebServer } from '../../../../test/support/web-server.ts';
import { pauseAfter } from './sender.ts';

const ashlar = useApp();
const receiver = useHookReceiver(ashlar);
let group: MadeGroup;
let project: MadeProject;
let failing: WebServer;
let failures = 0;

beforeAll(async () => {
  group = await makeGroup(ashlar);
  project = await makeProject(ashlar, { namespace_id: group.id });
  failing = await startWebServer((_, reply) => {
    reply.statusCode = failures-- > 0 ? 503 : 200;
    reply.end();
  });
});
afterAll(() => failing.stop());
beforeEach(() => receiver.clear());

const set = async (path: string, body: object) => bodyOf(await ashlar.root(`PUT ${path}`, { body }), 200);
const open = async (at: { id: number }, body: object) =>
  bodyOf(await ashlar.root(`POST /projects/${at.id}/issues`, { body }), 201);
const received = () =>
  receiver.received().map(({ path, body }) => ({ path, body: JSON.parse(body) as Record<string, unknown> }));

test('each service is told once of an issue, by the secrets and channels that it has', async () => {
  const own = await makeProject(ashlar, { namespace_id: group.id });
  const path = `/projects/${own.id}/integrations`;
  const webhook = (name: string) => ({ webhook: `${receiver.url}/${name}` });
  await set(`${path}/slack`, { ...webhook('slack'), issue_channel: 'one, two' });
  await set(`${path}/mattermost`, { ...webhook('mattermost'), issues_events: false });
  await set(`${path}/discord`, { ...webhook('discord'), issue_channel: `${receiver.url}/discord-issues` });
  await set(`${path}/microsoft-teams`, webhook('teams'));
  await set(`${path}/webex-teams`, webhook('webex'));
  await set(`${path}/telegram`, { token: '1:secret', room: '@stones', hostname: receiver.url });
  const issue = await open(own, { title: 'Granite', description: 'Heavy' });

  await expect.poll(() => received().length, { timeout: 10_000 }).toBe(6);
  const sent = received();
  expect(sent.map((each) => each.path).sort()).toEqual([
    '/bot1:secret/sendMessage',
    '/discord-issues',
    '/slack',
    '/slack',
    '/teams',
    '/webex',
  ]);
  const slack = sent.filter((each) => each.path === '/slack').map(({ body }) => body);
  expect(slack.map(({ channel }) => channel)).toEqual(['one', 'two']);
  expect(slack[0]?.text).toBe(
    `<${issue.web_url}|Administrator (root) opened issue #${issue.iid}: Granite in ${own.path_with_namespace}>`,
  );
  expect(slack[0]?.attachments).toMatchObject([{ text: 'Heavy' }]);
});

test("a group's is told of its projects, until one turns it off; a hook is told as well", async () => {
  const [loud, quiet] = [
    await makeProject(ashlar, { namespace_id: group.id }),
    await makeProject(ashlar, { namespace_id: group.id }),
  ];
  await set(`/groups/${group.id}/integrations/slack`, { webhook: `${receiver.url}/group` });
  expect((await ashlar.root(`DELETE /projects/${quiet.id}/integrations/slack`)).status).toBe(204);
  await receiver.listen(ashlar, `/projects/${loud.id}`, { issues_events: true });
  await open(quiet, { title: 'Unheard' });
  await open(loud, { title: 'Heard' });
  await expect.poll(() => received().length, { timeout: 10_000 }).toBe(2);
  expect(new Set(received().map(({ path }) => path))).toEqual(new Set(['/group', `/projects/${loud.id}`]));
  expect(received().find(({ path }) => path === '/group')?.body.text).toContain('Heard');
  expect(JSON.stringify(received())).not.toContain('Unheard');
  expect((await ashlar.root(`DELETE /groups/${group.id}/integrations/slack`)).status).toBe(204);
});

test('what is confidential is told where that is wanted, to a channel of its own', async () => {
  const path = `/projects/${project.id}/integrations`;
  await set(`${path}/slack`, { webhook: `${receiver.url}/slack`, confidential_issues_events: false });
  await set(`${path}/mattermost`, {
    webhook: `${receiver.url}/mattermost`,
    confidential_issue_channel: 'secrets',
  });
  await open(project, { title: 'Hidden', confidential: true });
  await open(project, { title: 'Shown' });
  await expect.poll(() => received().length, { timeout: 10_000 }).toBe(3);
  const told = received().map(({ path: to, body }) => [
    to,
    body.channel,
    /Hidden|Shown/.exec(String(body.text))?.[0],
  ]);
  expect(told.sort()).toEqual([
    ['/mattermost', undefined, 'Shown'],
    ['/mattermost', 'secrets', 'Hidden'],
    ['/slack', undefined, 'Shown'],
  ]);
});

test('a push is told, by the filter for branches', async () => {
  const own = await makeProject(ashlar);
  await fillProject(ashlar, own.id);
  await set(`/projects/${own.id}/integrations/slack`, { webhook: `${receiver.url}/slack` });
  const commit = (branch: string) =>
    ashlar.root(`POST /projects/${own.id}/repository/commits`, {
      body: {
        branch,
        ...(branch !== 'main' && { start_branch: 'main' }),
        commit_message: `On ${branch}`,
        actions: [{ action: 'create', file_path: `${branch}.txt`, content: 'x' }],
      },
    });
  bodyOf(await commit('other'), 201);
  bodyOf(await commit('main'), 201);
  // In the order of the pushes, after what filled the project.
  const texts = () => received().map(({ body }) => JSON.stringify(body));
  await expect.poll(() => texts().some((text) => text.includes('On main')), { timeout: 10_000 }).toBe(true);
  expect(texts().at(-1)).toContain('pushed to branch main');
  expect(texts().join()).not.toContain('other');
});

test('a service that fails is tried again', async () => {
  const own = await makeProject(ashlar);
  failures = 1;
  await set(`/projects/${own.id}/integrations/slack`, { webhook: `${failing.url}/slack` });
  await open(own, { title: 'Twice' });
  await expect.poll(() => failing.received.length, { timeout: 20_000 }).toBe(2);
  expect(failing.received[0]?.body).toBe(failing.received[1]?.body);
});

test('services that hang delay no other, and are tried again with what they did not get, in order', async () => {
  const held: ServerResponse[] = [];
  let isHanging = true;
  const hanging = await startWebServer((_, reply) => {
    if (isHanging) held.push(reply);
    else reply.end();
  });
  const [slow, quick] = [await makeProject(ashlar), await makeProject(ashlar)];
  const slowServices = ['slack', 'mattermost', 'discord', 'microsoft-teams', 'webex-teams'];
  for (const slug of slowServices)
    await set(`/projects/${slow.id}/integrations/${slug}`, { webhook: `${hanging.url}/${slug}` });
  await set(`/projects/${quick.id}/integrations/slack`, { webhook: `${receiver.url}/quick` });
  for (const title of ['One', 'Two', 'Three']) await open(slow, { title });
  await expect.poll(() => hanging.received.length, { timeout: 20_000 }).toBe(slowServices.length);
  await open(quick, { title: 'Quick' });
  await expect.poll(() => received().length, { timeout: 20_000 }).toBe(1);
  const { sql } = ashlar.app.services.database;
  const waiting = () => sql<{ prepared: string }[]>`select prepared from integration_deliveries`;
  await expect.poll(async () => (await waiting()).length).toBe(3 * slowServices.length);
  expect(JSON.stringify(await waiting())).not.toContain(hanging.url);
  isHanging = false;
  for (const reply of held) reply.destroy();
  const toldSlack = () =>
    hanging.received
      .filter(({ path }) => path === '/slack')
      .map(({ body }) => /One|Two|Three/.exec(body)?.[0]);
  await expect.poll(toldSlack, { timeout: 20_000 }).toEqual(['One', 'One', 'Two', 'Three']);
  await hanging.stop();
});

test('what waits for a service that does not answer has bounds: long texts are cut, and further messages dropped', async () => {
  const hanging = await startWebServer(() => undefined);
  const own = await makeProject(ashlar);
  const { sql } = ashlar.app.services.database;
  const channels = Array.from({ length: 30 }, (_, place) => `c${place}`).join();
  await set(`/projects/${own.id}/integrations/slack`, {
    webhook: `${hanging.url}/slack`,
    issue_channel: channels,
  });
  await open(own, { title: 'Long', description: 'long '.repeat(100_000) });
  const waiting = async () => {
    const [row] = await sql<{ count: number; longest: number }[]>`
      select count(*)::integer as count, max(length(d.prepared)) as longest
      from integration_deliveries d join integrations i on i.id = d.integration_id where i.project_id = ${own.id}`;
    return row;
  };
  await expect.poll(async () => (await waiting())?.count).toBe(20);
  expect((await waiting())?.longest).toBeLessThan(5_000);
  await sql`insert into integration_deliveries (integration_id, fact_id, place, prepared, fact_at)
    select i.id, 0, x, '{}', now() from integrations i, generate_series(1, 1980) x where i.project_id = ${own.id}`;
  await open(own, { title: 'Late' });
  await waitForMail(ashlar);
  expect((await waiting())?.count).toBe(2_000);
  await hanging.stop();
});

test('what waits is not sent by an integration that was turned off, and goes with it', async () => {
  const own = await makeProject(ashlar);
  const path = `/projects/${own.id}/integrations/slack`;
  const { sql } = ashlar.app.services.database;
  const before = failing.received.length;
  failures = 1;
  await set(path, { webhook: `${failing.url}/off` });
  await open(own, { title: 'Waits' });
  await expect.poll(() => failing.received.length, { timeout: 20_000 }).toBe(before + 1);
  const waiting =
    () => sql`select from integration_deliveries d join integrations i on i.id = d.integration_id
    where i.project_id = ${own.id}`;
  expect(await waiting()).toHaveLength(1);
  expect((await ashlar.root(`DELETE ${path}`)).status).toBe(204);
  await expect.poll(async () => (await waiting()).length, { timeout: 20_000 }).toBe(0);
  expect(failing.received).toHaveLength(before + 1);
});

test.each([
  [1, 2_000],
  [3, 8_000],
  [6, 60_000],
  [2_000, 60_000],
])('after %i failures a service is left alone for %i ms', (failed, pause) => {
  expect(pauseAfter(failed)).toBe(pause);
});

test('after a while a message is given up, and what came later is sent', async () => {
  const own = await makeProject(ashlar);
  const { sql } = ashlar.app.services.database;
  const before = failing.received.length;
  failures = 2;
  await set(`/projects/${own.id}/integrations/slack`, { webhook: `${failing.url}/slack` });
  await open(own, { title: 'Old' });
  await expect.poll(() => failing.received.length, { timeout: 20_000 }).toBe(before + 1);
  await sql`update integration_deliveries set fact_at = now() - interval '16 minutes'`;
  await open(own, { title: 'New' });
  const endPauses = () => sql`update integrations set paused_until = null where recent_failures > 0`;
  await endPauses();
  await expect.poll(() => failing.received.length, { timeout: 20_000 }).toBe(before + 2);
  await endPauses();
  await expect.poll(() => failing.received.length, { timeout: 30_000 }).toBe(before + 3);
  const titles = failing.received.slice(before).map(({ body }) => /Old|New/.exec(body)?.[0]);
  expect(titles).toEqual(['Old', 'Old', 'New']);
  expect(ashlar.log.some((line) => line.includes('a message to an integration was given up'))).toBe(true);
});
