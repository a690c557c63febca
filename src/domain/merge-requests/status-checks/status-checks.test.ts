/** External status checks over HTTP: who manages them, what their services are sent, and what they hold up. */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Call, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers, makeUser } from '../../../../test/support/factories.ts';
import {
  commitTo,
  makeMergeRequest,
  makeReviewedProject,
  waitForFollowing,
} from '../../../../test/support/merge-requests.ts';
import { startWebServer, type WebServer } from '../../../../test/support/web-server.ts';
import { moveClock } from '../../../platform/clock.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'ultimate' } });
let service: WebServer;
let id = 0;

beforeAll(async () => {
  service = await startWebServer((_request, reply) => reply.end());
});
afterAll(() => service.stop());

const allow = async (allowlist: string[]): Promise<void> => {
  const body = { outbound_local_requests_allowlist: allowlist };
  bodyOf(await ashlar.root('PUT /application/settings', { body }), 200);
};
const addCheck = (body: Record<string, unknown> = {}, call: Call = ashlar.root) =>
  call(`POST /projects/${id}/external_status_checks`, {
    body: { name: 'Compliance', external_url: `${service.url}/hook`, ...body },
  });
const makeCheck = async (body: Record<string, unknown> = {}) => bodyOf(await addCheck(body), 201);
const mergeRequest = () => `/projects/${id}/merge_requests/1`;
const respond = (check: number, sha: string, status: string, call: Call = ashlar.root) =>
  call(`POST ${mergeRequest()}/status_check_responses`, {
    body: { external_status_check_id: check, sha, status },
  });
const statuses = async (): Promise<string[]> =>
  bodyOf(await ashlar.root(`GET ${mergeRequest()}/status_checks`), 200).map(
    ({ status }: { status: string }) => status,
  );
const received = () => service.received.map(({ body }) => JSON.parse(body));

beforeEach(async () => {
  await allow(['127.0.0.1']);
  ({ id } = await makeReviewedProject(ashlar, { visibility: 'public' }));
  service.received.splice(0);
});

describe('checks', () => {
  test('are made, changed and deleted; their secret is never told', async () => {
    const branch = bodyOf(
      await ashlar.root(`POST /projects/${id}/protected_branches`, { body: { name: 'release/*' } }),
      201,
    );
    const made = await makeCheck({ shared_secret: 'the secret', protected_branch_ids: [branch.id] });
    expect(made).toEqual({
      id: made.id,
      name: 'Compliance',
      project_id: id,
      external_url: `${service.url}/hook`,
      hmac: true,
      protected_branches: [branch],
    });
    const path = `/projects/${id}/external_status_checks`;
    const changed = await ashlar.root(`PUT ${path}/${made.id}`, {
      body: { name: 'Other', shared_secret: '', protected_branch_ids: [0] },
    });
    const other = { ...made, name: 'Other', hmac: false, protected_branches: [] };
    expect(bodyOf(changed, 200)).toEqual(other);
    expect(bodyOf(await ashlar.root(`GET ${path}`), 200)).toEqual([other]);
    expect((await ashlar.root(`DELETE ${path}/${made.id}`)).status).toBe(204);
    expect((await ashlar.root(`PUT ${path}/${made.id}`, { body: { name: 'x' } })).status).toBe(404);
  });

  test('are the maintainers’ business, and read by developers', async () => {
    const { reporter, developer, maintainer } = await makeMembers(
      ashlar,
      `projects/${id}`,
      'reporter',
      'developer',
      'maintainer',
    );
    for (const { token } of [reporter, developer])
      expect((await addCheck({}, ashlar.as(token))).status).toBe(403);
    bodyOf(await addCheck({}, ashlar.as(maintainer.token)), 201);
    const listed = ({ token }: { token: string }) =>
      ashlar.as(token)(`GET /projects/${id}/external_status_checks`);
    expect((await listed(developer)).status).toBe(200);
    for (const person of [reporter, await makeUser(ashlar)]) expect((await listed(person)).status).toBe(403);
  });

  test.each<[what: string, body: Record<string, unknown>, property: string]>([
    ['a name that is taken', { external_url: 'https://other.example/' }, 'name'],
    ['an address that is taken', { name: 'Other' }, 'external_url'],
    ['an address that is none', { name: 'Other', external_url: 'file:///etc/passwd' }, 'external_url'],
    ['an address with a password', { name: 'Other', external_url: 'http://a:b@example.org' }, 'external_url'],
    [
      'a branch that is not the project’s',
      { name: 'Other', external_url: 'https://other.example/', protected_branch_ids: [987_654_321] },
      'protected_branches',
    ],
  ])('with %s are refused', async (_what, body, property) => {
    await makeCheck();
    const refused = await addCheck(body);
    expect([refused.status, Object.keys(refused.body.message)]).toEqual([400, [property]]);
  });

  test('are at most twenty', async () => {
    await ashlar.app.services.database.sql`
      insert into external_status_checks (project_id, name, external_url, created_at, updated_at)
        select ${id}, n::text, 'https://checks.example/' || n, now(), now() from generate_series(1, 20) n`;
    expect((await addCheck()).status).toBe(400);
  });
});

describe('services', () => {
  test('are sent what is opened, pushed and changed, with a signature', async () => {
    const { id: checkId } = await makeCheck({ shared_secret: 'the secret' });
    const { sha } = await makeMergeRequest(ashlar, id, 'topic', { title: 'Topic' });
    await waitForFollowing(ashlar);
    const [first] = service.received;
    expect([first?.method, first?.path]).toEqual(['POST', '/hook']);
    const signature = createHmac('sha256', 'the secret')
      .update(first?.body ?? '')
      .digest('hex');
    expect(first?.headers['x-gitlab-signature']).toBe(signature);
    expect(received()).toEqual([
      expect.objectContaining({
        object_kind: 'merge_request',
        user: expect.objectContaining({ username: 'root' }),
        project: expect.objectContaining({ id }),
        object_attributes: expect.objectContaining({
          action: 'open',
          iid: 1,
          title: 'Topic',
          state: 'opened',
          source_branch: 'topic',
          target_branch: 'main',
          last_commit: expect.objectContaining({ id: sha }),
        }),
        external_approval_rule: { id: checkId, name: 'Compliance', external_url: `${service.url}/hook` },
      }),
    ]);
    const head = await commitTo(ashlar, id, 'topic', { 'more.txt': 'more' });
    await waitForFollowing(ashlar);
    expect(received().at(-1).object_attributes).toMatchObject({
      action: 'update',
      oldrev: sha,
      last_commit: { id: head },
    });
    bodyOf(await ashlar.root(`PUT ${mergeRequest()}`, { body: { title: 'New title' } }), 200);
    await waitForFollowing(ashlar);
    expect(received().at(-1).object_attributes).toMatchObject({ action: 'update', title: 'New title' });
    const sent = service.received.length;
    bodyOf(await ashlar.root(`PUT ${mergeRequest()}`, { body: { state_event: 'close' } }), 200);
    bodyOf(await respond(checkId, head, 'passed'), 201);
    await waitForFollowing(ashlar);
    expect(service.received).toHaveLength(sent);
  });

  test('in a network that is not allowed are sent nothing', async () => {
    await allow([]);
    await makeCheck();
    await makeMergeRequest(ashlar, id, 'topic');
    await waitForFollowing(ashlar);
    expect(service.received).toEqual([]);
    expect(await statuses()).toEqual(['pending']);
  });

  test('for other branches are not concerned', async () => {
    const { id: branch } = bodyOf(
      await ashlar.root(`POST /projects/${id}/protected_branches`, { body: { name: 'release/*' } }),
      201,
    );
    await makeCheck({ protected_branch_ids: [branch] });
    await obey();
    const { detailed_merge_status } = await makeMergeRequest(ashlar, id, 'topic');
    await waitForFollowing(ashlar);
    expect([service.received.length, await statuses(), detailed_merge_status]).toEqual([0, [], 'mergeable']);
  });

  test('are not told of a private fork’s name', async () => {
    await makeCheck();
    await makeMergeRequest(ashlar, id, 'topic');
    const { sql } = ashlar.app.services.database;
    const hidden = await makeReviewedProject(ashlar, { visibility: 'private' });
    await sql`update merge_requests set source_project_id = ${hidden.id} where project_id = ${id}`;
    await waitForFollowing(ashlar);
    service.received.splice(0);
    bodyOf(await ashlar.root(`PUT ${mergeRequest()}`, { body: { title: 'New' } }), 200);
    await waitForFollowing(ashlar);
    expect(received().map(({ object_attributes }) => object_attributes.source)).toEqual([null]);
    expect(service.received[0]?.body).not.toContain(hidden.path_with_namespace);
  });
});

/** Merging obeys the checks. */
const obey = async (): Promise<void> => {
  const body = { only_allow_merge_if_all_status_checks_passed: true };
  bodyOf(await ashlar.root(`PUT /projects/${id}`, { body }), 200);
};

describe('merging', () => {
  test('waits until all have passed for the newest commit', async () => {
    const [one, two] = [
      await makeCheck(),
      await makeCheck({ name: 'Two', external_url: `${service.url}/2` }),
    ];
    await obey();
    const { sha } = await makeMergeRequest(ashlar, id, 'topic');
    const status = async () =>
      bodyOf(await ashlar.root(`GET ${mergeRequest()}`), 200).detailed_merge_status as string;
    expect(await status()).toBe('status_checks_must_pass');
    expect((await ashlar.root(`PUT ${mergeRequest()}/merge`)).status).toBe(405);
    const passed = bodyOf(await respond(one.id, sha, 'passed'), 201);
    expect(passed).toMatchObject({ merge_request: { iid: 1 }, external_status_check: { id: one.id } });
    bodyOf(await respond(two.id, sha, 'failed'), 201);
    expect([await statuses(), await status()]).toEqual([['passed', 'failed'], 'status_checks_must_pass']);
    const head = await commitTo(ashlar, id, 'topic', { 'more.txt': 'more' });
    await waitForFollowing(ashlar);
    expect(await statuses()).toEqual(['pending', 'pending']);
    expect(await respond(one.id, sha, 'passed')).toMatchObject({
      status: 409,
      body: { message: `SHA does not match HEAD of source branch: ${head}` },
    });
    const waiting = await ashlar.root(`PUT ${mergeRequest()}/merge`, { body: { auto_merge: true } });
    expect(bodyOf(waiting, 200).state).toBe('opened');
    bodyOf(await respond(one.id, head, 'passed'), 201);
    bodyOf(await respond(two.id, head, 'passed'), 201);
    await waitForFollowing(ashlar);
    expect(bodyOf(await ashlar.root(`GET ${mergeRequest()}`), 200).state).toBe('merged');
  });

  test('does not wait where the project does not ask for it', async () => {
    await makeCheck();
    expect((await makeMergeRequest(ashlar, id, 'topic')).detailed_merge_status).toBe('mergeable');
  });
});

test('a service that does not respond has failed, and can be asked again', async () => {
  const { id: checkId } = await makeCheck();
  await makeMergeRequest(ashlar, id, 'topic');
  await waitForFollowing(ashlar);
  const retry = () => ashlar.root(`POST ${mergeRequest()}/status_checks/${checkId}/retry`);
  expect(await retry()).toMatchObject({
    status: 422,
    body: { message: 'External status check must be failed' },
  });
  const back = moveClock(2 * 60_000);
  try {
    expect(await statuses()).toEqual(['failed']);
    service.received.splice(0);
    const again = await Promise.all([retry(), retry()]);
    expect(again.map(({ status }) => status).sort()).toEqual([202, 422]);
    expect(await statuses()).toEqual(['pending']);
    await waitForFollowing(ashlar);
    expect(service.received).toHaveLength(1);
  } finally {
    back();
  }
});

test('responses are the developers’, about checks of the project', async () => {
  const { id: checkId } = await makeCheck();
  const { sha } = await makeMergeRequest(ashlar, id, 'topic');
  const { reporter, developer } = await makeMembers(ashlar, `projects/${id}`, 'reporter', 'developer');
  expect((await respond(checkId, sha, 'passed', ashlar.as(reporter.token))).status).toBe(403);
  bodyOf(await respond(checkId, sha, 'passed', ashlar.as(developer.token)), 201);
  const mine = id;
  ({ id } = await makeReviewedProject(ashlar));
  const other = await makeCheck();
  id = mine;
  expect((await respond(other.id, sha, 'passed')).status).toBe(404);
});
