/**
 * Every route of the program at the gate, by its kind: who is counted and refused, what maintenance mode and a full disk
 * refuse, and what each response and its log line have.
 */
import { existsSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { ApplicationSettings } from '../../src/kernel/settings/definitions.ts';
import { routerPath } from '../../src/platform/http/path-segments.ts';
import type { RouteKind } from '../../src/platform/http/server/route-kinds.ts';
import type { Route } from '../../src/platform/http/server/server.ts';
import { ROOT_TOKEN, useApp } from '../support/app.ts';
import { openBrowser, signInAs, withSettings } from '../support/browser.ts';
import { makeUser } from '../support/factories.ts';
import { forEachOf } from '../support/inventory.ts';
import { type RawResponse, sendRaw } from '../support/raw-http.ts';

/** Requests come from addresses of their own, as if through a proxy. */
const ashlar = useApp({ env: { ASHLAR_TRUSTED_PROXIES: '127.0.0.1' } });
let addresses = 0;
const newAddress = () => ({ 'x-forwarded-for': `198.18.${++addresses >> 8}.${addresses & 255}` });

type Expected = {
  /** The throttle that counts addresses, and the one that counts accounts. */
  nobody?: string;
  somebody?: string;
  /** Writes are refused in maintenance mode. */
  maintained?: true;
};

const expected: Record<RouteKind, Expected> = {
  api: {
    nobody: 'throttle_unauthenticated_api',
    somebody: 'throttle_authenticated_api',
    maintained: true,
  },
  page: { nobody: 'throttle_unauthenticated_web', somebody: 'throttle_authenticated_web' },
  file: { nobody: 'throttle_unauthenticated_web', somebody: 'throttle_authenticated_web' },
  protocol: { nobody: 'throttle_unauthenticated_web' },
  git: { nobody: 'throttle_unauthenticated_git_http', maintained: true },
  registry: { nobody: 'throttle_unauthenticated_web', maintained: true },
  ingest: { maintained: true },
  static: {},
  probe: {},
};

/** A route, or one more address of it. */
type Attacked = Pick<Route, 'kind' | 'method' | 'path' | 'crossOrigin'> & { query?: string; writes: boolean };

const routes = (): Attacked[] => [
  ...ashlar.app.routes.map((route) => ({
    ...route,
    // The client is sent back with a grant where the user has approved it before.
    writes:
      route.path === '/oauth/authorize' ||
      (route.method !== 'GET' &&
        !/-upload-pack$|lfs\/objects\/(batch|verify)$|locks\/verify$/.test(route.path)),
  })),
  // It begins a push.
  {
    kind: 'git',
    method: 'GET',
    path: '/:path+.git/info/refs',
    query: '?service=git-receive-pack',
    writes: true,
  },
];

const title = ({ kind, method, path }: Attacked): string => `${kind} ${method} ${path}`;

const addressOf = ({ path, query = '' }: Attacked): string =>
  path
    .replace(':path+', 'stone/bridge')
    .replace(/:secret\b(\(.*?\))?/, 'a'.repeat(32))
    .replace(/:\w+(\(.*?\))?|\*/g, '1') + query;

const send = (route: Attacked, headers: Record<string, string>): Promise<RawResponse> =>
  sendRaw(ashlar.url, `${route.method} ${addressOf(route)}`, { headers });

const basic = (password: string): string => `Basic ${Buffer.from(`x:${password}`).toString('base64')}`;

/** A credential where routes of this kind look for it. */
function credentialOf({ kind }: Attacked, token: string, cookie: string): Record<string, string> {
  if (kind === 'git') return { authorization: basic(token) };
  return kind === 'page' ? { cookie } : { 'private-token': token };
}

/** Everybody may see the pictures of users and topics, and what pages of the instance look like: no credential is looked at. */
const isOpen = ({ path }: Attacked): boolean =>
  /\/system\/((user|projects\/topic)\/avatar|appearance)\/|^\/-\/(appearance\.css|manifest\.json)$/.test(
    path,
  );

/** A day: no window ends while a test runs, short of midnight. */
const DAY = 86_400;
const once = (...throttles: (string | undefined)[]): Partial<ApplicationSettings> =>
  Object.fromEntries(
    throttles.flatMap((name) => [
      [`${name}_enabled`, true],
      [`${name}_requests_per_period`, 1],
      [`${name}_period_in_seconds`, DAY],
    ]),
  );

/** Everything was attacked that there is. */
function expectAll(seen: ReadonlySet<string>): void {
  expect([...seen].sort()).toEqual([...new Set(routes().map(title))].sort());
  expect(seen.size).toBeGreaterThan(600);
}

function expectThrottled(route: Attacked, response: RawResponse, name: string | undefined): void {
  const { status, headers, text } = response;
  if (name === undefined) {
    expect([title(route), status === 429]).toEqual([title(route), false]);
    return;
  }
  const shown = [status, text, headers['ratelimit-name'], headers['content-type']];
  expect([title(route), ...shown]).toEqual([
    title(route),
    429,
    'Retry later\n',
    name,
    'text/plain; charset=utf-8',
  ]);
  expect(Number(headers['retry-after']), title(route)).toBeGreaterThan(0);
}

describe('throttles', () => {
  test('count who has no right credential, by address', () => {
    const names = new Set(Object.values(expected).map(({ nobody }) => nobody));
    return withSettings(ashlar, once(...[...names].filter(Boolean)), async () => {
      const seen = new Set<string>();
      await forEachOf(routes(), 8, async (route) => {
        const address = newAddress();
        const wrong = credentialOf(route, 'glpat-wrong', '_service_session=wrong');
        const first = await send(route, { ...address, ...wrong });
        expect([title(route), first.status === 429]).toEqual([title(route), false]);
        if (['api', 'file', 'git'].includes(route.kind) && !isOpen(route))
          expect([title(route), first.status]).toEqual([title(route), 401]);
        expectThrottled(route, await send(route, address), expected[route.kind].nobody);
        seen.add(title(route));
      });
      expectAll(seen);
    });
  });

  test('count accounts, wherever they come from', async () => {
    const user = await makeUser(ashlar);
    const browser = openBrowser(ashlar);
    expect((await signInAs(browser, user.username, 'correct horse battery staple')).status).toBe(302);
    const cookie = browser.cookieHeader();
    const names = new Set(Object.values(expected).map(({ somebody }) => somebody));
    await withSettings(ashlar, once(...[...names].filter(Boolean)), async () => {
      await ashlar.as(user.token)('GET /user', { headers: newAddress() });
      await browser.get('/');
      const seen = new Set<string>();
      await forEachOf(routes(), 8, async (route) => {
        const headers = { ...newAddress(), ...credentialOf(route, user.token, cookie) };
        const name = isOpen(route) ? undefined : expected[route.kind].somebody;
        expectThrottled(route, await send(route, headers), name);
        seen.add(title(route));
      });
      expectAll(seen);
    });
  });
});

test('maintenance mode refuses writes in the words of its administrator, and reads go on', () =>
  withSettings(ashlar, { maintenance_mode: true, maintenance_mode_message: 'Back at noon.' }, async () => {
    const seen = new Set<string>();
    await forEachOf(routes(), 8, async (route) => {
      const asRoot = credentialOf(route, ROOT_TOKEN, '');
      seen.add(title(route));
      // They end it.
      if (route.path.startsWith('/api/v4/application/')) return;
      const { status, text } = await send(route, asRoot);
      const refused = expected[route.kind].maintained === true && route.writes;
      expect([title(route), status === 503]).toEqual([title(route), refused]);
      if (refused)
        expect([title(route), text]).toEqual([title(route), expect.stringContaining('Back at noon.')]);
    });
    expectAll(seen);
    const body = { maintenance_mode: false };
    expect((await ashlar.root('PUT /application/settings', { body })).status).toBe(200);
    expect((await ashlar.root('PUT /user/status', { body: { message: 'back' } })).status).toBe(200);
  }));

/** Runs while the data folder is on a file system without space: one that the kernel makes up. */
async function withFullDisk(work: () => Promise<void>): Promise<void> {
  const { disk, config } = ashlar.app.services;
  const kept = `${config.data}-kept`;
  renameSync(config.data, kept);
  symlinkSync(existsSync('/proc/self') ? '/proc' : '/dev', config.data);
  try {
    await expect.poll(() => disk.problem(), { timeout: 10_000 }).toContain('no space left');
    await work();
  } finally {
    rmSync(config.data);
    renameSync(kept, config.data);
  }
  await expect.poll(() => disk.problem(), { timeout: 10_000 }).toBeUndefined();
}

test('a full disk refuses writes, and reads go on', () =>
  withFullDisk(async () => {
    const seen = new Set<string>();
    await forEachOf(routes(), 8, async (route) => {
      seen.add(title(route));
      // They tell of it.
      if (/^\/-\/(readiness|health)$/.test(route.path)) return;
      const { status, text } = await send(route, credentialOf(route, ROOT_TOKEN, ''));
      const refused = route.kind !== 'static' && route.writes;
      expect([title(route), status === 503]).toEqual([title(route), refused]);
      const words = route.kind === 'protocol' ? 'temporarily_unavailable' : 'no space left';
      if (refused) expect([title(route), text]).toEqual([title(route), expect.stringContaining(words)]);
    });
    expectAll(seen);
  }));

test('every response has the headers of its kind, its route in the log and among the measurements', async () => {
  const seen = new Set<string>();
  const sent = new Map<string, Attacked>();
  await forEachOf(routes(), 8, async (route) => {
    const id = `gate-${sent.size}`;
    sent.set(id, route);
    seen.add(title(route));
    const { headers } = await send(route, { 'x-request-id': id });
    const shown = [
      headers['x-request-id'],
      headers['x-content-type-options'],
      headers['access-control-allow-origin'],
    ];
    const origin = route.crossOrigin && '*';
    expect([title(route), ...shown]).toEqual([title(route), id, 'nosniff', origin]);
    expect(headers['x-frame-options'], title(route)).toMatch(/^(SAMEORIGIN|DENY)$/);
    expect(headers['content-security-policy'], title(route)).toContain("default-src 'none'");
    expect(headers['referrer-policy'], title(route)).toBeDefined();
    expect(headers.vary, title(route)).toContain('Origin');
    if (['page', 'file', 'git'].includes(route.kind)) expect(origin, title(route)).toBeUndefined();
  });
  expectAll(seen);
  const logged = () =>
    ashlar.log.flatMap((text) => text.split('\n')).filter((text) => text.includes('"gate-'));
  await expect.poll(() => logged().length, { timeout: 10_000 }).toBe(sent.size);
  const { text: measured } = await ashlar.call('GET /-/metrics', {
    raw: true,
    headers: { 'x-forwarded-for': '127.0.0.1' },
  });
  for (const line of logged()) {
    const { request_id, method, route: name, kind, status } = JSON.parse(line);
    const route = sent.get(request_id);
    expect([request_id, method, name, kind]).toEqual([
      request_id,
      route?.method,
      routerPath(route?.path ?? ''),
      route?.kind,
    ]);
    expect(measured).toContain(`method="${method}",route="${name}",status="${status}"`);
  }
});

test('a form is read up to 64 KiB', async () => {
  const forms = routes().filter(({ kind, method }) => kind === 'page' && method === 'POST');
  expect(forms.length).toBeGreaterThan(20);
  await forEachOf(forms, 4, async (route) => {
    const headers = { ...newAddress(), 'content-type': 'application/x-www-form-urlencoded' };
    const send = (bytes: number) =>
      sendRaw(ashlar.url, `POST ${addressOf(route)}`, { headers, body: `x=${'y'.repeat(bytes - 2)}` });
    const statuses = [(await send(65_536)).status === 413, (await send(65_537)).status === 413];
    expect([title(route), ...statuses]).toEqual([title(route), false, true]);
  });
});
