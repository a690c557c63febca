/**
 * Every row of the spec's "Limits", over HTTP; messages and counts of rate limits are in rate-limits.test.ts.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { type TestApp, useApp } from '../../support/app.ts';
import { withSettings } from '../../support/browser.ts';
import { bodyOf, makeUser } from '../../support/factories.ts';

const ashlar = useApp();
const limited = useApp({ env: { ASHLAR_PAGINATION_COUNT_LIMIT: '3' } });
const hosted = useApp({ env: { ASHLAR_OFFERING: 'hosted' } });
const shortUrls = useApp({ env: { ASHLAR_MAX_URL_LENGTH: '1024', ASHLAR_MAX_OFFSET: '100' } });

/** So many users more, as rows; deleted ones of an earlier call stay. */
async function addUsers(app: TestApp, count: number): Promise<void> {
  const { sql } = app.app.services.database;
  await sql`
    insert into users (username, name, email, projects_limit, can_create_group, confirmed_at, created_at, updated_at)
    select 'many' || gen_random_uuid(), 'Many', gen_random_uuid() || '@example.com', 0, false, now(), now(), now()
    from generate_series(1, ${count})`;
}
const totalOf = async (app: TestApp): Promise<number> =>
  Number((await app.root('GET /users')).headers.get('x-total'));

const totals = (headers: Headers) => ['x-total', 'x-total-pages'].map((name) => headers.get(name));

describe('Limits', () => {
  describe('per_page: default 20, maximum 100 (offset and keyset)', () => {
    beforeAll(() => addUsers(ashlar, 120));
    it.each(['', 'pagination=keyset&order_by=id&sort=asc&'])('with "%s"', async (kind) => {
      const length = async (query: string) =>
        bodyOf(await ashlar.root('GET /users', { query: `${kind}${query}` }), 200).length;
      expect(await length('')).toBe(20);
      expect(await length('per_page=7')).toBe(7);
      expect(await length('per_page=100')).toBe(100);
      expect(await length('per_page=101')).toBe(100);
      const zero = await ashlar.root('GET /users', { query: `${kind}per_page=0` });
      expect([zero.status, zero.body.message]).toEqual([400, { per_page: ['does not have a valid value'] }]);
    });
  });

  it('page: default 1', async () => {
    const [without, first] = [
      await ashlar.root('GET /users'),
      await ashlar.root('GET /users', { query: 'page=1' }),
    ];
    expect(without.headers.get('x-page')).toBe('1');
    expect(without.body).toEqual(first.body);
  });

  describe('Pagination totals: more than 10,000 records have no x-total, x-total-pages and rel=last', () => {
    it('at 10,000 they are there, at 10,001 they are not', async () => {
      await addUsers(ashlar, 10_000 - (await totalOf(ashlar)));
      const full = await ashlar.root('GET /users');
      expect(totals(full.headers)).toEqual(['10000', '500']);
      expect(full.headers.get('link')).toContain('rel="last"');
      await addUsers(ashlar, 1);
      const over = await ashlar.root('GET /users');
      expect(totals(over.headers)).toEqual([null, null]);
      expect(over.headers.get('link')).not.toContain('rel="last"');
      expect(over.headers.get('link')).toContain('rel="next"');
      expect(over.headers.get('x-next-page')).toBe('2');
    });

    it('the number is a setting of the program, for those who write clients', async () => {
      await addUsers(limited, 3 - (await totalOf(limited)));
      expect(totals((await limited.root('GET /users')).headers)).toEqual(['3', '1']);
      await addUsers(limited, 1);
      const over = await limited.root('GET /users', { query: 'per_page=2&page=2' });
      expect(totals(over.headers)).toEqual([null, null]);
      expect(over.headers.get('link')).not.toContain('rel="last"');
    });
  });

  it('Users listing: keyset is enforced when more than 50,000 records are requested', async () => {
    const at = (query: string) => ashlar.root('GET /users', { query });
    expect((await at('per_page=100&page=500')).status).toBe(200);
    const beyond = await at('per_page=100&page=501');
    expect(beyond.status).toBe(405);
    expect(beyond.body.message).toContain('Remaining records can be retrieved using keyset pagination.');
    expect((await at('per_page=100&page=501&pagination=keyset&order_by=id&sort=asc')).status).toBe(200);
  });

  it('Hosted offering: some pagination headers may be missing', async () => {
    const { headers } = await hosted.root('GET /users', { query: 'per_page=1' });
    expect(totals(headers)).toEqual([null, null]);
    expect([headers.get('x-page'), headers.get('x-per-page')]).toEqual(['1', '1']);
    expect(headers.get('link')).toContain('rel="first"');
  });

  it('rate limits apply to all API requests', async () => {
    const user = await makeUser(ashlar);
    const throttle = {
      throttle_authenticated_api_enabled: true,
      throttle_authenticated_api_requests_per_period: 3,
      throttle_authenticated_api_period_in_seconds: 86_400,
    };
    await withSettings(ashlar, throttle, async () => {
      const call = ashlar.as(user.token);
      const statuses: number[] = [];
      for (const line of ['GET /user', 'GET /projects/999999', 'POST /groups', 'GET /version', 'GET /users'])
        statuses.push((await call(line)).status);
      expect(statuses).toEqual([200, 404, 400, 429, 429]);
    });
  });

  it('a maximum offset applies to offset pagination', async () => {
    for (const path of ['/projects', '/groups', '/users', '/audit_events']) {
      const response = await ashlar.root(`GET ${path}`, { query: 'per_page=50&page=1001' });
      expect([path, response.status]).toEqual([path, 405]);
      expect(response.body.message).toContain('Offset pagination has a maximum allowed offset of 50000');
    }
  });

  it('the maximum offset is configurable', async () => {
    expect((await shortUrls.root('GET /projects', { query: 'per_page=50&page=2' })).status).toBe(200);
    const beyond = await shortUrls.root('GET /projects', { query: 'per_page=50&page=3' });
    expect(beyond.status).toBe(405);
    expect(beyond.body.message).toContain('a maximum allowed offset of 100');
  });

  it('maximum URL length that triggers 414: a setting of the program', async () => {
    const ask = (app: TestApp, length: number) =>
      app.root('GET /version', { query: 'x'.repeat(length - '/api/v4/version?'.length) });
    expect((await ask(shortUrls, 1_024)).status).toBe(200);
    expect((await ask(shortUrls, 1_025)).status).toBe(414);
    expect((await ask(ashlar, 8_190)).status).toBe(200);
    expect((await ask(ashlar, 8_191)).status).toBe(414);
  });
});

// Without a test here: the lifetime of OAuth access tokens is in authentication.test.ts (rule 7); PKCE's
// `CODE_VERIFIER` and the size of alert payloads belong to OAuth and alerts, which are not there yet.
