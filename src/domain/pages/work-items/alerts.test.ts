/** The pages of alerts and incidents: their content, their readers, and that nothing of a payload is run. */
import { beforeAll, expect, test } from 'vitest';
import { makeIntegration, postAlert } from '../../../../test/support/alerts.ts';
import { useApp } from '../../../../test/support/app.ts';
import { type Browser, openBrowser, signInAs } from '../../../../test/support/browser.ts';
import {
  addMember,
  bodyOf,
  type MadeProject,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';

const app = useApp();
let project: MadeProject;
let home: string;
let developer: Browser;
let reporter: Browser;

async function browserWith(level: number): Promise<Browser> {
  const user = await makeUser(app);
  await addMember(app, `projects/${project.id}`, user, level);
  const browser = openBrowser(app);
  await signInAs(browser, user.username, 'correct horse battery staple');
  return browser;
}

const alerts = (): string => `/projects/${project.id}/alert_management_alerts`;

beforeAll(async () => {
  project = await makeProject(app);
  home = `/${project.path_with_namespace}`;
  [developer, reporter] = [await browserWith(30), await browserWith(20)];
  const { key } = await makeIntegration(app.app.services.database.sql, project.id);
  const send = (payload: unknown) =>
    postAlert(app.url, `${project.path_with_namespace}/alerts/notify.json`, payload, { key });
  await send({
    title: 'Disk <full>',
    description: 'On **all** nodes',
    severity: 'high',
    hosts: ['a', 'b'],
    runbook: 'javascript:alert(1)',
    fingerprint: 'x',
    extra: { html: '<script>alert(1)</script>' },
  });
  await send({ title: 'Over', runbook: 'https://run.example/a?b=1&c=2' });
  bodyOf(await app.root(`PUT ${alerts()}/2`, { body: { status: 'resolved' } }), 200);
  bodyOf(await app.root(`POST ${alerts()}/1/notes`, { body: { body: 'Is it *hot*?' } }), 201);
  bodyOf(await app.root(`POST ${alerts()}/1/issue`), 201);
});

test('the list shows what is open, unless another status is asked for', async () => {
  const { text } = await developer.get(`${home}/-/alert_management`);
  expect(text).toContain(`href="${home}/-/alert_management/1/details">Disk &lt;full&gt;</a>`);
  expect(text).not.toContain('/2/details');
  expect((await developer.get(`${home}/-/alert_management?status=resolved`)).text).toContain('/2/details');
  expect((await developer.get(`${home}/-/alert_management?status=constructor`)).text).toContain('/1/details');
});

test('one alert with its payload, its incident and what was said', async () => {
  const { text } = await developer.get(`${home}/-/alert_management/1/details`);
  for (const part of [
    '<h1>Disk &lt;full&gt;</h1>',
    'On <strong>all</strong> nodes',
    'Is it <em>hot</em>?',
    `href="${home}/-/issues/1"`,
    'a, b',
    '&lt;script&gt;alert(1)&lt;/script&gt;',
  ])
    expect(text).toContain(part);
  expect(text).not.toContain('href="javascript:');
  expect(text).not.toContain('<script>alert');
  const over = await developer.get(`${home}/-/alert_management/2/details`);
  expect(over.text).toContain('href="https://run.example/a?b=1&amp;c=2"');
});

test('colours of states say urgency', async () => {
  const tag = (kind: string, word: string) => `<span class="tag ${kind}">${word}</span>`;
  const one = await developer.get(`${home}/-/alert_management/1/details`);
  expect(one.text).toContain(`${tag('urgent', 'Triggered')} ${tag('warning', 'High')}`);
  const over = await developer.get(`${home}/-/alert_management/2/details`);
  expect(over.text).toContain(`${tag('closed', 'Resolved')} ${tag('urgent', 'Critical')}`);
  const list = await developer.get(`${home}/-/alert_management?status=all`);
  for (const part of [tag('urgent', 'Triggered'), tag('closed', 'Resolved'), tag('urgent', 'Critical')])
    expect(list.text).toContain(part);
  const incident = await developer.get(`${home}/-/issues/1`);
  expect(incident.text).toContain(tag('warning', 'High'));
  bodyOf(await app.root(`PUT ${alerts()}/1`, { body: { status: 'acknowledged' } }), 200);
  const seen = await developer.get(`${home}/-/alert_management/1/details`);
  expect(seen.text).toContain(tag('warning', 'Acknowledged'));
});

test('who may not read alerts finds no pages and no tab', async () => {
  for (const path of ['', '/1/details', '/9/details'])
    expect((await reporter.get(`${home}/-/alert_management${path}`)).status).toBe(404);
  expect((await reporter.get(home)).text).not.toContain('alert_management');
  expect((await developer.get(home)).text).toContain(`${home}/-/alert_management`);
});

test('an incident shows its alerts to who reads alerts, and its timeline to all', async () => {
  const mine = await developer.get(`${home}/-/issues/1`);
  expect(mine.text).toContain('<h2>Alerts</h2>');
  expect(mine.text).toContain('/-/alert_management/1/details');
  expect(mine.text).toContain('<h2>Timeline</h2>');
  const theirs = await reporter.get(`${home}/-/issues/1`);
  expect(theirs.text).not.toContain('<h2>Alerts</h2>');
  expect(theirs.text).toContain('<h2>Timeline</h2>');
});
