/** The pages of errors: their readers, their content, and that nothing of an event is more than text there. */
import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { openBrowser, signInAs } from '../../../../test/support/browser.ts';
import { addError, sampleEvent, sampleFrame } from '../../../../test/support/error-rows.ts';
import {
  addMember,
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
} from '../../../../test/support/factories.ts';

const ashlar = useApp();
const PASSWORD = 'correct horse battery staple';
let project: MadeProject;
let reporter: MadeUser;
let guest: MadeUser;

beforeAll(async () => {
  bodyOf(
    await ashlar.root('PUT /application/settings', { body: { throttle_protected_paths_enabled: false } }),
    200,
  );
  project = await makeProject(ashlar, { visibility: 'public' });
  ({ reporter, guest } = await makeMembers(ashlar, `projects/${project.id}`, 'reporter', 'guest'));
});

async function browserOf({ username }: MadeUser) {
  const browser = openBrowser(ashlar);
  expect((await signInAs(browser, username, PASSWORD)).status).toBe(302);
  return browser;
}

const address = () => `/${project.path_with_namespace}/-/error_tracking`;

test('errors are for reporters; for others there is nothing, nor a way there', async () => {
  const id = await addError(ashlar, project.id);
  const [reading, view] = [await browserOf(reporter), await browserOf(guest)];
  for (const path of [address(), `${address()}/${id}/details`]) {
    expect((await reading.get(path)).status).toBe(200);
    expect((await view.get(path)).status).toBe(404);
    expect((await openBrowser(ashlar).get(path)).status).toBe(404);
  }
  const home = `/${project.path_with_namespace}`;
  expect((await reading.get(home)).text).toContain(`href="${address()}"`);
  expect((await view.get(home)).text).not.toContain(address());
  for (const path of ['/0/details', '/x/details', '/99999999999999999999/details'])
    expect([path, (await reading.get(`${address()}${path}`)).status]).toEqual([path, 404]);
});

test('the list is narrowed and ordered by links', async () => {
  const { id, path_with_namespace } = await makeProject(ashlar, { visibility: 'public' });
  await addMember(ashlar, `projects/${id}`, reporter, 20);
  await addError(ashlar, id, { name: 'Rare', events: 1, lastSeen: 1 });
  await addError(ashlar, id, { name: 'Common', events: 9, lastSeen: 2 });
  await addError(ashlar, id, { name: 'Done', status: 'resolved' });
  const browser = await browserOf(reporter);
  const names = async (query: string) => {
    const { text } = await browser.get(`/${path_with_namespace}/-/error_tracking${query}`);
    return [...text.matchAll(/\/details">(\w+)</g)].map(([, name]) => name);
  };
  expect(await names('')).toEqual(['Rare', 'Common']);
  expect(await names('?order_by=frequency')).toEqual(['Common', 'Rare']);
  expect(await names('?status=resolved')).toEqual(['Done']);
  expect(await names('?status=nonsense&order_by=nonsense')).toEqual(['Rare', 'Common']);
  const { text } = await browser.get(`/${path_with_namespace}/-/error_tracking?status=nonsense`);
  expect(text).toContain('<code>status=nonsense</code>');
  expect(text).toContain('<code>status</code> (unresolved, resolved, ignored, all)');
});

test('one error shows its stack with the lines around, its tags and the plot', async () => {
  const id = await addError(ashlar, project.id, {
    kept: [sampleEvent()],
    counts: { 1: 3, 60: 4, 500: 5 },
    tags: [['browser', 'Firefox', 2]],
  });
  const browser = await browserOf(reporter);
  const page = async (query = '') => (await browser.get(`${address()}/${id}/details${query}`)).text;
  const text = await page();
  for (const part of [
    '<h1>RangeError</h1>',
    '<code>layCourse</code> <span class="below">in src/walls.js:12:9</span>',
    '<tr class="here"><td class="number">12</td><td><code>  throw new RangeError(&#39;no stone left&#39;);</code></td></tr>',
    '<td class="number">10</td>',
    '<dt>browser</dt>',
    'a course begins',
    'aria-label="3 events in this time, 3 events in an hour at most"',
  ])
    expect(text).toContain(part);
  expect(text.indexOf('layCourse</code> <span')).toBeLessThan(text.indexOf('node_modules/queue'));
  expect(text).toMatch(
    /<span class="tag (warning|urgent)">\w+<\/span> <span class="tag warning">Unresolved</,
  );
  expect(await page('?period=week')).toContain('aria-label="7 events in this time');
  expect(await page('?period=month')).toContain('aria-label="12 events in this time');
});

test('whatever an event says is text', async () => {
  const hostile = `"'><script>alert(1)</script><img src=x onerror=alert(1)>`;
  const event = sampleEvent({ event_id: 'c'.repeat(32) });
  const [thrown] = event.exceptions;
  const frame = sampleFrame({
    function: hostile,
    filename: hostile,
    context_line: hostile,
    pre_context: [hostile],
    post_context: [hostile],
  });
  const id = await addError(ashlar, project.id, {
    name: hostile,
    description: hostile,
    actor: hostile,
    kept: [
      {
        ...event,
        message: hostile,
        release: hostile,
        environment: hostile,
        transaction: hostile,
        server_name: hostile,
        exceptions: thrown ? [{ ...thrown, type: hostile, value: hostile, frames: [frame] }] : [],
        frames: [frame],
        breadcrumbs: [
          { timestamp: hostile, type: null, category: hostile, level: hostile, message: hostile, data: null },
        ],
        user: { id: hostile, username: hostile, email: hostile, ip_address: null, data: {} },
      },
    ],
    tags: [[hostile, hostile, 1]],
  });
  const browser = await browserOf(reporter);
  for (const path of [address(), `${address()}/${id}/details`]) {
    const { status, text } = await browser.get(path);
    expect(status).toBe(200);
    expect(text).toContain('&lt;script&gt;');
    expect(text).not.toMatch(/<script|<img|onerror=alert\(1\)>/);
  }
});

test('of very many frames the first are shown', async () => {
  const event = sampleEvent({ event_id: 'd'.repeat(32) });
  const frames = Array.from({ length: 250 }, (_, at) => sampleFrame({ function: `call${at}` }));
  const thrown = {
    type: 'E',
    value: '',
    module: null,
    handled: null,
    mechanism: null,
    frames,
    frames_omitted: 7,
  };
  const id = await addError(ashlar, project.id, { kept: [{ ...event, exceptions: [thrown, thrown] }] });
  const { text } = await (await browserOf(reporter)).get(`${address()}/${id}/details`);
  expect(text.match(/<details class="frame"/g)).toHaveLength(300);
  expect(text).toContain('7 more calls are not shown here.');
  expect(text).toContain('207 more calls are not shown here.');
});
