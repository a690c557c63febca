/** Every page that changes something: who may send its form, and the headers of its responses. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useApp } from '../support/app.ts';
import { hiddenFields, openBrowser, signInAs, withSettings } from '../support/browser.ts';
import { makeUser } from '../support/factories.ts';
import { authorizePath, decide, makeApplication } from '../support/oauth.ts';

const ashlar = useApp();

/** Forms that need no session: the origin alone tells the sender, or, for mail programs, the signed link. */
const anonymous = new Set([
  'POST /-/unsubscribe/:link',
  'POST /-/broadcast_messages/:id/dismiss',
  'POST /users/sign_in',
  'POST /users',
  'POST /users/password',
  'POST /users/password/new',
  'POST /users/confirmation',
  'POST /users/confirmation/new',
]);

/** Routes for programs have credentials of their own, and no cookie counts there. */
const changing = () => ashlar.app.routes.filter(({ kind, method }) => kind === 'page' && method !== 'GET');
const title = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;

test('CSRF on every form: refused from another site, and without the token of the session', () =>
  withSettings(ashlar, {}, async () => {
    const user = await makeUser(ashlar);
    const browser = openBrowser(ashlar);
    expect((await signInAs(browser, user.username, 'correct horse battery staple')).status).toBe(302);
    const cookie = browser.cookieHeader();
    const send = async (route: { method: string; path: string }, headers: Record<string, string>) => {
      const path = route.path.replaceAll(/:\w+/g, '1');
      const response = await fetch(`${ashlar.url}${path}`, {
        method: route.method,
        headers: { cookie, 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: 'code=x',
        redirect: 'manual',
      });
      await response.arrayBuffer();
      return response.status;
    };
    const routes = changing();
    expect(routes.length).toBeGreaterThan(20);
    const passed: string[] = [];
    for (const route of routes) {
      for (const headers of [
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { origin: 'https://evil.example' },
        { origin: 'null' },
      ] as Record<string, string>[]) {
        const status = await send(route, headers);
        if (status !== 403) passed.push(`${title(route)} ${JSON.stringify(headers)}: ${status}`);
      }
      if (anonymous.has(title(route))) continue;
      const status = await send(route, { 'sec-fetch-site': 'same-origin' });
      if (status !== 403) passed.push(`${title(route)} without its token: ${status}`);
    }
    expect(passed).toEqual([]);
    const known = new Set(routes.map(title));
    expect([...anonymous].filter((name) => !known.has(name))).toEqual([]);
  }));

test('no token in a URL that we write: a code, good once and for ten minutes, is all', () =>
  withSettings(ashlar, {}, async () => {
    const user = await makeUser(ashlar);
    const application = await makeApplication(ashlar, { userId: user.id });
    const browser = openBrowser(ashlar);
    const entered = await signInAs(browser, user.username, 'correct horse battery staple');
    const answered = await decide(browser, application, 'approve', { state: 'abc' });
    const sent = new URL(answered.location ?? '');
    expect([...sent.searchParams.keys()].sort()).toEqual(['code', 'state']);
    const pages = await Promise.all(
      [
        '/',
        '/-/profile/applications',
        '/-/profile/active_sessions',
        '/oauth/device',
        authorizePath(application),
      ].map((path) => browser.get(path)),
    );
    const session = /_service_session=([^;]+)/.exec(browser.cookieHeader())?.[1] ?? '';
    const proofs = pages.flatMap(({ text }) =>
      [...text.matchAll(/name="authenticity_token" value="([^"]+)"/g)].map(([, value = '']) => value),
    );
    expect(session.length).toBeGreaterThan(20);
    expect(proofs.length).toBeGreaterThan(3);
    const written = [
      entered.location,
      ...pages.flatMap(({ text, location }) => [
        location,
        ...[...text.matchAll(/(?:href|action|src)="([^"]*)"/g)].map(([, url = '']) => url),
      ]),
    ].join('\n');
    for (const secret of [session, application.secret, ...proofs]) expect(written).not.toContain(secret);
  }));

test('pages for administrators: 404 for others, to read and to write; no script, no cache, no token in an address', () =>
  withSettings(ashlar, {}, async () => {
    const [ada, bob] = [await makeUser(ashlar, { admin: true }), await makeUser(ashlar)];
    const [admin, other] = [openBrowser(ashlar), openBrowser(ashlar)];
    await signInAs(admin, ada.username, 'correct horse battery staple');
    await signInAs(other, bob.username, 'correct horse battery staple');
    const token = hiddenFields((await other.get('/-/profile/active_sessions')).text, '/users/sign_out');
    expect(token.authenticity_token).toBeDefined();
    const routes = ashlar.app.routes.filter(({ kind, path }) => kind === 'page' && /^\/admin\b/.test(path));
    expect(routes.length).toBeGreaterThan(15);
    const addressOf = (path: string) =>
      path.replace(':section', 'sign_in').replace(':change', 'block').replace(/:\w+/g, String(bob.id));
    const wrong: string[] = [];
    for (const route of routes) {
      const path = addressOf(route.path);
      const refused = await (route.method === 'GET' ? other.get(path) : other.post(path, token));
      if (refused.status !== 404) wrong.push(`${title(route)} for others: ${refused.status}`);
      if (route.method !== 'GET') continue;
      const { text, headers, status } = await admin.get(path);
      // There is no application of this id, and nobody demands admin mode.
      if (status !== 200 && !/^\/admin\/(applications\/|session\b)/.test(path))
        wrong.push(`${title(route)}: ${status}`);
      if (/<script|\son\w+=|\sstyle=|javascript:/i.test(text))
        wrong.push(`${title(route)} has a script or a style`);
      const policy = headers.get('content-security-policy') ?? '';
      if (!policy.includes("default-src 'none'")) wrong.push(`${title(route)} has the policy ${policy}`);
      if (headers.get('cache-control') !== 'no-store') wrong.push(`${title(route)} may be kept`);
      const addresses = [...text.matchAll(/(?:href|action|src)="([^"]*)"/g)]
        .map(([, url = '']) => url)
        .join();
      const own = hiddenFields(text, '/users/sign_out').authenticity_token;
      if (own === undefined || addresses.includes(own))
        wrong.push(`${title(route)} has the token in an address`);
    }
    expect(wrong).toEqual([]);
  }));

const source = join(import.meta.dirname, '..', '..', 'src');
const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .map((path) => ({ path, text: readFileSync(join(source, path), 'utf8') }));

test('constant-time comparison: what is secret is compared in one file, by digests', () => {
  const comparing = files.filter(({ text }) => text.includes('timingSafeEqual')).map(({ path }) => path);
  expect(comparing).toEqual([join('platform', 'secret.ts')]);
  // A stored digest or sealed secret beside an equals sign would be a comparison of another kind.
  const compared = files.flatMap(({ path, text }) =>
    [...text.matchAll(/\w*(?:_digest|secret_digest|_sealed)\s*[!=]==?(?!=|\s*null)\s*\S+/g)].map(
      ([found]) => `${path}: ${found}`,
    ),
  );
  expect(compared).toEqual([]);
});
