import { beforeEach, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { openBrowser, signInAs } from '../../../../test/support/browser.ts';
import { bodyOf, makeUser } from '../../../../test/support/factories.ts';
import { moveClock, now } from '../../../platform/clock.ts';

const app = useApp();
const FLAG = 'oauth_dynamic_client_registration';
const metadata = {
  client_name: 'Editor',
  redirect_uris: ['http://127.0.0.1:3000/callback', 'https://a.example/'],
};

const register = (body: unknown, headers: Record<string, string> = {}) =>
  app.call('POST /oauth/register', { raw: true, body, headers });
const setFlag = async (value: boolean) =>
  bodyOf(await app.root(`POST /features/${FLAG}`, { body: { value } }), 201);

let hours = 0;
// Each test in an hour of its own, which no registration has been counted in.
beforeEach(async () => {
  await setFlag(true);
  return moveClock(3_600_000 * ++hours);
});

test('a program registers itself as a public client that must use PKCE', async () => {
  const response = await register({
    ...metadata,
    scope: 'api sudo',
    token_endpoint_auth_method: 'client_secret_basic',
  });
  expect(response.status).toBe(201);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.body).toEqual({
    client_id: expect.stringMatching(/^[0-9a-f]{64}$/),
    client_id_issued_at: expect.any(Number),
    redirect_uris: metadata.redirect_uris,
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code'],
    require_pkce: true,
    client_name: '[Unverified Dynamic Application] Editor',
    scope: 'mcp',
    dynamic: true,
  });
  expect(Math.abs(response.body.client_id_issued_at - now().getTime() / 1_000)).toBeLessThan(60);
  const [row] = await app.app.services.database
    .sql`select * from oauth_applications where uid = ${response.body.client_id}`;
  expect(row).toMatchObject({
    ...{ secret_digest: null, confidential: false, trusted: false, dynamic: true },
    ...{ user_id: null, namespace_id: null, scopes: ['mcp'] },
  });
});

test.each<[unknown, string]>([
  [{ ...metadata, client_name: undefined }, 'client_name is required'],
  [{ ...metadata, client_name: ' ' }, 'client_name is required'],
  [{ ...metadata, client_name: { a: 1 } }, 'client_name is required'],
  [{ ...metadata, client_name: 'x'.repeat(200) }, 'client_name must have less than 200 characters'],
  [{ ...metadata, redirect_uris: [] }, 'redirect_uris is required'],
  [{ ...metadata, redirect_uris: 'https://a.example/' }, 'redirect_uris is required'],
  [{ ...metadata, redirect_uris: ['https://a.example/', 1] }, 'redirect_uris must be a list of texts'],
  [{ ...metadata, redirect_uris: ['javascript:alert(1)'] }, 'redirect_uris is forbidden by the server.'],
  [{ ...metadata, redirect_uris: ['http://a.example/'] }, 'redirect_uris must be an HTTPS/SSL URI.'],
  [{ ...metadata, redirect_uris: ['https://a.example/', ''] }, 'redirect_uris must be a valid URI.'],
])('%o is refused', async (body, error_description) => {
  const response = await register(body);
  expect([response.status, response.body]).toEqual([
    400,
    { error: 'invalid_client_metadata', error_description },
  ]);
});

test.each(['{"', '[]', '"x"'])('%s is no document', async (text) => {
  const response = await app.call('POST /oauth/register', {
    raw: true,
    form: text,
    headers: { 'content-type': 'application/json' },
  });
  expect([response.status, response.body.error]).toEqual([400, 'invalid_request']);
});

test('five an hour from one address, those that fail counted', async () => {
  const statuses: number[] = [];
  for (const body of [metadata, {}, metadata, {}, metadata, metadata])
    statuses.push((await register(body)).status);
  expect(statuses).toEqual([201, 400, 201, 400, 201, 429]);
  const refused = await register(metadata);
  expect(refused.body).toEqual({
    message: { error: 'This endpoint has been requested too many times. Try again later.' },
  });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
});

test('without the feature flag there is no such endpoint', async () => {
  await setFlag(false);
  for (const body of [metadata, {}, 'x']) {
    const response = await register(body);
    expect([response.status, response.body]).toEqual([404, { message: '404 Not found' }]);
  }
});

test('what registered itself is an application of the instance, that can only be deleted', async () => {
  const { client_id } = (await register(metadata)).body;
  const listed = bodyOf(await app.root('GET /applications', { query: 'per_page=100' }), 200);
  const { id } = listed.find((one: { application_id: string }) => one.application_id === client_id);
  expect((await app.root(`POST /applications/${id}/renew-secret`)).status).toBe(400);
  const admin = await makeUser(app, { admin: true });
  const browser = openBrowser(app);
  await signInAs(browser, admin.username, 'correct horse battery staple');
  const path = `/admin/applications/${id}`;
  expect((await browser.get(path)).text).not.toContain(`${path}/edit`);
  const fields = { name: 'Official', redirect_uri: 'https://a.example/', scope_api: '1', trusted: '1' };
  expect((await browser.submit(`${path}/edit`, fields, path)).status).toBe(400);
  expect((await browser.submit(path, {}, `${path}/delete`)).status).toBe(303);
  expect((await app.root(`DELETE /applications/${id}`)).status).toBe(404);
});
