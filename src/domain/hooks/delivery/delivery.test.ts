/** Deliveries of webhooks, from a push to a receiver of the test's. */
import { rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeProject } from '../../../../test/support/factories.ts';
import { addressOf, commitFiles, makeHome, mustGit } from '../../../../test/support/git.ts';
import { waitForMail } from '../../../../test/support/mailbox.ts';
import { type Received, startWebServer, type WebServer } from '../../../../test/support/web-server.ts';
import { moveClock, now } from '../../../platform/clock.ts';
import { MAX_WAITING } from '../events/insert-actions.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'premium' } });
let receiver: WebServer;
let respond: (request: Received, reply: ServerResponse) => void;
let id = 0;
const home = makeHome();
afterAll(() => rmSync(home, { recursive: true, force: true }));

beforeAll(async () => {
  receiver = await startWebServer((request, reply) => respond(request, reply));
  const body = { outbound_local_requests_allowlist: ['127.0.0.1'] };
  bodyOf(await ashlar.root('PUT /application/settings', { body }), 200);
});
afterAll(() => receiver.stop());

beforeEach(async () => {
  respond = (_, reply) => reply.end('thanks');
  ({ id } = await makeProject(ashlar));
  receiver.received.splice(0);
});

const makeHook = async (body: object = {}, path = `/projects/${id}/hooks`) =>
  bodyOf(await ashlar.root(`POST ${path}`, { body: { url: `${receiver.url}/hook`, ...body } }), 201);
const commit = async (name: string, branch = 'main', rest: object = {}) =>
  bodyOf(
    await ashlar.root(`POST /projects/${id}/repository/files/${name}`, {
      body: { branch, content: name, commit_message: `Add ${name}\n\nBecause.`, ...rest },
    }),
    201,
  );
const log = async (hook: number, query = '') =>
  bodyOf(await ashlar.root(`GET /projects/${id}/hooks/${hook}/events`, { query }), 200);
const sent = () => receiver.received.map(({ body }) => JSON.parse(body));
const reach = (count: number) => expect.poll(() => receiver.received.length).toBe(count);
const status = async (hook: number): Promise<string> =>
  bodyOf(await ashlar.root(`GET /projects/${id}/hooks/${hook}`), 200).alert_status;

describe('a push', () => {
  test('is told with its commits, headers and token; the log shows neither token nor headers', async () => {
    const url = receiver.url.replace('//', '//name:pass%20word@');
    const hook = await makeHook({
      url: `${url}/hook/{key}`,
      token: 'the token',
      custom_headers: [{ key: 'X-Extra', value: 'secret-value' }],
      url_variables: [{ key: 'key', value: 'secret-path' }],
    });
    await commit('one.txt');
    await reach(1);
    const [{ path, headers }] = receiver.received as [Received];
    expect(path).toBe('/hook/secret-path');
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^GitLab\/\d/),
      'x-gitlab-event': 'Push Hook',
      'x-gitlab-token': 'the token',
      'x-gitlab-instance': ashlar.url,
      'x-extra': 'secret-value',
      authorization: `Basic ${Buffer.from('name:pass word').toString('base64')}`,
    });
    const [payload] = sent();
    const head = bodyOf(await ashlar.root(`GET /projects/${id}/repository/commits/main`), 200);
    expect(payload).toMatchObject({
      object_kind: 'push',
      event_name: 'push',
      before: '0'.repeat(40),
      after: head.id,
      ref: 'refs/heads/main',
      ref_protected: true,
      checkout_sha: head.id,
      message: null,
      user_username: 'root',
      user_email: '',
      project_id: id,
      total_commits_count: 1,
      push_options: {},
    });
    expect(payload.commits).toEqual([
      {
        id: head.id,
        message: 'Add one.txt\n\nBecause.',
        title: 'Add one.txt',
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\+00:00$/),
        url: expect.stringContaining(`/-/commit/${head.id}`),
        author: { name: head.author_name, email: head.author_email },
        added: ['one.txt'],
        modified: [],
        removed: [],
      },
    ]);
    await expect.poll(() => log(hook.id)).toHaveLength(1);
    const [entry] = await log(hook.id);
    expect(entry).toMatchObject({
      url: `${receiver.url}/hook/{key}`,
      trigger: 'push_hooks',
      request_data: payload,
      response_status: '200',
      response_body: 'thanks',
      request_headers: {
        'X-Gitlab-Token': '[REDACTED]',
        'X-Extra': '[REDACTED]',
        Authorization: '[REDACTED]',
      },
    });
    expect(JSON.stringify(entry)).not.toMatch(/the token|secret-|pass/);
  });

  test('is told to the hooks whose flags and filters are for it, in order', async () => {
    await makeHook({ url: `${receiver.url}/wildcard`, push_events_branch_filter: 'release/*' });
    await makeHook({
      url: `${receiver.url}/regex`,
      push_events_branch_filter: '^(main|x)$',
      branch_filter_strategy: 'regex',
    });
    await makeHook({ url: `${receiver.url}/tags`, push_events: false, tag_push_events: true });
    await commit('one.txt');
    await commit('two.txt', 'release/1', { start_branch: 'main' });
    bodyOf(
      await ashlar.root(`POST /projects/${id}/repository/tags`, {
        body: { tag_name: 'v1', ref: 'main', message: 'The first' },
      }),
      201,
    );
    await reach(3);
    const told = Object.fromEntries(receiver.received.map(({ path, body }) => [path, JSON.parse(body)]));
    expect(told['/wildcard']).toMatchObject({ ref: 'refs/heads/release/1', total_commits_count: 1 });
    expect(told['/regex']).toMatchObject({ ref: 'refs/heads/main' });
    expect(told['/tags']).toMatchObject({
      object_kind: 'tag_push',
      ref: 'refs/tags/v1',
      message: 'The first',
      commits: [],
    });
    expect(told['/tags'].checkout_sha).not.toBe(told['/tags'].after);
  });

  test('is told to hooks of groups above, and to those of the instance without commits', async () => {
    const group = bodyOf(
      await ashlar.root('POST /groups', { body: { name: 'Above', path: `above-${id}` } }),
      201,
    );
    const inner = bodyOf(
      await ashlar.root('POST /groups', { body: { name: 'In', path: 'in', parent_id: group.id } }),
      201,
    );
    ({ id } = await makeProject(ashlar, { namespace_id: inner.id }));
    await makeHook({ url: `${receiver.url}/group` }, `/groups/${group.id}/hooks`);
    const ofInstance = await makeHook({ url: `${receiver.url}/instance`, push_events: true }, '/hooks');
    await commit('one.txt');
    await reach(3);
    bodyOf(await ashlar.root(`DELETE /hooks/${ofInstance.id}`), 204);
    const told = receiver.received.map(({ path, headers, body }) => {
      const { event_name, commits, refs } = JSON.parse(body);
      return [path, headers['x-gitlab-event'], event_name, commits?.length ?? refs];
    });
    expect(told.toSorted()).toEqual([
      ['/group', 'Push Hook', 'push', 1],
      ['/instance', 'System Hook', 'push', 0],
      ['/instance', 'System Hook', 'repository_update', ['refs/heads/main']],
    ]);
  });

  test('goes as a template says, and not where the template makes no JSON', async () => {
    const template = '{"text":"{{ project.name }}: {{commits}}","n":{{total_commits_count}},"gone":{{a.b}}}';
    const good = '{"text":"{{user_username}} \\\\ {{ref}}","n":{{total_commits_count}},"gone":{{a.b}}}';
    const hook = await makeHook({ custom_webhook_template: good });
    const bad = await makeHook({ custom_webhook_template: template });
    await commit('one.txt');
    await reach(1);
    expect(sent()).toEqual([{ text: 'root \\ refs/heads/main', n: 1, gone: null }]);
    await expect.poll(() => log(bad.id)).toHaveLength(1);
    expect((await log(bad.id))[0]).toMatchObject({
      response_status: 'internal error',
      response_body: expect.stringContaining('Error while parsing rendered custom webhook template'),
    });
    await expect.poll(async () => (await log(hook.id))[0]?.request_data).toEqual(sent()[0]);
  });
});

test('a push by git is told with its options', async () => {
  const { path_with_namespace: path } = bodyOf(await ashlar.root(`GET /projects/${id}`), 200);
  await makeHook();
  const work = join(home, `work-${id}`);
  await mustGit(home, ['clone', '--quiet', addressOf(ashlar.url, path, ROOT_TOKEN), work]);
  await commitFiles(work, { 'a.txt': 'a' }, 'First');
  await mustGit(work, ['push', '-q', '-o', 'ci.skip', '-o', 'mr.label=a b', 'origin', 'HEAD:main']);
  await reach(1);
  expect(sent()[0].push_options).toEqual({ ci: { skip: true }, merge_request: { label: { 'a b': 1 } } });
});

describe('a receiver', () => {
  test('that fails is left alone for a while, and comes back by a test that it passes', async () => {
    respond = (_, reply) => reply.writeHead(500).end('no');
    const hook = await makeHook();
    for (let push = 1; push <= 4; push++) {
      await commit(`${push}.txt`);
      await reach(push);
    }
    await expect.poll(() => status(hook.id)).toBe('temporarily_disabled');
    await commit('5.txt');
    const other = await makeHook({ url: `${receiver.url}/other` });
    respond = (_, reply) => reply.end();
    await commit('6.txt');
    await reach(5);
    expect(receiver.received.at(-1)?.path).toBe('/other');
    expect(await log(hook.id, 'status=server_failure')).toHaveLength(4);
    expect(await log(hook.id, 'status=successful')).toEqual([]);
    expect(await log(hook.id, 'status=500,404')).toHaveLength(4);
    expect(await status(other.id)).toBe('executable');
    const tested = await ashlar.root(`POST /projects/${id}/hooks/${hook.id}/test/push_events`);
    expect(bodyOf(tested, 201)).toEqual({ message: '201 Created' });
    expect(await status(hook.id)).toBe('executable');
  });

  test('that redirects is not followed, and has received it', async () => {
    respond = (_, reply) => reply.writeHead(301, { location: `${receiver.url}/elsewhere` }).end();
    const hook = await makeHook();
    await commit('one.txt');
    await expect.poll(async () => (await log(hook.id))[0]?.response_status).toBe('301');
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook']);
  });

  test('that says much, or breaks off, or answers nonsense is cut short', async () => {
    respond = ({ path }, reply) => {
      if (path === '/much') reply.end('x'.repeat(100_000));
      else if (path === '/broken') reply.destroy();
      else reply.socket?.end('what?\r\n\r\n');
    };
    const hooks: { id: number }[] = [];
    for (const path of ['/much', '/broken', '/nonsense'])
      hooks.push(await makeHook({ url: receiver.url + path }));
    await commit('one.txt');
    const logged = async () => (await Promise.all(hooks.map(({ id: each }) => log(each)))).flat();
    await expect.poll(logged).toHaveLength(3);
    const [much, ...failed] = await logged();
    expect(much.response_body).toBe('x'.repeat(8_192));
    expect(failed.map(({ response_status }) => response_status)).toEqual([
      'internal error',
      'internal error',
    ]);
  });

  test('that hangs delays no other hook', async () => {
    const waiting: ServerResponse[] = [];
    respond = ({ path }, reply) => {
      if (path === '/hangs') waiting.push(reply);
      else reply.end();
    };
    const hangs = await makeHook({ url: `${receiver.url}/hangs` });
    const other = await makeHook({ url: `${receiver.url}/other` });
    await commit('one.txt');
    await commit('two.txt');
    await expect.poll(async () => (await log(other.id)).length).toBe(2);
    expect(await log(hangs.id)).toEqual([]);
    respond = (_, reply) => reply.end();
    for (const reply of waiting) reply.end();
    await expect.poll(async () => (await log(hangs.id)).length).toBe(2);
  });
});

describe('a limit', () => {
  test('is of the requests of a top-level namespace in a minute; more are dropped', async () => {
    const set = (web_hook_calls: number) =>
      ashlar.root('PUT /application/settings', { body: { web_hook_calls } });
    const group = bodyOf(
      await ashlar.root('POST /groups', { body: { name: 'L', path: `limited-${id}` } }),
      201,
    );
    await makeHook({ push_events: false, issues_events: true }, `/groups/${group.id}/hooks`);
    const inside = await makeProject(ashlar, { namespace_id: group.id });
    const begun = now().getTime();
    bodyOf(await set(2), 200);
    try {
      for (let issue = 1; issue <= 8; issue++)
        bodyOf(await ashlar.root(`POST /projects/${inside.id}/issues`, { body: { title: `${issue}` } }), 201);
      await waitForMail(ashlar);
    } finally {
      bodyOf(await set(0), 200);
    }
    const minutes = Math.floor(now().getTime() / 60_000) - Math.floor(begun / 60_000) + 1;
    bodyOf(await ashlar.root(`POST /projects/${inside.id}/issues`, { body: { title: 'Last' } }), 201);
    await expect.poll(() => sent().at(-1)?.object_attributes.title).toBe('Last');
    const told = receiver.received.length - 1;
    expect([told >= 2, told <= 2 * minutes]).toEqual([true, true]);
  });

  test('is of what waits for a receiver that is slow', async () => {
    const { database } = ashlar.app.services;
    const held: ServerResponse[] = [];
    respond = (_, reply) => void held.push(reply);
    const hook = await makeHook({ push_events: false, issues_events: true });
    const open = async (title: string) =>
      bodyOf(await ashlar.root(`POST /projects/${id}/issues`, { body: { title } }), 201);
    await open('first');
    await reach(1);
    await database.sql`
      insert into hook_deliveries (hook_id, event_id, idempotency_key)
      select hook_id, event_id, gen_random_uuid() from hook_deliveries, generate_series(1, ${MAX_WAITING - 1})
      where hook_id = ${hook.id}`;
    const waiting = async () =>
      (
        await database.sql<{ n: number }[]>`
        select count(*)::int as n from hook_deliveries where hook_id = ${hook.id} and sent_at is null`
      )[0]?.n;
    await open('second');
    await expect.poll(waiting).toBe(MAX_WAITING + 1);
    await database.sql`update hook_events set created_at = created_at - interval '6 minutes'
      where id in (select event_id from hook_deliveries where hook_id = ${hook.id})`;
    const other = await makeHook({ push_events: false, issues_events: true, url: `${receiver.url}/other` });
    await open('third');
    await expect.poll(() => receiver.received.map(({ path }) => path)).toContain('/other');
    expect(await waiting()).toBe(MAX_WAITING + 1);
    bodyOf(await ashlar.root(`DELETE /projects/${id}/hooks/${hook.id}`), 204);
    for (const reply of held) reply.end();
    await expect.poll(async () => (await log(other.id)).length).toBe(1);
  });
});

describe('a request of a receiver that names the event', () => {
  const uuid = ({ headers }: Received) => String(headers['x-gitlab-event-uuid']);
  const inChain = (chain: string) => ({ headers: { 'x-gitlab-event-uuid': chain } });

  test('is told to no hook that is in the chain already, and to others in the same chain', async () => {
    await makeHook();
    await makeHook({ url: `${receiver.url}/issues`, push_events: false, issues_events: true });
    let answers = 0;
    respond = async (request, reply) => {
      reply.end();
      if (request.path === '/issues') return;
      answers++;
      const on = inChain(uuid(request));
      const body = { branch: 'main', content: 'again', commit_message: 'Again' };
      bodyOf(
        await ashlar.root(`POST /projects/${id}/repository/files/again-${answers}`, { body, ...on }),
        201,
      );
      bodyOf(await ashlar.root(`POST /projects/${id}/issues`, { body: { title: 'Told' }, ...on }), 201);
    };
    await commit('one.txt');
    await reach(2);
    const [pushed, issue] = receiver.received as [Received, Received];
    expect([pushed.path, issue.path]).toEqual(['/hook', '/issues']);
    expect(uuid(issue)).toBe(uuid(pushed));
    // A push of its own makes a chain of its own.
    respond = (_, reply) => reply.end();
    await commit('two.txt');
    await reach(3);
    expect(answers).toBe(1);
    expect(uuid(receiver.received[2] as Received)).not.toBe(uuid(pushed));
  });

  test('carries its chain to what its push changes in merge requests', async () => {
    await commit('one.txt');
    await commit('two.txt', 'side', { start_branch: 'main' });
    await makeHook({ push_events: false, merge_requests_events: true });
    let pushes = 0;
    respond = async (request, reply) => {
      reply.end();
      pushes++;
      const body = { branch: 'side', content: 'again', commit_message: 'Again' };
      await ashlar.root(`POST /projects/${id}/repository/files/again-${pushes}`, {
        body,
        ...inChain(uuid(request)),
      });
    };
    const body = { source_branch: 'side', target_branch: 'main', title: 'Round and round' };
    const { iid } = bodyOf(await ashlar.root(`POST /projects/${id}/merge_requests`, { body }), 201);
    const versions = async () =>
      bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/${iid}/versions`), 200);
    await expect.poll(versions).toHaveLength(2);
    respond = (_, reply) => reply.end();
    bodyOf(
      await ashlar.root(`PUT /projects/${id}/merge_requests/${iid}`, { body: { title: 'Enough' } }),
      200,
    );
    await expect.poll(() => sent().at(-1)?.object_attributes.title).toBe('Enough');
    expect(pushes).toBe(1);
  });
});

test('a hook of the instance is tested with a sample', async () => {
  const hook = await makeHook({}, '/hooks');
  const sample = bodyOf(await ashlar.root(`POST /hooks/${hook.id}`), 201);
  expect(sample).toMatchObject({ event_name: 'project_create', project_id: 1 });
  expect(sent()).toEqual([sample]);
  expect(receiver.received[0]?.headers['x-gitlab-event']).toBe('System Hook');
  respond = (_, reply) => reply.writeHead(500).end();
  expect((await ashlar.root(`POST /hooks/${hook.id}`)).status).toBe(422);
  bodyOf(await ashlar.root(`DELETE /hooks/${hook.id}`), 204);
});

describe('what was sent', () => {
  test('is sent again under its key, unless the address is another', async () => {
    const hook = await makeHook();
    await commit('one.txt');
    await expect.poll(() => log(hook.id)).toHaveLength(1);
    const [{ id: entry }] = await log(hook.id);
    const resend = () => ashlar.root(`POST /projects/${id}/hooks/${hook.id}/events/${entry}/resend`);
    expect(bodyOf(await resend(), 201)).toEqual({ response_status: 200 });
    const keys = receiver.received.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([keys[0], keys[0]]);
    bodyOf(
      await ashlar.root(`PUT /projects/${id}/hooks/${hook.id}`, { body: { url: `${receiver.url}/b` } }),
      200,
    );
    expect((await resend()).body.error).toBe('The hook URL has changed. Unable to resend');
    const other = await makeProject(ashlar);
    const mine = await makeHook({}, `/projects/${other.id}/hooks`);
    const foreign = await ashlar.root(`POST /projects/${other.id}/hooks/${mine.id}/events/${entry}/resend`);
    expect(foreign.status).toBe(404);
    for (let more = 1; more <= 5; more++) await resend();
    expect((await resend()).status).toBe(429);
  });

  test('is forgotten after two days', async () => {
    const hook = await makeHook();
    await commit('one.txt');
    await expect.poll(() => log(hook.id)).toHaveLength(1);
    const moveBack = moveClock(49 * 3_600_000);
    try {
      expect(await log(hook.id)).toEqual([]);
      const sweep = ashlar.app.capabilities.find(({ name }) => name === 'hooks')?.tasks?.['hooks.sweep'];
      await sweep?.({});
    } finally {
      moveBack();
    }
    const { sql } = ashlar.app.services.database;
    const rows = await sql`select from hook_deliveries where hook_id = ${hook.id}`;
    expect(rows).toHaveLength(0);
  });
});

test('a hook of a group is tested by the latest of its projects', async () => {
  const group = bodyOf(
    await ashlar.root('POST /groups', { body: { name: 'Tried', path: `tried-${id}` } }),
    201,
  );
  const hook = await makeHook({}, `/groups/${group.id}/hooks`);
  const tried = () => ashlar.root(`POST /groups/${group.id}/hooks/${hook.id}/test/push_events`);
  expect((await tried()).body.message).toBe('Ensure the group has a project with commits.');
  ({ id } = await makeProject(ashlar, { namespace_id: group.id }));
  await commit('one.txt');
  await reach(1);
  expect((await tried()).status).toBe(201);
  expect(sent().map(({ project_id }) => project_id)).toEqual([id, id]);
});

test('a test of what is not there says what there must be', async () => {
  const hook = await makeHook();
  const refused = await ashlar.root(`POST /projects/${id}/hooks/${hook.id}/test/push_events`);
  expect(refused.status).toBe(422);
  expect(refused.body.message).toBe('Ensure the project has commits.');
  expect(receiver.received).toEqual([]);
});
