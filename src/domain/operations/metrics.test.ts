/** Access to the metrics. */
import { describe, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';

const forwardedFor = (address: string) => ({ raw: true, headers: { 'x-forwarded-for': address } });

describe('by default', () => {
  const app = useApp();

  test('this machine reads the measurements, but not through a proxy that nobody trusts', async () => {
    const own = await app.call('GET /-/metrics', { raw: true });
    expect([own.status, own.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
    expect((await app.call('GET /-/metrics', forwardedFor('203.0.113.9'))).status).toBe(404);
    expect((await app.call('GET /-/metrics', forwardedFor('127.0.0.1'))).status).toBe(404);
    expect((await app.call('GET /-/readiness', forwardedFor('203.0.113.9'))).status).toBe(200);
  });
});

describe('what is told of a request', () => {
  const app = useApp();

  test.each([
    ['/root', { route: '/:path', status: 200, path: undefined }],
    ['/root/-/issues', { route: '/:path/-/issues', status: 404, path: undefined }],
    ['/no/such/page?token=secret', { route: '/:path', status: 404, path: '/no/such/page' }],
    [
      '/api/v4/no_such_thing?private_token=secret',
      { route: 'none', status: 404, path: '/api/v4/no_such_thing' },
    ],
    ['/api/v4/projects/1', { route: '/api/v4/projects/:id', status: 404, path: undefined }],
    [`/api/${'x'.repeat(300)}`, { route: 'none', status: 404, path: `/api/${'x'.repeat(251)}` }],
  ])('%s has its route in the log and among the measurements', async (address, told) => {
    const [path = '', query] = address.split('?');
    const response = await app.call(`GET ${path}`, { raw: true, ...(query && { query }) });
    const id = response.headers.get('x-request-id');
    const line = await expect
      .poll(
        () =>
          app.log
            .join('')
            .split('\n')
            .find((text) => text.includes(`"${id}"`)),
        { timeout: 10_000 },
      )
      .toBeDefined()
      .then(
        () =>
          app.log
            .join('')
            .split('\n')
            .find((text) => text.includes(`"${id}"`)) ?? '',
      );
    const { route, status, path: shown } = JSON.parse(line);
    expect({ route, status, path: shown }).toEqual(told);
    expect(line).not.toContain('secret');
    const { text } = await app.call('GET /-/metrics', { raw: true });
    expect(text).toContain(`method="GET",route="${told.route}",status="${told.status}"`);
    if (told.path !== undefined) expect(text).not.toContain(told.path);
  });
});

describe('behind a trusted proxy, with monitoring elsewhere', () => {
  const app = useApp({
    env: { ASHLAR_TRUSTED_PROXIES: '127.0.0.1', ASHLAR_METRICS_ALLOWLIST: '192.0.2.0/24, 2001:db8::7' },
  });

  test.each([
    ['192.0.2.200', 200],
    ['2001:db8::7', 200],
    ['192.0.3.1', 404],
    ['2001:db8::8', 404],
    ['192.0.2.200, 203.0.113.9', 404],
  ])('%s gets %i', async (address, status) => {
    expect((await app.call('GET /-/metrics', forwardedFor(address))).status).toBe(status);
  });

  test('this machine itself is not in the list', async () => {
    expect((await app.call('GET /-/metrics', { raw: true })).status).toBe(404);
  });
});
