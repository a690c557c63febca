/** Admin mode, where the instance demands it: each way in with an administrator's account, and what follows later. */
import { describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  type Browser,
  hiddenFields,
  openBrowser,
  signInAs,
  withSettings,
} from '../../../../test/support/browser.ts';
import {
  auditEventsOf,
  bodyOf,
  type MadeUser,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';
import { insertIssue } from '../../../../test/support/issues.ts';
import {
  makeMergeRequest,
  makeReviewedProject,
  waitForFollowing,
} from '../../../../test/support/merge-requests.ts';
import { askToken } from '../../../../test/support/registry.ts';
import { totpCode, totpStep } from '../../../kernel/identity/two-factor/totp.ts';
import { moveClock, now } from '../../../platform/clock.ts';
import { unseal } from '../../../platform/secret.ts';

const ashlar = useApp();
const PASSWORD = 'correct horse battery staple';
const FORM = '/admin/session/new';
const ENTER = '/admin/session';
const LEAVE = '/admin/session/destroy';
const HOUR_MS = 3_600_000;

const demanded = <T>(work: () => Promise<T>): Promise<T> => withSettings(ashlar, { admin_mode: true }, work);

const makeAdmin = () => makeUser(ashlar, { admin: true });

/** A further token of the user. */
async function tokenOf({ id }: MadeUser, ...scopes: string[]): Promise<string> {
  const body = { name: 'further', scopes };
  return bodyOf(await ashlar.root(`POST /users/${id}/personal_access_tokens`, { body }), 201).token;
}

/** What administrators alone read. */
const SETTINGS = 'GET /application/settings';
const mayByToken = async (token: string, headers: Record<string, string> = {}) =>
  (await ashlar.as(token)(SETTINGS, { headers })).status;
const maySession = async (browser: Browser) =>
  (await ashlar.call(SETTINGS, { headers: { cookie: browser.cookieHeader() } })).status;

async function signedIn({ username }: MadeUser): Promise<Browser> {
  const browser = openBrowser(ashlar);
  expect((await signInAs(browser, username, PASSWORD)).status).toBe(302);
  return browser;
}

const enter = (browser: Browser, fields: Record<string, string> = {}) =>
  browser.submit(FORM, { current_password: PASSWORD, ...fields }, ENTER);

test('it is off by default: nobody need enter anything', async () => {
  const admin = await makeAdmin();
  expect((await ashlar.root(SETTINGS)).body.admin_mode).toBe(false);
  expect(await mayByToken(admin.token)).toBe(200);
  await withSettings(ashlar, {}, async () => {
    const browser = await signedIn(admin);
    expect(await maySession(browser)).toBe(200);
    expect((await browser.get('/')).text).not.toContain('admin mode');
    expect((await browser.get(FORM)).status).toBe(404);
  });
});

test('the setting is written and read by the API', async () => {
  const body = bodyOf(await ashlar.root('PUT /application/settings', { body: { admin_mode: true } }), 200);
  expect(body.admin_mode).toBe(true);
  expect(await mayByToken((await makeAdmin()).token)).toBe(403);
  bodyOf(await ashlar.root('PUT /application/settings', { body: { admin_mode: false } }), 200);
});

describe('tokens', () => {
  test.each([
    [['api'], 403],
    [['api', 'sudo'], 403],
    [['read_user', 'admin_mode'], 403],
    [['api', 'admin_mode'], 200],
    [['read_api', 'admin_mode'], 200],
  ])('of the scopes %s', async (scopes, status) => {
    const token = await tokenOf(await makeAdmin(), ...scopes);
    expect(await demanded(() => mayByToken(token))).toBe(status);
  });

  test('without the scope do what a plain user does, and say so', async () => {
    const admin = await makeAdmin();
    const hidden = await makeProject(ashlar);
    await demanded(async () => {
      const call = ashlar.as(admin.token);
      const own = bodyOf(await call('GET /user'), 200);
      expect([own.username, own.is_admin]).toEqual([admin.username, undefined]);
      expect((await call(`GET /projects/${hidden.id}`)).status).toBe(404);
      const mine = bodyOf(await call('POST /projects', { body: { name: 'Wall' } }), 201);
      const listed = bodyOf(await call('GET /projects'), 200).map(({ id }: { id: number }) => id);
      expect(listed).toContain(mine.id);
      expect(listed).not.toContain(hidden.id);
      const elevated = ashlar.as(await tokenOf(admin, 'api', 'admin_mode'));
      expect(bodyOf(await elevated('GET /user'), 200).is_admin).toBe(true);
      expect((await elevated(`GET /projects/${hidden.id}`)).status).toBe(200);
    });
  });

  test('of others gain nothing by the scope', async () => {
    const admin = await makeAdmin();
    const token = await tokenOf(admin, 'api', 'admin_mode');
    bodyOf(await ashlar.root(`PUT /users/${admin.id}`, { body: { admin: false } }), 200);
    expect([await mayByToken(token), await demanded(() => mayByToken(token))]).toEqual([403, 403]);
  });

  test('without the scope make none that has it', async () => {
    const admin = await makeAdmin();
    await demanded(async () => {
      for (const path of ['/user/personal_access_tokens', `/users/${admin.id}/personal_access_tokens`]) {
        const body = { name: 'more', scopes: ['admin_mode', 'k8s_proxy'] };
        expect((await ashlar.as(admin.token)(`POST ${path}`, { body })).status).toBeGreaterThanOrEqual(400);
      }
      const { id } = await makeUser(ashlar);
      const body = { name: 'more', scopes: ['api'] };
      const path = `POST /users/${id}/impersonation_tokens`;
      expect((await ashlar.as(admin.token)(path, { body })).status).toBe(403);
    });
  });

  test('run as somebody else only with both scopes, and as an administrator with both rights', async () => {
    const [admin, other, plain] = [await makeAdmin(), await makeAdmin(), await makeUser(ashlar)];
    const sudo = await tokenOf(admin, 'api', 'sudo');
    const both = await tokenOf(admin, 'api', 'sudo', 'admin_mode');
    await demanded(async () => {
      const refused = await ashlar.as(sudo)('GET /user', { headers: { sudo: plain.username } });
      expect([refused.status, refused.body]).toEqual([
        403,
        { message: '403 Forbidden - Must be admin to use sudo' },
      ]);
      const run = await ashlar.as(both)('GET /user', { headers: { sudo: plain.username } });
      expect([run.status, run.body.username]).toEqual([200, plain.username]);
      expect(await mayByToken(both, { sudo: plain.username })).toBe(403);
      expect(await mayByToken(both, { sudo: other.username })).toBe(200);
    });
  });
});

describe('sessions', () => {
  test('enter it by the password, for six hours, each for itself', () =>
    demanded(async () => {
      const admin = await makeAdmin();
      const [here, there] = [await signedIn(admin), await signedIn(admin)];
      expect(await maySession(here)).toBe(403);
      expect((await here.get('/')).text).toContain(`<a href="${FORM}">Enter admin mode</a>`);
      const wrong = await enter(here, { current_password: 'wrong' });
      expect([wrong.status, wrong.alert]).toEqual([422, 'The current password is wrong.']);
      expect(await maySession(here)).toBe(403);
      const entered = await enter(here);
      expect([entered.status, entered.location]).toEqual([303, '/']);
      expect([await maySession(here), await maySession(there)]).toEqual([200, 403]);
      expect((await here.get('/')).text).toContain(`<a href="${FORM}">Leave admin mode</a>`);
      expect(await auditEventsOf(ashlar, admin.id)).toContain('user_enter_admin_mode');
      const back = moveClock(6 * HOUR_MS - 60_000);
      try {
        expect(await maySession(here)).toBe(200);
        const further = moveClock(60_000);
        expect(await maySession(here)).toBe(403);
        further();
      } finally {
        back();
      }
    }));

  test('leave it', () =>
    demanded(async () => {
      const browser = await signedIn(await makeAdmin());
      await enter(browser);
      expect(await maySession(browser)).toBe(200);
      expect((await browser.submit(FORM, {}, LEAVE)).status).toBe(200);
      expect(await maySession(browser)).toBe(403);
    }));

  test('are taken to the form from the pages of administrators, and back', () =>
    demanded(async () => {
      const browser = await signedIn(await makeAdmin());
      const page = '/admin/applications';
      const sent = await browser.get(page);
      expect([sent.status, sent.location]).toEqual([303, `${FORM}?return_to=${encodeURIComponent(page)}`]);
      const entered = await browser.submit(sent.location ?? '', { current_password: PASSWORD }, ENTER);
      expect([entered.status, entered.location]).toEqual([303, page]);
      expect((await browser.get(page)).status).toBe(200);
      await browser.submit(FORM, {}, LEAVE);
      const elsewhere = await browser.submit(
        `${FORM}?return_to=${encodeURIComponent('https://elsewhere.example/')}`,
        { current_password: PASSWORD },
        ENTER,
      );
      expect(elsewhere.location).toBe('/');
    }));

  test('of plain users have no such mode', () =>
    demanded(async () => {
      const browser = await signedIn(await makeUser(ashlar));
      expect((await browser.get('/')).text).not.toContain('admin mode');
      expect((await browser.get(FORM)).status).toBe(404);
      const { authenticity_token = '' } = hiddenFields(
        (await browser.get('/-/profile/password')).text,
        '/-/profile/password',
      );
      for (const path of [ENTER, LEAVE])
        expect((await browser.post(path, { authenticity_token, current_password: PASSWORD })).status).toBe(
          404,
        );
      expect(await maySession(browser)).toBe(403);
    }));

  test('enter it by their own form alone', () =>
    demanded(async () => {
      const browser = await signedIn(await makeAdmin());
      expect((await browser.post(ENTER, { current_password: PASSWORD })).status).toBe(403);
      expect(await maySession(browser)).toBe(403);
    }));

  test('cannot be guessed into it', () =>
    demanded(async () => {
      const browser = await signedIn(await makeAdmin());
      const { maximum_attempts = 10 } = (await ashlar.root(SETTINGS)).body;
      for (let guess = 0; guess <= maximum_attempts; guess++)
        await enter(browser, { current_password: 'wrong' });
      const late = await enter(browser);
      expect([late.status, late.alert]).toEqual([422, 'Too many failed attempts. Try again later.']);
      expect(await maySession(browser)).toBe(403);
    }));

  test('need a code, too, where two-factor authentication is on', () =>
    demanded(async () => {
      const browser = await signedIn(await makeAdmin());
      const fields = hiddenFields(
        (await browser.get('/-/profile/two_factor_auth')).text,
        '/-/profile/two_factor_auth',
      );
      const [, , text] = JSON.parse(unseal(ashlar.app.services.secretKey, fields.setup ?? ''));
      const key = Buffer.from(text, 'base64url');
      const code = (stepsOn: number) => totpCode(key, totpStep(now()) + stepsOn);
      const set = { ...fields, code: code(0), current_password: PASSWORD };
      expect((await browser.post('/-/profile/two_factor_auth', set)).status).toBe(200);
      for (const wrong of [{}, { code: code(0) }, { code: code(1), current_password: 'wrong' }])
        expect((await enter(browser, wrong)).alert).toBe('The current password or the code is wrong.');
      expect(await maySession(browser)).toBe(403);
      expect((await enter(browser, { code: code(1) })).status).toBe(303);
      expect(await maySession(browser)).toBe(200);
    }));

  test('give applications no administrator’s scopes outside of it', () =>
    demanded(async () => {
      const redirect_uri = 'https://quarry.example/callback';
      const { application_id } = bodyOf(
        await ashlar.root('POST /applications', {
          body: { name: 'Quarry', redirect_uri, scopes: 'api admin_mode' },
        }),
        201,
      );
      const asked = new URLSearchParams({
        ...{
          client_id: application_id,
          redirect_uri,
          response_type: 'code',
          scope: 'api admin_mode',
          state: 's',
        },
      });
      const browser = await signedIn(await makeAdmin());
      const answer = async () => {
        const page = await browser.get(`/oauth/authorize?${asked}`);
        return `${page.status} ${page.location ?? ''}`;
      };
      expect(await answer()).toContain('error=invalid_scope');
      await enter(browser);
      expect(await answer()).toBe('200 ');
    }));
});

describe('git over HTTP', () => {
  const refs = async (path: string, username: string, password: string) => {
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    const query = 'service=git-upload-pack';
    return (await ashlar.call(`GET /${path}.git/info/refs`, { raw: true, query, headers: { authorization } }))
      .status;
  };

  test('an administrator clones everything, with and without admin mode', async () => {
    const admin = await makeAdmin();
    const hidden = await makeProject(ashlar);
    const own = bodyOf(await ashlar.as(admin.token)('POST /projects', { body: { name: 'Own' } }), 201);
    const reading = await tokenOf(admin, 'read_repository');
    const elevated = await tokenOf(admin, 'read_repository', 'admin_mode');
    const both = async (password: string) => [
      await refs(own.path_with_namespace, admin.username, password),
      await refs(hidden.path_with_namespace, admin.username, password),
    ];
    for (const password of [PASSWORD, reading, elevated]) expect(await both(password)).toEqual([200, 200]);
    await demanded(async () => {
      for (const password of [PASSWORD, reading, elevated]) expect(await both(password)).toEqual([200, 200]);
    });
  });
});

test('the container registry: an administrator may all, with and without admin mode', async () => {
  const admin = await makeAdmin();
  const hidden = await makeProject(ashlar);
  const reading = await tokenOf(admin, 'read_registry');
  const elevated = await tokenOf(admin, 'read_registry', 'admin_mode');
  const actions = async (password: string) => {
    const asked = [`repository:${hidden.path_with_namespace}:pull`];
    return (await askToken(ashlar, { username: admin.username, password }, asked)).access[0]?.actions;
  };
  expect(await actions(reading)).toEqual(['pull']);
  await demanded(async () => {
    for (const password of [PASSWORD, reading, elevated]) expect(await actions(password)).toEqual(['pull']);
  });
});

describe('what follows later', () => {
  /** A commit of the administrator's own project that names an issue elsewhere. */
  async function closeByCommit(admin: MadeUser, token: string): Promise<string> {
    const elsewhere = await makeProject(ashlar);
    const issue = await insertIssue(ashlar, { project_id: elsewhere.id, author_id: 1 });
    const project = bodyOf(
      await ashlar.as(admin.token)('POST /projects', { body: { name: `Wall ${elsewhere.id}` } }),
      201,
    );
    const file = {
      branch: 'main',
      content: 'Dry stone',
      commit_message: `Closes ${elsewhere.path_with_namespace}#${issue.iid}`,
    };
    bodyOf(
      await ashlar.as(token)(`POST /projects/${project.id}/repository/files/a.txt`, { body: file }),
      201,
    );
    await waitForFollowing(ashlar);
    return bodyOf(await ashlar.root(`GET /projects/${elsewhere.id}/issues/${issue.iid}`), 200).state;
  }

  test('a job that follows a change has the rights that the change had', async () => {
    const admin = await makeAdmin();
    const elevated = await tokenOf(admin, 'api', 'admin_mode');
    expect(await closeByCommit(admin, admin.token)).toBe('closed');
    await demanded(async () => {
      expect(await closeByCommit(admin, admin.token)).toBe('opened');
      expect(await closeByCommit(admin, elevated)).toBe('closed');
    });
  });

  test('a merge that waits has the rights with which it was asked for', async () => {
    const admin = await makeAdmin();
    const elevated = await tokenOf(admin, 'api', 'admin_mode');
    /** A merge that the token asks for in a project of others, until it can be. */
    async function wait(token: string) {
      const { id } = await makeReviewedProject(ashlar);
      await makeMergeRequest(ashlar, id, 'topic', { title: 'Draft: Topic' });
      const path = `/projects/${id}/merge_requests/1`;
      bodyOf(await ashlar.as(token)(`PUT ${path}/merge`, { body: { auto_merge: true } }), 200);
      return async () => {
        bodyOf(await ashlar.root(`PUT ${path}`, { body: { title: 'Topic' } }), 200);
        await waitForFollowing(ashlar);
        return bodyOf(await ashlar.root(`GET ${path}`), 200).state;
      };
    }
    const withoutMode = await wait(admin.token);
    await demanded(async () => {
      const inMode = await wait(elevated);
      expect([await withoutMode(), await inMode()]).toEqual(['opened', 'merged']);
    });
  });

  test('a merge that a comment asks for has the rights of the comment', async () => {
    const elevated = await tokenOf(await makeAdmin(), 'api', 'admin_mode');
    const { id } = await makeReviewedProject(ashlar);
    await makeMergeRequest(ashlar, id, 'topic');
    await waitForFollowing(ashlar);
    const path = `/projects/${id}/merge_requests/1`;
    await demanded(async () => {
      const said = await ashlar.as(elevated)(`POST ${path}/notes`, { body: { body: '/merge' } });
      expect([said.status, said.text]).toEqual([202, expect.any(String)]);
      await waitForFollowing(ashlar);
      expect(bodyOf(await ashlar.root(`GET ${path}`), 200).state).toBe('merged');
    });
  });

  test('an administrator is told of nothing that a plain user would not see', async () => {
    const project = await makeProject(ashlar);
    const { iid } = await insertIssue(ashlar, { project_id: project.id, author_id: 1 });
    const toldOf = async (user: MadeUser) => {
      const body = { body: `@${user.username} look` };
      bodyOf(await ashlar.root(`POST /projects/${project.id}/issues/${iid}/notes`, { body }), 201);
      return bodyOf(await ashlar.as(user.token)('GET /todos'), 200).length;
    };
    expect(await toldOf(await makeAdmin())).toBe(1);
    await demanded(async () => expect(await toldOf(await makeAdmin())).toBe(0));
  });
});
