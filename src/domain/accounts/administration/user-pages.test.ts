/** Administrators let people in, block them, make them administrators and make accounts, in a browser. */
import { describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  type Browser,
  hiddenFields,
  openBrowser,
  signInAs,
  withSettings,
} from '../../../../test/support/browser.ts';
import { bodyOf, createUser, makeUser, uniqueName } from '../../../../test/support/factories.ts';
import { countSentStatements } from '../../../../test/support/sent-statements.ts';

const app = useApp();
const PASSWORD = 'correct horse battery staple';
const USERS = '/admin/users';

async function signedIn(username: string): Promise<Browser> {
  const browser = openBrowser(app);
  await withSettings(app, {}, () => signInAs(browser, username, PASSWORD));
  return browser;
}

async function administrator() {
  const user = await makeUser(app, { admin: true });
  return { ...user, browser: await signedIn(user.username) };
}

/** Somebody who registered, and waits. */
async function waiting(name = uniqueName('waiting')) {
  const browser = openBrowser(app);
  const fields = { name: `The ${name}`, username: name, email: `${name}@example.com`, password: PASSWORD };
  await withSettings(app, {}, () => browser.submit('/users/sign_up', fields, '/users'));
  const [user] = bodyOf(await app.root('GET /users', { query: `username=${name}` }), 200);
  expect(user.state).toBe('blocked_pending_approval');
  return user as { id: number; username: string; name: string };
}

const userOf = async (id: number) => (await app.root(`GET /users/${id}`)).body;
/** The session's token, by which a form is sent that no page has. */
const tokenOf = async (browser: Browser) => {
  const { text } = await browser.get('/-/profile/active_sessions');
  const { authenticity_token = '' } = hiddenFields(text, '/users/sign_out');
  expect(authenticity_token).not.toBe('');
  return { authenticity_token };
};
/** Changes of the same moment, by administrators who have the account's page open. */
async function changesAtOnce(id: number, ...all: readonly [Browser, string][]) {
  const tokens = await Promise.all(all.map(([browser]) => tokenOf(browser)));
  return Promise.all(
    all.map(([browser, name], at) => browser.post(`${USERS}/${id}/${name}`, tokens[at] ?? {})),
  );
}
/** Sends the form of a change as the account's page has it. */
const change = (browser: Browser, id: number, name: string) =>
  browser.submit(`${USERS}/${id}`, {}, `${USERS}/${id}/${name}`);

describe('people who wait', () => {
  test('are told of on the first page, listed, and let in from the list', async () => {
    const { browser } = await administrator();
    const person = await waiting();
    const first = await browser.get('/admin');
    expect(first.text).toMatch(/(One person waits|\d+ people wait) to be let in/);
    const path = `${USERS}?show=waiting`;
    const { text } = await browser.get(path);
    expect(text).toContain(`@${person.username} · ${person.username}@example.com`);
    const action = `${USERS}/${person.id}/approve`;
    const approved = await browser.submit(path, {}, action);
    expect([approved.status, approved.location]).toEqual([303, `${path}&done=approve`]);
    expect((await userOf(person.id)).state).toBe('active');
    const after = await browser.get(approved.location ?? '');
    expect(after.text).toContain('Approved: they can sign in now.');
    expect(after.text).not.toContain(`@${person.username}`);
    const events = bodyOf(
      await app.root(`GET /audit_events`, { query: `entity_type=User&entity_id=${person.id}` }),
      200,
    );
    expect(JSON.stringify(events)).toContain('user_approved');
  });

  test('are turned away, and are gone', async () => {
    const { browser } = await administrator();
    const person = await waiting();
    const rejected = await change(browser, person.id, 'reject');
    expect(rejected.location).toBe(`${USERS}?done=reject`);
    expect((await app.root(`GET /users/${person.id}`)).status).toBe(404);
    expect((await browser.get(`${USERS}/${person.id}`)).status).toBe(404);
  });

  test('are let in once, by whoever of two is first; the other reads why not', async () => {
    const [one, other] = [await administrator(), await administrator()];
    const person = await waiting();
    const both = await changesAtOnce(person.id, [one.browser, 'approve'], [other.browser, 'approve']);
    expect(both.map(({ status }) => status).sort()).toEqual([303, 409]);
    expect(both.find(({ status }) => status === 409)?.alert).toContain('is not pending approval');
  });

  test('and an administrator who lets in while another turns away: one of the two happens', async () => {
    const [one, other] = [await administrator(), await administrator()];
    const person = await waiting();
    const both = await changesAtOnce(person.id, [one.browser, 'approve'], [other.browser, 'reject']);
    const there = (await app.root(`GET /users/${person.id}`)).status === 200;
    expect(both.map(({ status }) => status === 303)).toEqual([there, !there]);
  });
});

describe('the state of accounts', () => {
  test('is changed as the API changes it, and the way back is offered', async () => {
    const { browser } = await administrator();
    const user = await makeUser(app);
    const blocked = await change(browser, user.id, 'block');
    expect(blocked.location).toBe(`${USERS}/${user.id}?done=block`);
    expect((await app.as(user.token)('GET /user')).status).toBe(403);
    expect((await browser.get(`${USERS}?show=blocked`)).text).toContain(`@${user.username}`);
    expect((await browser.get(`${USERS}?show=inactive`)).text).toContain(`@${user.username}`);
    const page = await browser.get(blocked.location ?? '');
    expect(page.text).toContain('until it is unblocked');
    expect(page.text).not.toContain('/block"');
    await change(browser, user.id, 'unblock');
    expect((await userOf(user.id)).state).toBe('active');
  });

  test('stays where the API refuses, and the page says why', async () => {
    const { browser } = await administrator();
    const user = await makeUser(app);
    await app.app.services.database
      .sql`update users set last_activity_on = current_date where id = ${user.id}`;
    const refused = await change(browser, user.id, 'deactivate');
    expect([refused.status, refused.alert]).toEqual([
      403,
      expect.stringContaining('active in the past 90 days'),
    ]);
    expect((await userOf(user.id)).state).toBe('active');
  });

  test("is not one's own to take away, nor is the last administrator", async () => {
    const { browser, id } = await administrator();
    const { text } = await browser.get(`${USERS}/${id}`);
    expect(text).toContain('This is you');
    const token = await tokenOf(browser);
    for (const name of ['block', 'ban', 'deactivate']) {
      expect(text).not.toContain(`/${name}"`);
      const refused = await browser.post(`${USERS}/${id}/${name}`, token);
      expect([refused.status, refused.alert]).toEqual([403, expect.stringContaining('cannot be changed')]);
    }
    const { sql } = app.app.services.database;
    await sql`update users set admin = id = ${id} where admin`;
    try {
      const refused = await change(browser, id, 'take_administrator');
      expect([refused.status, refused.alert]).toEqual([
        400,
        expect.stringContaining('no other active administrator'),
      ]);
    } finally {
      await sql`update users set admin = true where id = 1`;
    }
    expect((await userOf(id)).is_admin).toBe(true);
  });

  test('two administrators who take the rights of each other at once: one stays', async () => {
    const [one, other] = [await administrator(), await administrator()];
    const { sql } = app.app.services.database;
    const [token, others] = [await tokenOf(one.browser), await tokenOf(other.browser)];
    await sql`update users set admin = id in (${one.id}, ${other.id}) where admin`;
    try {
      await Promise.all([
        one.browser.post(`${USERS}/${other.id}/take_administrator`, token),
        other.browser.post(`${USERS}/${one.id}/take_administrator`, others),
      ]);
      const left = await sql`select id from users where admin and state = 'active'`;
      expect(left).toHaveLength(1);
    } finally {
      await sql`update users set admin = true where id = 1`;
    }
  });

  test('an administrator is made, who then sees these pages', async () => {
    const { browser } = await administrator();
    const user = await makeUser(app);
    const theirs = await signedIn(user.username);
    expect((await theirs.get(USERS)).status).toBe(404);
    await change(browser, user.id, 'make_administrator');
    expect((await theirs.get(USERS)).status).toBe(200);
    expect((await theirs.get(`${USERS}?show=admins`)).text).toContain(`@${user.username}`);
    await change(browser, user.id, 'take_administrator');
    expect((await theirs.get(USERS)).status).toBe(404);
  });
});

describe('a new account', () => {
  const values = () => {
    const username = uniqueName('made');
    return { name: 'Made <here>', username, email: `${username}@example.com` };
  };
  const make = (browser: Browser, fields: Record<string, string>) =>
    browser.submit(`${USERS}/new`, fields, USERS);

  test('has the password that it is given', async () => {
    const { browser } = await administrator();
    const given = { ...values(), password_by: 'now', password: PASSWORD, external: '1' };
    const made = await make(browser, given);
    expect([made.status, made.location]).toEqual([
      303,
      expect.stringMatching(/^\/admin\/users\/\d+\?done=made$/),
    ]);
    const page = await browser.get(made.location ?? '');
    expect(page.text).toContain('The account is made.');
    expect(page.text).toContain('Made &lt;here&gt;');
    const user = await userOf(Number(/users\/(\d+)/.exec(made.location ?? '')?.[1]));
    expect(user).toMatchObject({ username: given.username, external: true, is_admin: false });
    expect((await (await signedIn(given.username)).get('/-/profile/password')).status).toBe(200);
  });

  test('is wrong in several ways: each is told beside its field, and what was typed is kept, but for the password', async () => {
    const { browser } = await administrator();
    const taken = await makeUser(app);
    const refused = await make(browser, {
      ...values(),
      username: '-no-',
      email: 'nowhere',
      password_by: 'now',
      password: 'short-7',
      admin: '1',
    });
    expect(refused.status).toBe(422);
    const { text } = refused;
    for (const name of ['username', 'password']) {
      expect(text).toContain(`id="${name}_problem"`);
      expect(text).toMatch(
        new RegExp(`id="${name}"[^>]*aria-invalid="true" aria-describedby="${name}_problem`),
      );
    }
    expect(text).toContain('value="-no-"');
    expect(text).toContain('value="nowhere"');
    expect(text).toMatch(/id="admin"[^>]* checked/);
    expect(text).not.toContain('short-7');
    const again = await make(browser, {
      ...values(),
      username: taken.username.toUpperCase(),
      password_by: 'mail',
    });
    expect(again.text).toMatch(/id="username_problem">Username has already been taken/);
    const nameless = await make(browser, { ...values(), name: ' ' });
    expect(nameless.text).toContain('id="name_problem"');
    const empty = await make(browser, { ...values(), password_by: 'now', password: '' });
    expect(empty.text).toContain('id="password_problem"');
  });

  test('of one name twice at once is made once', async () => {
    const { browser } = await administrator();
    const given = values();
    const both = await Promise.all([1, 2].map(() => make(browser, { ...given, password_by: 'mail' })));
    expect(both.map(({ status }) => status).sort()).toEqual([303, 422]);
  });
});

describe('the list', () => {
  test('goes on by the last one shown, finds by name, and asks the database a few times for many', async () => {
    const { browser } = await administrator();
    const word = uniqueName('mason');
    const count = 60;
    await app.app.services.database.sql`
      insert into users (username, name, email, password_hash, projects_limit, can_create_group, state, created_at, updated_at)
      select ${word} || i, ${word} || ' <b>' || i, ${word} || i || '@example.com', 'x', 0, false, 'blocked_pending_approval', now(), now()
      from generate_series(1, ${count}::integer) i`;
    const first = await browser.get(`${USERS}?show=waiting&search=${word}`);
    const shown = (text: string) =>
      [...text.matchAll(new RegExp(`@(${word}\\d+) `, 'g'))].map(([, name]) => name);
    const next = /rel="next" href="([^"]+)"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(next).toContain('cursor=');
    const second = await browser.get(next);
    const all = [...shown(first.text), ...shown(second.text)];
    expect([shown(first.text).length, new Set(all).size]).toEqual([50, count]);
    expect(first.text).not.toContain('<b>');
    expect(second.text).toContain('To the first');
    expect((await browser.get(`${USERS}?show=waiting&search=nobody-at-all`)).text).toContain(
      'Nobody else is found',
    );
    const sent = countSentStatements();
    const counted = async (path: string) => {
      const before = sent();
      expect((await browser.get(path)).status).toBe(200);
      return sent() - before;
    };
    // For one user there are as many; what runs beside the requests may send some.
    expect(await counted(`${USERS}?show=waiting&search=${word}`)).toBeLessThan(10);
    expect((await browser.get(`${USERS}?cursor=nonsense`)).status).toBe(400);
    expect((await browser.get(`${USERS}?done=nonsense`)).text).not.toContain('nonsense');
  });

  test('is for administrators: the API lists those who wait for them alone', async () => {
    const person = await waiting();
    const names = async (call: typeof app.root) =>
      bodyOf(await call('GET /users', { query: 'pending_approval=true&per_page=100' }), 200).map(
        ({ username }: { username: string }) => username,
      );
    expect(await names(app.root)).toContain(person.username);
    const user = await createUser(app, {});
    expect(await names(app.as(user.token))).not.toContain(person.username);
  });
});

test('others read and change nothing: 404, and 403 without the token of their session', async () => {
  const { browser } = await administrator();
  const user = await makeUser(app);
  const theirs = await signedIn(user.username);
  const token = await tokenOf(theirs);
  for (const path of [USERS, `${USERS}/new`, `${USERS}/${user.id}`, '/admin']) {
    expect([path, (await theirs.get(path)).status]).toEqual([path, 404]);
    expect((await openBrowser(app).get(path)).location).toContain('/users/sign_in');
  }
  for (const path of [USERS, `${USERS}/${user.id}/make_administrator`, `${USERS}/1/block`]) {
    expect([path, (await theirs.post(path, token)).status]).toEqual([path, 404]);
    expect((await browser.post(path, {})).status).toBe(403);
  }
  const own = await tokenOf(browser);
  for (const path of [
    `${USERS}/${user.id}/erase`,
    `${USERS}/0/block`,
    `${USERS}/x/block`,
    `${USERS}/${user.id}/toString`,
  ])
    expect([path, (await browser.post(path, own)).status]).toEqual([path, 404]);
  expect(await userOf(user.id)).toMatchObject({ is_admin: false, state: 'active' });
});
