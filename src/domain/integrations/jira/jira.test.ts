/** Closing issues of Jira: a server with its addresses, over HTTP. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, type MadeProject, makeProject } from '../../../../test/support/factories.ts';
import { fillProject } from '../../../../test/support/repositories.ts';
import { startWebServer, type WebServer } from '../../../../test/support/web-server.ts';
import type { HookEvent } from '../../hooks/index.ts';
import { jiraDelivery } from './delivery.ts';

const ashlar = useApp();
let jira: WebServer;
const linked: string[] = [];
let project: MadeProject;

const transitions = [
  { id: '11', to: { statusCategory: { key: 'indeterminate' } } },
  { id: '31', to: { statusCategory: { key: 'done' } } },
];

beforeAll(async () => {
  jira = await startWebServer(({ method, path }, reply) => {
    const isLinked = linked.some((each) => path.includes(each));
    if (path.includes('/NONE-') || (path.includes('/remotelink?') && !isLinked)) reply.statusCode = 404;
    reply.end(method === 'GET' ? JSON.stringify({ transitions }) : '');
  });
  const body = { outbound_local_requests_allowlist: ['127.0.0.1'] };
  bodyOf(await ashlar.root('PUT /application/settings', { body }), 200);
  project = await makeProject(ashlar);
  await fillProject(ashlar, project.id);
});
afterAll(() => jira.stop());
beforeEach(() => void jira.received.splice(0));

const set = async (body: object) =>
  bodyOf(
    await ashlar.root(`PUT /projects/${project.id}/integrations/jira`, {
      body: {
        url: `${jira.url}/base/`,
        username: 'ada',
        password: 'a-password',
        comment_on_event_enabled: false,
        ...body,
      },
    }),
    200,
  );
let count = 0;
const commit = async (branch: string, message: string) =>
  bodyOf(
    await ashlar.root(`POST /projects/${project.id}/repository/commits`, {
      body: {
        branch,
        ...(branch !== 'main' && { start_branch: 'main' }),
        commit_message: message,
        actions: [{ action: 'create', file_path: `file-${count++}.txt`, content: 'x' }],
      },
    }),
    201,
  );
const posts = () =>
  jira.received
    .filter(({ method }) => method === 'POST')
    .map(({ path, body }) => [path, JSON.parse(body).transition.id]);
const sentTo = (issue: string) => `/base/rest/api/2/issue/${issue}/transitions`;

test('a push to the default branch takes issues to the first state that is done', async () => {
  expect(JSON.stringify(await set({ jira_issue_transition_automatic: true }))).not.toContain('a-password');
  await commit('other', 'Closes STONE-9');
  await commit('main', 'Closes NONE-1, STONE-1 and STONE-2; see STONE-3');
  await expect.poll(() => posts().length, { timeout: 10_000 }).toBe(2);
  expect(posts()).toEqual([
    [sentTo('STONE-1'), '31'],
    [sentTo('STONE-2'), '31'],
  ]);
  expect(jira.received[0]?.headers.authorization).toBe(
    `Basic ${Buffer.from('ada:a-password').toString('base64')}`,
  );
  expect(jira.received.some(({ path }) => path.includes('STONE-9'))).toBe(false);
});

test('a merge takes them through the transitions that are set, with a token', async () => {
  await set({
    jira_issue_transition_automatic: false,
    jira_issue_transition_id: '5, 6',
    jira_auth_type: 1,
    commit_events: false,
  });
  await commit('feature', 'Begin');
  const request = bodyOf(
    await ashlar.root(`POST /projects/${project.id}/merge_requests`, {
      body: {
        source_branch: 'feature',
        target_branch: 'main',
        title: 'Arch',
        description: 'Fixes STONE-4',
      },
    }),
    201,
  );
  const merge = `PUT /projects/${project.id}/merge_requests/${request.iid}/merge`;
  await expect.poll(async () => (await ashlar.root(merge)).status, { timeout: 10_000 }).toBe(200);
  await expect.poll(() => posts().length, { timeout: 10_000 }).toBe(2);
  expect(posts()).toEqual([
    [sentTo('STONE-4'), '5'],
    [sentTo('STONE-4'), '6'],
  ]);
  expect(jira.received[0]?.headers.authorization).toBe('Bearer a-password');
});

test('issues that commits and new merge requests name get a comment and a link, each once', async () => {
  await set({ comment_on_event_enabled: true, commit_events: true });
  linked.push('STONE-8');
  await commit('named', 'Lay [STONE-7] and STONE-8 {again}');
  const sent = () =>
    jira.received.filter(({ method }) => method === 'POST').map(({ path, body }) => [path, JSON.parse(body)]);
  await expect.poll(() => sent().length, { timeout: 10_000 }).toBe(2);
  const address = expect.stringContaining('/-/commit/');
  expect(sent()).toEqual([
    [
      '/base/rest/api/2/issue/STONE-7/comment',
      {
        body: expect.stringMatching(
          /named this issue in \[commit [0-9a-f]{8} of .*\n.*Lay \\\[STONE\\-7\\\]/,
        ),
      },
    ],
    [
      '/base/rest/api/2/issue/STONE-7/remotelink',
      { globalId: address, object: { url: address, title: expect.stringContaining('Lay [STONE-7]') } },
    ],
  ]);
  const body = { source_branch: 'named', target_branch: 'main', title: 'Arch for STONE-6' };
  bodyOf(await ashlar.root(`POST /projects/${project.id}/merge_requests`, { body }), 201);
  await expect.poll(() => sent().length, { timeout: 10_000 }).toBe(4);
  expect(sent()[2]?.[0]).toBe('/base/rest/api/2/issue/STONE-6/comment');
});

test('references lead to it', async () => {
  const body = { text: 'STONE-12 and #1', gfm: true, project: project.path_with_namespace };
  const { html } = bodyOf(await ashlar.root('POST /markdown', { body }), 201);
  expect([...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href)).toEqual([
    `${jira.url}/base/browse/STONE-12`,
  ]);
});

test('issues may be named with a prefix and a pattern of their own', async () => {
  const links = async (text: string) => {
    const body = { text, gfm: true, project: project.path_with_namespace };
    const { html } = bodyOf(await ashlar.root('POST /markdown', { body }), 201);
    return [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href);
  };
  const shown = await set({ jira_issue_prefix: 'JIRA#', jira_issue_regex: '[a-z]+/\\d+' });
  expect(shown.properties).toMatchObject({ jira_issue_prefix: 'JIRA#', jira_issue_regex: '[a-z]+/\\d+' });
  expect(await links('JIRA#stone/12, not STONE-12, `JIRA#stone/1`, T12 or stone/3')).toEqual([
    `${jira.url}/base/browse/stone%2F12`,
  ]);
  await set({ jira_issue_transition_automatic: true, commit_events: true });
  await commit('main', 'Closes JIRA#stone/7, JIRA#stone/8 and STONE-7');
  await expect.poll(() => posts().length, { timeout: 10_000 }).toBe(2);
  expect(posts()).toEqual([
    [sentTo('stone%2F7'), '31'],
    [sentTo('stone%2F8'), '31'],
  ]);
});

test.each<[string, string[], string[]]>([
  ['[a-z]+', ['Closes J#a and J#b', 'See J#c', 'Closes J#a and J#b'], ['a', 'b', 'a', 'b', 'c', 'a', 'b']],
  ['[a-z]*', [`${'J# '.repeat(20)}J#a`, `${'J# '.repeat(19)}J#b`], ['b']],
  ['[a-z]', [`${' '.repeat(1_021)}J#a`, `${' '.repeat(1_022)}J#b`], ['a']],
  ['(', ['J#a STONE-1'], []],
])('of names by %s in %j', async (jira_issue_regex, messages, expected) => {
  const commits = messages.map((message) => ({ id: '1', title: '', message, url: 'https://here.example' }));
  const project = { path_with_namespace: 'g/p', default_branch: 'main' };
  const body = { object_kind: 'push', ref: 'refs/heads/main', project, commits };
  const prepared = await jiraDelivery.prepare({ flag: 'push_events', body } as HookEvent, {
    jira_issue_transition_automatic: true,
    jira_issue_prefix: 'J#',
    jira_issue_regex,
  });
  expect((prepared as { key: string }[]).map(({ key }) => key)).toEqual(expected);
});

test.each([
  [{ jira_issue_regex: '(' }, { jira_issue_regex: [expect.stringContaining('is not valid RE2 syntax')] }],
  [{ jira_issue_regex: '[a-z]{1,200}[0-9]{1,200}' }, { jira_issue_regex: ['is too complex'] }],
])('a pattern that is none is refused: %j', async (fields, message) => {
  const body = {
    url: `${jira.url}/base/`,
    username: 'ada',
    password: 'a-password',
    jira_issue_prefix: '',
    ...fields,
  };
  const { status, body: answer } = await ashlar.root(`PUT /projects/${project.id}/integrations/jira`, {
    body,
  });
  expect([status, answer.message]).toEqual([400, message]);
});
