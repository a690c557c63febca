/** Rate limits over HTTP (spec: Limits, "Rate limits apply to all API requests"; facts: Rate limits). */
import { describe, expect, it } from 'vitest';
import type { ApplicationSettings } from '../../../src/kernel/settings/definitions.ts';
import { moveClock } from '../../../src/platform/clock.ts';
import { type Called, useApp } from '../../support/app.ts';
import { withSettings } from '../../support/browser.ts';
import { bodyOf, makeProject, makeUser } from '../../support/factories.ts';

/** The tests come from addresses of their own, as if through a proxy. */
const ashlar = useApp({ env: { ASHLAR_TRUSTED_PROXIES: '127.0.0.1' } });
let addresses = 0;
const newAddress = () => ({ 'x-forwarded-for': `198.18.${++addresses >> 8}.${addresses & 255}` });

/** A day: no window ends while a test runs, short of midnight. */
const DAY = 86_400;
type Kind = 'authenticated' | 'unauthenticated';
const throttle = (kind: Kind, requests: number, period = DAY): Partial<ApplicationSettings> => ({
  [`throttle_${kind}_api_enabled`]: true,
  [`throttle_${kind}_api_requests_per_period`]: requests,
  [`throttle_${kind}_api_period_in_seconds`]: period,
});

/** Pages and what else is outside the API: one request of nobody in a day. */
const web: Partial<ApplicationSettings> = {
  throttle_unauthenticated_web_enabled: true,
  throttle_unauthenticated_web_requests_per_period: 1,
  throttle_unauthenticated_web_period_in_seconds: DAY,
};

const names = ['name', 'limit', 'observed', 'remaining', 'reset'];
const rateHeaders = ({ headers }: Called) => names.map((name) => headers.get(`ratelimit-${name}`));
const hasNone = (called: Called) => expect(rateHeaders(called)).toEqual([null, null, null, null, null]);
const statusesOf = async (count: number, ask: () => Promise<Called>): Promise<number[]> => {
  const statuses: number[] = [];
  for (let index = 0; index < count; index++) statuses.push((await ask()).status);
  return statuses;
};

describe('throttles', () => {
  it('answer 429 in plain text, with Retry-After and RateLimit-ResetTime', async () => {
    const user = await makeUser(ashlar);
    const call = ashlar.as(user.token);
    await withSettings(ashlar, throttle('authenticated', 2), async () => {
      expect(await statusesOf(2, () => call('GET /user'))).toEqual([200, 200]);
      const refused = await call('GET /user');
      expect([refused.status, refused.text]).toEqual([429, 'Retry later\n']);
      expect(refused.headers.get('content-type')).toBe('text/plain; charset=utf-8');
      const reset = Number(refused.headers.get('ratelimit-reset')) * 1_000;
      expect(refused.headers.get('ratelimit-resettime')).toBe(new Date(reset).toUTCString());
      expect(reset % (DAY * 1_000)).toBe(0);
      const retryAfter = Number(refused.headers.get('retry-after'));
      expect(Math.abs((reset - Date.now()) / 1_000 - retryAfter)).toBeLessThan(60);
    });
  });

  it('say what was counted, the limit per minute rounded up', async () => {
    const call = ashlar.as((await makeUser(ashlar)).token);
    await withSettings(ashlar, throttle('authenticated', 4_000), async () => {
      const first = rateHeaders(await call('GET /user'));
      expect(first).toEqual([
        'throttle_authenticated_api',
        '3',
        '1',
        '3999',
        expect.stringMatching(/^\d{10}$/),
      ]);
      expect(rateHeaders(await call('GET /user')).slice(2, 4)).toEqual(['2', '3998']);
    });
  });

  it('count refused requests as well', async () => {
    const call = ashlar.as((await makeUser(ashlar)).token);
    await withSettings(ashlar, throttle('authenticated', 1), async () => {
      expect(await statusesOf(3, () => call('GET /user'))).toEqual([200, 429, 429]);
      expect(rateHeaders(await call('GET /user')).slice(2, 4)).toEqual(['4', '0']);
    });
  });

  it('show the RateLimit headers on every answer, errors included', async () => {
    const user = await makeUser(ashlar);
    const call = ashlar.as(user.token);
    await withSettings(ashlar, throttle('authenticated', 1_000), async () => {
      const etag = (await call('GET /user/status')).headers.get('etag') ?? '';
      const requests: [string, number, Parameters<typeof call>[1]?][] = [
        ['GET /user', 200],
        ['HEAD /user', 200],
        ['POST /projects', 201, { body: { name: 'counted' } }],
        ['POST /projects', 409, { body: { name: 'counted' } }],
        ['GET /user/status', 304, { headers: { 'if-none-match': etag } }],
        ['POST /groups', 400, { body: {} }],
        ['GET /application/settings', 403],
        ['GET /projects/999999', 404],
      ];
      for (const [line, status, options] of requests) {
        const response = await call(line, options);
        expect([line, response.status]).toEqual([line, status]);
        expect([line, ...rateHeaders(response)]).not.toContain(null);
      }
    });
  });

  it('show none where no throttle applies', async () => {
    const user = await makeUser(ashlar);
    hasNone(await ashlar.as(user.token)('GET /user'));
    await withSettings(ashlar, throttle('authenticated', 0), async () => {
      hasNone(await ashlar.as(user.token)('GET /user'));
    });
    await withSettings(ashlar, throttle('authenticated', 10), async () => {
      hasNone(await ashlar.call('GET /projects', { headers: newAddress() }));
    });
  });

  it('count by user: all their tokens and addresses together, and nobody else', async () => {
    const [one, other] = [await makeUser(ashlar), await makeUser(ashlar)];
    const body = { name: 'second', scopes: ['api'] };
    const made = await ashlar.root(`POST /users/${one.id}/personal_access_tokens`, { body });
    const { token: second } = bodyOf(made, 201);
    await withSettings(ashlar, throttle('authenticated', 2), async () => {
      expect((await ashlar.as(one.token)('GET /user', { headers: newAddress() })).status).toBe(200);
      expect((await ashlar.as(second)('GET /user', { headers: newAddress() })).status).toBe(200);
      expect((await ashlar.as(one.token)('GET /user')).status).toBe(429);
      expect((await ashlar.as(other.token)('GET /user')).status).toBe(200);
    });
  });

  it('count sudo for the administrator, not for the user', async () => {
    const [admin, user] = [await makeUser(ashlar, { admin: true }), await makeUser(ashlar)];
    const body = { name: 'sudo', scopes: ['api', 'sudo'] };
    const made = await ashlar.root(`POST /users/${admin.id}/personal_access_tokens`, { body });
    const call = ashlar.as(bodyOf(made, 201).token);
    await withSettings(ashlar, throttle('authenticated', 1), async () => {
      expect((await call('GET /user', { headers: { sudo: user.username } })).status).toBe(200);
      expect((await call('GET /user')).status).toBe(429);
      expect((await ashlar.as(user.token)('GET /user')).status).toBe(200);
    });
  });

  it('count by address without a credential', async () => {
    const [here, there] = [newAddress(), newAddress()];
    await withSettings(ashlar, throttle('unauthenticated', 2), async () => {
      const ask = () => ashlar.call('GET /projects', { headers: here });
      expect(await statusesOf(3, ask)).toEqual([200, 200, 429]);
      const other = await ashlar.call('GET /projects', { headers: there });
      expect([other.status, rateHeaders(other)[0]]).toEqual([200, 'throttle_unauthenticated_api']);
      const user = await ashlar.root('GET /user', { headers: here });
      expect(user.status).toBe(200);
    });
  });

  it.each<Record<string, string>>([
    { 'private-token': 'no-such-token' },
    { authorization: 'Bearer no-such-token' },
    { 'job-token': 'no-such-token' },
    { 'deploy-token': 'no-such-token' },
  ])('count a bad credential for its address: %j', async (credential) => {
    const headers = { ...newAddress(), ...credential };
    await withSettings(ashlar, throttle('unauthenticated', 2), async () => {
      const first = await ashlar.call('GET /projects', { headers });
      expect([first.status, ...rateHeaders(first).slice(0, 3)]).toEqual([
        401,
        'throttle_unauthenticated_api',
        '1',
        '1',
      ]);
      expect(await statusesOf(2, () => ashlar.call('GET /projects', { headers }))).toEqual([401, 429]);
      const anonymous = { 'x-forwarded-for': headers['x-forwarded-for'] };
      expect((await ashlar.call('GET /projects', { headers: anonymous })).status).toBe(429);
      expect((await ashlar.call('GET /projects', { headers: newAddress() })).status).toBe(200);
    });
  });

  it('answer with rate_limiting_response_text where it is set', async () => {
    const call = ashlar.as((await makeUser(ashlar)).token);
    const rate_limiting_response_text = 'Slow down, please.';
    await withSettings(ashlar, { ...throttle('authenticated', 1), rate_limiting_response_text }, async () => {
      expect((await call('GET /user')).status).toBe(200);
      const refused = await call('GET /user');
      expect([refused.status, refused.text]).toEqual([429, 'Slow down, please.\n']);
    });
  });

  it('count the pages too, under names of their own', async () => {
    const headers = newAddress();
    await withSettings(ashlar, web, async () => {
      const open = () => ashlar.call('GET /users/sign_in', { raw: true, headers });
      const [first, second] = [await open(), await open()];
      expect([first.status, rateHeaders(first)[0]]).toEqual([200, 'throttle_unauthenticated_web']);
      expect([second.status, second.text]).toEqual([429, 'Retry later\n']);
      expect((await ashlar.call('GET /projects', { headers })).status).toBe(200);
    });
  });

  it('count wrong credentials of files as requests of nobody', async () => {
    const headers = { ...newAddress(), 'private-token': 'glpat-wrong' };
    await withSettings(ashlar, web, async () => {
      const read = () => ashlar.call('GET /uploads/-/system/project/avatar/1/a.png', { raw: true, headers });
      expect([(await read()).status, (await read()).status]).toEqual([401, 429]);
    });
  });

  it('begin anew with the next window', async () => {
    const call = ashlar.as((await makeUser(ashlar)).token);
    await withSettings(ashlar, throttle('authenticated', 1, 3_600), async () => {
      expect((await call('GET /user')).status).toBe(200);
      expect((await call('GET /user')).status).toBe(429);
      const back = moveClock(3_600_000);
      try {
        const response = await call('GET /user');
        expect([response.status, rateHeaders(response)[2]]).toEqual([200, '1']);
      } finally {
        back();
      }
    });
  });
});

describe('application limits', () => {
  it('answer 429 in JSON with Retry-After, and without RateLimit headers', async () => {
    const [user, other] = [await makeUser(ashlar), await makeUser(ashlar)];
    const call = ashlar.as(user.token);
    await withSettings(ashlar, { users_get_by_id_limit: 2 }, async () => {
      expect(await statusesOf(2, () => call(`GET /users/${other.id}`))).toEqual([200, 200]);
      const refused = await call(`GET /users/${other.id}`);
      expect(refused.status).toBe(429);
      const error = 'This endpoint has been requested too many times. Try again later.';
      expect(refused.body).toEqual({ message: { error } });
      expect(refused.headers.get('retry-after')).toBe('60');
      hasNone(refused);
      expect((await ashlar.as(other.token)(`GET /users/${user.id}`)).status).toBe(200);
      expect((await call('GET /user')).status).toBe(200);
    });
  });

  it('have no headers of a throttle that let the request pass, and the throttle its own when it refuses', async () => {
    const [user, other] = [await makeUser(ashlar), await makeUser(ashlar)];
    const call = ashlar.as(user.token);
    const limits = { ...throttle('authenticated', 4), users_get_by_id_limit: 1, issues_create_limit: 1 };
    const project = await makeProject(ashlar, { visibility: 'public' });
    await withSettings(ashlar, limits, async () => {
      const passed = await call(`GET /users/${other.id}`);
      expect([passed.status, rateHeaders(passed)[0]]).toEqual([200, 'throttle_authenticated_api']);
      const refused = await call(`GET /users/${other.id}`);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
      hasNone(refused);
      const issue = () => call(`POST /projects/${project.id}/issues`, { body: { title: 'x' } });
      expect((await issue()).status).toBe(201);
      const second = await issue();
      expect([second.status, second.headers.get('ratelimit-resettime')]).toEqual([429, null]);
      hasNone(second);
      const throttled = await call('GET /user');
      expect([throttled.status, rateHeaders(throttled)[0]]).toEqual([429, 'throttle_authenticated_api']);
      expect(throttled.headers.get('ratelimit-resettime')).not.toBeNull();
    });
  });

  it('of one user by id do not hold administrators, unless they act as somebody else', async () => {
    const other = await makeUser(ashlar);
    await withSettings(ashlar, { users_get_by_id_limit: 1, users_api_limit_ssh_keys: 1 }, async () => {
      const read = (headers = {}) => ashlar.root(`GET /users/${other.id}`, { headers });
      expect(await statusesOf(3, () => read())).toEqual([200, 200, 200]);
      expect(await statusesOf(2, () => read({ sudo: other.username }))).toEqual([200, 429]);
      expect(await statusesOf(2, () => ashlar.root(`GET /users/${other.id}/keys`))).toEqual([200, 429]);
    });
  });

  it('have a number of their own for those without a credential, by address', async () => {
    const limits = { projects_api_limit: 2, projects_api_rate_limit_unauthenticated: 1 };
    const call = ashlar.as((await makeUser(ashlar)).token);
    const headers = newAddress();
    await withSettings(ashlar, limits, async () => {
      expect(await statusesOf(2, () => ashlar.call('GET /projects', { headers }))).toEqual([200, 429]);
      expect((await ashlar.call('GET /projects', { headers: newAddress() })).status).toBe(200);
      expect(await statusesOf(3, () => call('GET /projects', { headers }))).toEqual([200, 200, 429]);
    });
  });

  it('are off at 0', async () => {
    const project = await makeProject(ashlar);
    await withSettings(ashlar, { project_api_limit: 1 }, async () => {
      const ask = () => ashlar.root(`GET /projects/${project.id}`);
      expect(await statusesOf(2, ask)).toEqual([200, 429]);
    });
    await withSettings(ashlar, { project_api_limit: 0 }, async () => {
      expect(await statusesOf(3, () => ashlar.root(`GET /projects/${project.id}`))).toEqual([200, 200, 200]);
    });
  });
});
