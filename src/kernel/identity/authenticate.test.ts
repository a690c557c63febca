/** Authentication: every form of every credential, refusals, and sudo (spec: Authentication; Sudo). */
import { describe, expect, it } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../test/support/app.ts';
import { type MadeUser, makeUser } from '../../../test/support/rows.ts';
import { moveClock } from '../../platform/clock.ts';
import { currentCaller, runForCaller } from '../../platform/fair-share.ts';
import { digest, randomText } from '../../platform/secret.ts';
import type { TokenKind } from '../actor.ts';
import { presentedCredential, SESSION_COOKIE } from './credentials.ts';

const ashlar = useApp();
const db = () => ashlar.app.services.database.db;

async function insertToken(
  user: { id: number },
  kind: TokenKind,
  more: { scopes?: string[]; expires_at?: Date; revoked_at?: Date } = {},
): Promise<string> {
  const token = randomText(15);
  const time = { created_at: new Date(), updated_at: new Date() };
  const row = {
    kind,
    user_id: user.id,
    name: kind,
    scopes: ['api'],
    digest: digest(token),
    ...time,
    ...more,
  };
  await db().insertInto('access_tokens').values(row).execute();
  return token;
}

async function insertSession(user: { id: number }): Promise<string> {
  const session = randomText(15);
  const time = { created_at: new Date(), last_used_at: new Date() };
  await db()
    .insertInto('sessions')
    .values({ user_id: user.id, digest: digest(session), ...time })
    .execute();
  return session;
}

/** The status, and the user who made the request. */
async function whoIs(headers: Record<string, string>, query = ''): Promise<[number, number | undefined]> {
  const response = await ashlar.call('GET /personal_access_tokens', { headers, query });
  return [response.status, response.status === 200 ? response.body[0]?.user_id : undefined];
}

type Form = (token: string) => [headers: Record<string, string>, query?: string];
const forms = {
  'PRIVATE-TOKEN': (token) => [{ 'PRIVATE-TOKEN': token }],
  'private_token=': (token) => [{}, `private_token=${token}`],
  'Authorization: Bearer': (token) => [{ Authorization: `Bearer ${token}` }],
  'authorization: bearer': (token) => [{ authorization: `bearer ${token}` }],
  'access_token=': (token) => [{}, `access_token=${token}`],
  'JOB-TOKEN': (token) => [{ 'JOB-TOKEN': token }],
  'job_token=': (token) => [{}, `job_token=${token}`],
  'DEPLOY-TOKEN': (token) => [{ 'DEPLOY-TOKEN': token }],
} satisfies Record<string, Form>;
type FormName = keyof typeof forms;
const present = (form: FormName, token: string): ReturnType<Form> => forms[form](token);

describe('credentials (spec: Authentication, 3)', () => {
  const privateForms: FormName[] = [
    'PRIVATE-TOKEN',
    'private_token=',
    'Authorization: Bearer',
    'authorization: bearer',
  ];
  const bearerForms: FormName[] = ['Authorization: Bearer', 'authorization: bearer', 'access_token='];
  const accepted: [TokenKind, FormName][] = [
    ...privateForms.map((form): [TokenKind, FormName] => ['personal', form]),
    ...privateForms.map((form): [TokenKind, FormName] => ['impersonation', form]),
    ...bearerForms.map((form): [TokenKind, FormName] => ['oauth', form]),
  ];
  it.each(accepted)('a token of kind %s by %s', async (kind, form) => {
    const user = await makeUser(ashlar);
    expect(await whoIs(...present(form, await insertToken(user, kind)))).toEqual([200, user.id]);
  });

  const refused: [TokenKind, FormName][] = [
    ['oauth', 'PRIVATE-TOKEN'],
    ['oauth', 'private_token='],
    ['job', 'PRIVATE-TOKEN'],
    ['job', 'Authorization: Bearer'],
    ['job', 'JOB-TOKEN'],
    ['job', 'job_token='],
    ['personal', 'JOB-TOKEN'],
    ['personal', 'DEPLOY-TOKEN'],
  ];
  it.each(refused)('no token of kind %s by %s, where no job token is allowed', async (kind, form) => {
    const user = await makeUser(ashlar);
    expect(await whoIs(...present(form, await insertToken(user, kind)))).toEqual([401, undefined]);
  });

  it('a job token where the endpoint takes one, and nothing else in its place', async () => {
    const user = await makeUser(ashlar);
    const { authenticator, settings } = ashlar.app.services;
    const presentJob = async (token: string) =>
      authenticator.authenticate(
        {
          credential: { form: 'job_token', token },
          jobToken: true,
          safeMethod: true,
          csrfToken: undefined,
          sudo: undefined,
        },
        await settings.read(),
      );
    expect(await presentJob(await insertToken(user, 'job'))).toMatchObject({ id: user.id });
    await expect(presentJob(await insertToken(user, 'personal'))).rejects.toMatchObject({
      kind: 'unauthenticated',
    });
  });

  it('a session cookie: reads, and writes with its CSRF token only', async () => {
    const user = await makeUser(ashlar);
    const session = await insertSession(user);
    const cookie = { cookie: `other=1; ${SESSION_COOKIE}=${session}` };
    expect(await whoIs(cookie)).toEqual([200, user.id]);
    const write = (headers: Record<string, string>) =>
      ashlar.call('POST /user/personal_access_tokens', {
        headers: { ...cookie, ...headers },
        body: { name: 'k', scopes: ['k8s_proxy'] },
      });
    expect((await write({})).status).toBe(401);
    expect((await write({ 'x-csrf-token': 'wrong' })).status).toBe(401);
    const another = ashlar.app.services.authenticator.csrfToken(await insertSession(user));
    expect((await write({ 'x-csrf-token': another })).status).toBe(401);
    const right = ashlar.app.services.authenticator.csrfToken(session);
    expect((await write({ 'x-csrf-token': right })).status).toBe(201);
    const back = moveClock(8 * 86_400_000);
    try {
      expect(await whoIs(cookie)).toEqual([401, undefined]);
    } finally {
      back();
    }
  });

  it('the private token counts before all others, and an empty one is none', async () => {
    const [first, second] = [await makeUser(ashlar), await makeUser(ashlar)];
    const bearer = { authorization: `Bearer ${second.token}` };
    expect(await whoIs({ 'private-token': first.token, ...bearer })).toEqual([200, first.id]);
    expect(await whoIs({ 'private-token': 'wrong', ...bearer })).toEqual([401, undefined]);
    expect(await whoIs(bearer, 'private_token=')).toEqual([200, second.id]);
  });
});

describe('who is refused', () => {
  it('nobody, with a message (spec: Authentication, 1)', async () => {
    const response = await ashlar.call('GET /personal_access_tokens');
    expect(response.status).toBe(401);
    expect(response.body).toEqual({ message: '401 Unauthorized' });
  });

  it.each(Object.keys(forms) as FormName[])('a wrong %s, on a public endpoint too', async (form) => {
    const [headers, query = ''] = present(form, 'no-such-token');
    const response = await ashlar.call('GET /projects', { headers, query });
    expect(response.status).toBe(401);
    expect(response.body.message).toBe('401 Unauthorized');
    expect((await ashlar.call('GET /projects')).status).toBe(200);
  });

  it('a revoked and an expired token, at once', async () => {
    const user = await makeUser(ashlar);
    const token = await insertToken(user, 'personal');
    expect(await whoIs({ 'private-token': token })).toEqual([200, user.id]);
    const held = db().updateTable('access_tokens').where('digest', '=', digest(token));
    await held.set({ expires_at: new Date() }).execute();
    const expired = await ashlar.as(token)('GET /personal_access_tokens');
    expect(expired.status).toBe(401);
    expect(expired.body).toEqual({
      message: '401 Unauthorized',
      error: 'invalid_token',
      error_description: 'Token is expired. You can either do re-authorization or token refresh.',
    });
    await held.set({ revoked_at: new Date() }).execute();
    const revoked = await ashlar.as(token)('GET /personal_access_tokens');
    expect(revoked.status).toBe(401);
    expect(revoked.body.error_description).toBe('Token was revoked. You have to re-authorize from the user.');
  });

  it.each<[setting: Record<string, boolean>, TokenKind[]]>([
    [{ disable_personal_access_tokens: true }, ['personal']],
    [{ impersonation_enabled: false }, ['impersonation']],
  ])('with the setting %o, a token of kind %s and of no other', async (setting, expected) => {
    const { settings, database } = ashlar.app.services;
    const user = await makeUser(ashlar);
    const kinds: TokenKind[] = ['personal', 'impersonation', 'oauth'];
    const tokens = await Promise.all(kinds.map((kind) => insertToken(user, kind)));
    const before = await settings.read();
    await settings.write(database.db, setting);
    settings.forget();
    try {
      const refused: TokenKind[] = [];
      for (const [index, token] of tokens.entries()) {
        const [status] = await whoIs({ authorization: `Bearer ${token}` });
        if (status === 401) refused.push(kinds[index] as TokenKind);
      }
      expect(refused).toEqual(expected);
    } finally {
      const names = Object.keys(setting) as (keyof typeof before)[];
      await settings.write(database.db, Object.fromEntries(names.map((name) => [name, before[name]])));
      settings.forget();
    }
  });

  it('a token that was rotated away: its family ends where it is to be rotated again, and nowhere else', async () => {
    const user = await makeUser(ashlar);
    const first = await insertToken(user, 'personal');
    const { token } = (await ashlar.as(first)('POST /personal_access_tokens/self/rotate')).body;
    expect(await whoIs({ 'private-token': first })).toEqual([401, undefined]);
    expect(await whoIs({ 'private-token': token })).toEqual([200, user.id]);
    expect((await ashlar.as(first)('POST /personal_access_tokens/self/rotate')).status).toBe(401);
    expect(await whoIs({ 'private-token': token })).toEqual([401, undefined]);
  });

  it.each([
    ['blocked', 403, '403 Forbidden - Your account has been blocked.'],
    ['banned', 403, '403 Forbidden - Your account has been blocked.'],
    ['blocked_pending_approval', 403, /pending approval/],
    ['deactivated', 403, /deactivated by your administrator/],
  ])('a user who is %s, with every credential', async (state, status, message) => {
    const user = await makeUser(ashlar);
    const cookie = { cookie: `${SESSION_COOKIE}=${await insertSession(user)}` };
    expect((await whoIs(cookie))[0]).toBe(200);
    await db().updateTable('users').set({ state }).where('id', '=', user.id).execute();
    for (const kind of ['personal', 'impersonation', 'oauth'] as const) {
      const headers = { authorization: `Bearer ${await insertToken(user, kind)}` };
      const response = await ashlar.call('GET /projects', { headers });
      expect(response.status).toBe(status);
      expect(response.body.message).toEqual(
        typeof message === 'string' ? message : expect.stringMatching(message),
      );
    }
    expect(await whoIs(cookie)).toEqual([401, undefined]);
  });

  it('a user who is being deleted', async () => {
    const user = await makeUser(ashlar);
    const cookie = { cookie: `${SESSION_COOKIE}=${await insertSession(user)}` };
    await db().updateTable('users').set({ deletion: 'reassign' }).where('id', '=', user.id).execute();
    expect(await whoIs({ 'private-token': user.token })).toEqual([401, undefined]);
    expect(await whoIs(cookie)).toEqual([401, undefined]);
  });

  it('whoever lacks the scope, by name', async () => {
    const user = await makeUser(ashlar);
    const reader = ashlar.as(await insertToken(user, 'personal', { scopes: ['read_api'] }));
    expect((await reader('GET /personal_access_tokens')).status).toBe(200);
    const write = await reader('POST /user/personal_access_tokens', {
      body: { name: 'k', scopes: ['k8s_proxy'] },
    });
    expect(write.status).toBe(403);
    expect(write.body).toEqual({
      message: '403 Forbidden',
      error: 'insufficient_scope',
      error_description: 'The request requires higher privileges than provided by the access token.',
      scope: 'api',
    });
    const other = ashlar.as(await insertToken(user, 'personal', { scopes: ['read_repository'] }));
    expect((await other('GET /personal_access_tokens')).body.scope).toBe('api read_api');
  });
});

it('records the use of a token, not more often than every ten minutes', async () => {
  const user = await makeUser(ashlar);
  const lastUse = async () =>
    (await ashlar.as(user.token)('GET /personal_access_tokens/self')).body.last_used_at;
  const first = await lastUse();
  expect(first).toEqual(expect.any(String));
  expect(await lastUse()).toBe(first);
  const back = moveClock(11 * 60_000);
  try {
    expect(await lastUse()).not.toBe(first);
  } finally {
    back();
  }
});

describe('sudo (spec: Sudo)', () => {
  const asRoot = (sudo: string, options: { header?: boolean } = {}) =>
    options.header === false
      ? whoIs({ 'private-token': ROOT_TOKEN }, `sudo=${encodeURIComponent(sudo)}`)
      : whoIs({ 'private-token': ROOT_TOKEN, Sudo: sudo });

  it.each(['header', 'parameter'])('1, 2: runs as the user named by id or name in the %s', async (by) => {
    const user: MadeUser = await makeUser(ashlar);
    const options = { header: by === 'header' };
    expect(await asRoot(String(user.id), options)).toEqual([200, user.id]);
    expect(await asRoot(user.username, options)).toEqual([200, user.id]);
    expect(await asRoot(user.username.toUpperCase(), options)).toEqual([200, user.id]);
  });

  it("1: with that user's rights, by an OAuth token too, and with the scope sudo alone", async () => {
    const user = await makeUser(ashlar);
    const run = (headers: Record<string, string>) =>
      ashlar.call('GET /deploy_tokens', { headers: { ...headers, sudo: user.username } });
    expect((await ashlar.root('GET /deploy_tokens')).status).toBe(200);
    expect((await run({ 'private-token': ROOT_TOKEN })).status).toBe(403);
    for (const scopes of [['sudo'], ['api', 'sudo']]) {
      const token = await insertToken({ id: 1 }, 'oauth', { scopes });
      expect(await whoIs({ authorization: `Bearer ${token}`, sudo: user.username })).toEqual([200, user.id]);
    }
  });

  it('3: is for administrators: 403', async () => {
    const [user, other] = [await makeUser(ashlar), await makeUser(ashlar)];
    const token = await insertToken(user, 'personal', { scopes: ['api', 'sudo'] });
    const response = await ashlar.as(token)('GET /projects', { query: `sudo=${other.username}` });
    expect(response.status).toBe(403);
    expect(response.body.message).toBe('403 Forbidden - Must be admin to use sudo');
  });

  it('4: needs the scope sudo: 403', async () => {
    const user = await makeUser(ashlar);
    const token = await insertToken({ id: 1 }, 'personal', { scopes: ['api'] });
    const response = await ashlar.as(token)('GET /projects', { headers: { sudo: user.username } });
    expect(response.status).toBe(403);
    expect(response.body).toMatchObject({
      error: 'insufficient_scope',
      error_description: expect.any(String),
      scope: 'sudo',
    });
  });

  it.each(['99999999', 'nobody-of-this-name'])('5: names a user who is there: 404 for %s', async (target) => {
    const response = await ashlar.root('GET /projects', { query: `sudo=${target}` });
    expect(response.status).toBe(404);
    expect(response.body.message).toBe(`404 User with ID or username '${target}' Not Found`);
  });

  it('is refused to nobody, to a session, and as a blocked user', async () => {
    const user = await makeUser(ashlar);
    expect((await ashlar.call('GET /projects', { headers: { sudo: user.username } })).status).toBe(401);
    const headers = { cookie: `${SESSION_COOKIE}=${await insertSession({ id: 1 })}`, sudo: user.username };
    const bySession = await ashlar.call('GET /projects', { headers });
    expect(bySession.status).toBe(403);
    expect(bySession.body.message).toContain('Must be authenticated using an OAuth or personal access token');
    await db().updateTable('users').set({ state: 'blocked' }).where('id', '=', user.id).execute();
    expect(await asRoot(user.username)).toEqual([403, undefined]);
  });

  it('leaves the name of the administrator in the audit event', async () => {
    const user = await makeUser(ashlar);
    const made = await ashlar.root('POST /user/personal_access_tokens', {
      headers: { sudo: user.username },
      body: { name: 'k', scopes: ['k8s_proxy'] },
    });
    expect(made.body.user_id).toBe(user.id);
    const event = await db()
      .selectFrom('audit_events')
      .selectAll()
      .where('author_id', '=', user.id)
      .executeTakeFirstOrThrow();
    expect(event.details).toMatchObject({ impersonated_by: 'root' });
  });
});

describe('whose share of scarce things a request takes from', () => {
  const payer = (header: Record<string, string>, sudo?: string) =>
    runForCaller({ name: '192.0.2.1' }, async () => {
      const { settings, authenticator } = ashlar.app.services;
      const credential = presentedCredential(header, {});
      const request = { credential, jobToken: false, safeMethod: true, csrfToken: undefined, sudo };
      await authenticator.authenticate(request, await settings.read());
      return currentCaller();
    });
  const withToken = (token: string, sudo?: string) => payer({ 'private-token': token }, sudo);

  it('is the address, the account, and of a bot the person who holds its token', async () => {
    const person = await makeUser(ashlar);
    const token = await insertToken(person, 'personal');
    const own = `user:${person.id}`;
    expect(await payer({})).toBe('192.0.2.1');
    expect(await withToken(token)).toBe(own);
    expect(await payer({ cookie: `${SESSION_COOKIE}=${await insertSession(person)}` })).toBe(own);
    const as = ashlar.as(token);
    const group = await as('POST /groups', { body: { name: 'Payers', path: 'payers' } });
    const project = await as('POST /projects', { body: { name: 'Paid', namespace_id: group.body.id } });
    for (const path of [`projects/${project.body.id}`, `groups/${group.body.id}`]) {
      const expires_at = new Date(Date.now() + 864e5).toISOString().slice(0, 10);
      const wish = { name: 'bot', scopes: ['api'], expires_at };
      const bot = await as(`POST /${path}/access_tokens`, { body: wish });
      expect([bot.status, await withToken(bot.body.token)]).toEqual([201, own]);
    }
  });

  it('is who sends the request, where it is sent for somebody else', async () => {
    const person = await makeUser(ashlar);
    expect(await withToken(ROOT_TOKEN, String(person.id))).toBe('user:1');
  });
});
