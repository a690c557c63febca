/** Error-tracking settings and client keys over HTTP. */
import { describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { addMember, bodyOf, makeProject, makeUser } from '../../../../test/support/factories.ts';
import { unseal } from '../../../platform/secret.ts';

const app = useApp();

const internal = {
  active: true,
  project_name: null,
  tracker_external_url: null,
  sentry_external_url: null,
  api_url: null,
  integrated: true,
  keep_addresses: false,
};
const NONE = { message: '404 Error Tracking Setting Not Found' };

async function audited(projectId: number) {
  const query = 'per_page=100';
  const events = bodyOf(await app.root(`GET /projects/${projectId}/audit_events`, { query }), 200);
  return events
    .filter(({ event_name }: { event_name: string }) => event_name.startsWith('error_tracking'))
    .map(({ event_name, details }: { event_name: string; details: Record<string, unknown> }) => [
      event_name,
      details.change ?? details.target_type,
    ])
    .reverse();
}

describe('settings', () => {
  test('are made by PUT, changed by PATCH, and read', async () => {
    const { id } = await makeProject(app);
    const path = `/projects/${id}/error_tracking/settings`;
    expect(await app.root(`GET ${path}`)).toMatchObject({ status: 404, body: NONE });
    expect(await app.root(`PATCH ${path}`, { body: { active: true } })).toMatchObject({
      status: 404,
      body: NONE,
    });
    const made = await app.root(`PUT ${path}`, { body: { active: true, integrated: true } });
    expect(bodyOf(made, 200)).toEqual(internal);
    expect(bodyOf(await app.root(`GET ${path}`), 200)).toEqual(internal);
    const off = { ...internal, active: false };
    expect(bodyOf(await app.root(`PATCH ${path}`, { body: { active: false } }), 200)).toEqual(off);
    expect(bodyOf(await app.root(`PATCH ${path}`, { form: 'active=true&keep_addresses=true' }), 200)).toEqual(
      {
        ...internal,
        keep_addresses: true,
      },
    );
    expect(bodyOf(await app.root(`PUT ${path}`, { query: 'active=false&integrated=true' }), 200)).toEqual({
      ...off,
      keep_addresses: true,
    });
    expect(await audited(id)).toEqual([
      ['error_tracking_setting_created', 'active'],
      ['error_tracking_setting_created', 'integrated'],
      ['error_tracking_setting_created', 'keep_addresses'],
      ['error_tracking_setting_updated', 'active'],
      ['error_tracking_setting_updated', 'active'],
      ['error_tracking_setting_updated', 'keep_addresses'],
      ['error_tracking_setting_updated', 'active'],
    ]);
  });

  test('name an external tracker, which comes back when errors are not kept here', async () => {
    const { id } = await makeProject(app);
    const path = `/projects/${id}/error_tracking/settings`;
    const put = (integrated: boolean) => app.root(`PUT ${path}`, { body: { active: true, integrated } });
    expect(await put(false)).toMatchObject({
      status: 400,
      body: { message: { api_url: ["can't be blank"] } },
    });
    await put(true);
    const external = {
      integrated: false,
      project_name: 'Shop',
      tracker_external_url: 'https://tracker.example/organizations/acme/issues/?project=1',
      sentry_external_url: 'https://tracker.example/organizations/acme/issues/?project=1',
      api_url: 'https://tracker.example/api/0/projects/acme/shop/',
    };
    const { sentry_external_url: _, ...sent } = external;
    const changed = await app.root(`PATCH ${path}`, { body: { active: true, ...sent, token: 'sesame' } });
    expect(bodyOf(changed, 200)).toEqual({ ...internal, ...external });
    expect(changed.text).not.toContain('sesame');
    const { database, secretKey } = app.app.services;
    const [row] = await database.sql`select * from error_tracking_settings where project_id = ${id}`;
    expect(unseal(secretKey, String(row?.token_sealed))).toBe('sesame');
    expect(bodyOf(await put(true), 200)).toEqual(internal);
    expect(bodyOf(await put(false), 200)).toEqual({ ...internal, ...external });
    expect(await audited(id)).toContainEqual(['error_tracking_setting_updated', 'token']);
    const stored = async () => {
      const [after] = await database.sql`select * from error_tracking_settings where project_id = ${id}`;
      return after?.token_sealed;
    };
    const same = { active: true, api_url: external.api_url };
    bodyOf(await app.root(`PATCH ${path}`, { body: same }), 200);
    expect(await stored()).not.toBeNull();
    // A new address without the token drops the stored token.
    const elsewhere = { active: true, api_url: 'https://elsewhere.example/api/0/projects/acme/shop/' };
    bodyOf(await app.root(`PATCH ${path}`, { body: elsewhere }), 200);
    expect(await stored()).toBeNull();
    bodyOf(await app.root(`PATCH ${path}`, { body: { ...same, token: 'sesame' } }), 200);
    const cleared = { active: true, sentry_external_url: '', project_name: null, token: '' };
    expect(bodyOf(await app.root(`PATCH ${path}`, { body: cleared }), 200)).toMatchObject({
      project_name: null,
      tracker_external_url: null,
      api_url: external.api_url,
    });
    expect(await stored()).toBeNull();
  });

  test.each<[string, string, object, object]>([
    ['PUT', 'nothing', {}, { error: 'active is missing, integrated is missing' }],
    ['PUT', 'half', { active: true }, { error: 'integrated is missing' }],
    ['PUT', 'no boolean', { active: 'perhaps', integrated: true }, { error: 'active is invalid' }],
    ['PATCH', 'nothing', {}, { error: 'active is missing' }],
    ['PATCH', 'no boolean', { active: true, integrated: 'no way' }, { error: 'integrated is invalid' }],
    ['PATCH', 'a script', { active: true, tracker_external_url: 'javascript:alert(1)' }, {}],
    ['PATCH', 'a file', { active: true, api_url: 'file:///etc/passwd' }, {}],
    ['PATCH', 'credentials', { active: true, api_url: 'https://me:you@tracker.example' }, {}],
  ])('400: %s with %s', async (method, _, body, expected) => {
    const { id } = await makeProject(app);
    const path = `/projects/${id}/error_tracking/settings`;
    await app.root(`PUT ${path}`, { body: { active: true, integrated: true } });
    expect(await app.root(`${method} ${path}`, { body })).toMatchObject({ status: 400, body: expected });
    expect(bodyOf(await app.root(`GET ${path}`), 200)).toEqual(internal);
  });
});

describe('client keys', () => {
  test('are made, listed, turned off and deleted', async () => {
    const { id } = await makeProject(app);
    const path = `/projects/${id}/error_tracking/client_keys`;
    const key = bodyOf(await app.root(`POST ${path}`), 201);
    const dsn = `http://${key.public_key}@${new URL(app.url).host}/api/v4/error_tracking/collector/${id}`;
    expect(key).toEqual({
      id: key.id,
      active: true,
      public_key: expect.stringMatching(/^glet_[0-9a-f]{32}$/),
      tracker_dsn: dsn,
      sentry_dsn: dsn,
    });
    const other = bodyOf(await app.root(`POST ${path}`), 201);
    const listed = await app.root(`GET ${path}`, { query: 'per_page=1' });
    expect(bodyOf(listed, 200)).toEqual([key]);
    expect(listed.headers.get('x-total')).toBe('2');
    const off = { ...key, active: false };
    const turn = (active: boolean) => app.root(`PATCH ${path}/${key.id}`, { body: { active } });
    expect(bodyOf(await turn(false), 200)).toEqual(off);
    expect(bodyOf(await turn(false), 200)).toEqual(off);
    expect(bodyOf(await app.root(`DELETE ${path}/${key.id}`), 200)).toEqual(off);
    expect(await app.root(`DELETE ${path}/${key.id}`)).toMatchObject({ status: 404 });
    expect(await turn(true)).toMatchObject({ status: 404, body: { message: '404 Not found' } });
    expect(bodyOf(await app.root(`GET ${path}`), 200)).toEqual([other]);
    const type = 'ErrorTracking::ClientKey';
    expect(await audited(id)).toEqual([
      ['error_tracking_client_key_created', type],
      ['error_tracking_client_key_created', type],
      ['error_tracking_client_key_updated', 'active'],
      ['error_tracking_client_key_deleted', type],
    ]);
  });

  test("are the project's own", async () => {
    const one = await makeProject(app);
    const two = await makeProject(app);
    const key = bodyOf(await app.root(`POST /projects/${one.id}/error_tracking/client_keys`), 201);
    const path = `/projects/${two.id}/error_tracking/client_keys/${key.id}`;
    expect(await app.root(`DELETE ${path}`)).toMatchObject({ status: 404 });
    expect(await app.root(`PATCH ${path}`, { body: { active: false } })).toMatchObject({ status: 404 });
    expect(await app.root(`DELETE /projects/${one.id}/error_tracking/client_keys/x`)).toMatchObject({
      status: 400,
    });
  });
});

test('whoever maintains the project may, and nobody else', async () => {
  const { id } = await makeProject(app);
  const path = `/projects/${id}/error_tracking`;
  const requests = ['GET', 'PUT', 'PATCH'].map((method) => `${method} ${path}/settings`);
  requests.push(`GET ${path}/client_keys`, `POST ${path}/client_keys`, `DELETE ${path}/client_keys/1`);
  const body = { active: true, integrated: true };
  const statuses = async (call: typeof app.call) => {
    const called: number[] = [];
    for (const request of requests)
      called.push((await call(request, request.startsWith('GET') ? {} : { body })).status);
    return called;
  };
  const member = async (level: number) => {
    const user = await makeUser(app);
    if (level > 0) await addMember(app, `projects/${id}`, user, level);
    return app.as(user.token);
  };
  expect(await statuses(app.call)).toEqual([401, 401, 401, 401, 401, 401]);
  expect(await statuses(await member(0))).toEqual([404, 404, 404, 404, 404, 404]);
  expect(await statuses(await member(30))).toEqual([403, 403, 403, 403, 403, 403]);
  expect(await statuses(await member(40))).toEqual([404, 200, 200, 200, 201, 404]);
});
