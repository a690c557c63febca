import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeProject,
  makeGroup,
  makeProject,
  makeUser,
  uniqueName,
} from '../../../../test/support/factories.ts';
import { addressOf, commitFiles, makeHome, mustGit } from '../../../../test/support/git.ts';
import { authorizationsOf, authorize, makeApplication } from '../../../../test/support/oauth.ts';
import { fillProject } from '../../../../test/support/repositories.ts';

const app = useApp();
beforeAll(() => withSettings({ throttle_protected_paths_requests_per_period: 100 }));
const PASSWORD = 'correct horse battery staple';

type GitResponse = { status: number; text: string; headers: Headers };

/** Asks for the refs, as the beginning of a fetch or a push. */
async function requestGit(
  path: string,
  service: 'upload-pack' | 'receive-pack',
  credentials?: { username?: string; password: string } | { bearer: string },
): Promise<GitResponse> {
  const headers: Record<string, string> = {};
  if (credentials && 'bearer' in credentials) headers.authorization = `Bearer ${credentials.bearer}`;
  else if (credentials) {
    const pair = `${credentials.username ?? 'anything'}:${credentials.password}`;
    headers.authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
  }
  const url = `${app.url}/${path}.git/info/refs?service=git-${service}`;
  const response = await fetch(url, { headers, redirect: 'manual' });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

const pathOf = (project: MadeProject) => project.path_with_namespace;

async function withSettings(values: Record<string, unknown>): Promise<void> {
  const { services } = app.app;
  await services.settings.write(services.database.db, values);
  services.settings.forget();
}

afterEach(() =>
  withSettings({
    password_authentication_enabled_for_git: true,
    require_two_factor_authentication: false,
    maintenance_mode: false,
    throttle_protected_paths_enabled: true,
    throttle_protected_paths_requests_per_period: 100,
    throttle_protected_paths_period_in_seconds: 60,
    rate_limiting_response_text: '',
    email_confirmation_setting: 'off',
  }),
);

async function tokenOf(user: { id: number }, ...scopes: string[]): Promise<string> {
  const body = { name: 'git', scopes };
  return bodyOf(await app.root(`POST /users/${user.id}/personal_access_tokens`, { body }), 201).token;
}

test('nobody fetches public projects only, and is asked who they are everywhere else', async () => {
  const open = await makeProject(app, { visibility: 'public' });
  await fillProject(app, open.id);
  const closed = await makeProject(app);
  expect(await requestGit(pathOf(open), 'upload-pack')).toMatchObject({ status: 200 });
  for (const [path, service] of [
    [pathOf(open), 'receive-pack'],
    [pathOf(closed), 'upload-pack'],
    ['not/there', 'upload-pack'],
    ['snippets/999999', 'upload-pack'],
    [`${pathOf(closed)}.wiki`, 'upload-pack'],
  ] as const) {
    const requested = await requestGit(path, service);
    expect(requested.status).toBe(401);
    expect(requested.headers.get('www-authenticate')).toBe('Basic realm="GitLab"');
  }
});

test('what is served must not be kept, and has its own type', async () => {
  const project = await makeProject(app, { visibility: 'public' });
  const { headers, text } = await requestGit(pathOf(project), 'upload-pack');
  expect(headers.get('content-type')).toBe('application/x-git-upload-pack-advertisement');
  expect(headers.get('cache-control')).toBe('no-cache, max-age=0, must-revalidate');
  expect(text).toMatch(/^001e# service=git-upload-pack\n0000/);
});

describe('a role', () => {
  test.each([
    { role: 0, fetch: 404, push: 404 },
    { role: 10, fetch: 403, push: 403 },
    { role: 20, fetch: 200, push: 403 },
    { role: 30, fetch: 200, push: 200 },
  ])('$role in a private project: fetch $fetch, push $push', async ({ role, fetch, push }) => {
    const project = await makeProject(app);
    const user = await makeUser(app);
    if (role > 0) await addMember(app, `projects/${project.id}`, user, role);
    const fetched = await requestGit(pathOf(project), 'upload-pack', { password: user.token });
    const pushed = await requestGit(pathOf(project), 'receive-pack', { password: user.token });
    expect([fetched.status, pushed.status]).toEqual([fetch, push]);
    if (push === 403) expect(pushed.text).toBe('You are not allowed to push code to this project.\n');
    if (fetch === 403) expect(fetched.text).toBe('You are not allowed to download code from this project.\n');
    if (fetch === 404) expect(fetched.headers.get('content-type')).toContain('text/plain');
  });
});

describe('a scope', () => {
  test.each([
    { scope: 'api', fetch: 200, push: 200 },
    { scope: 'write_repository', fetch: 200, push: 200 },
    { scope: 'read_repository', fetch: 200, push: 403 },
    { scope: 'read_api', fetch: 403, push: 403 },
    { scope: 'read_user', fetch: 403, push: 403 },
  ])('$scope: fetch $fetch, push $push', async ({ scope, fetch, push }) => {
    const project = await makeProject(app);
    const user = await makeUser(app);
    await addMember(app, `projects/${project.id}`, user, 40);
    const password = await tokenOf(user, scope);
    for (const credentials of [{ password }, { bearer: password }, { username: 'oauth2', password }]) {
      expect((await requestGit(pathOf(project), 'upload-pack', credentials)).status).toBe(fetch);
      expect((await requestGit(pathOf(project), 'receive-pack', credentials)).status).toBe(push);
    }
  });
});

test.each([
  { scope: 'api', fetch: 200, push: 200 },
  { scope: 'write_repository', fetch: 200, push: 200 },
  { scope: 'read_repository', fetch: 200, push: 403 },
  { scope: 'openid', fetch: 403, push: 403 },
])('an OAuth access token with $scope: fetch $fetch, push $push', async ({ scope, fetch, push }) => {
  const project = await makeProject(app);
  const user = await makeUser(app);
  await addMember(app, `projects/${project.id}`, user, 30);
  const given = { grant_type: 'password', username: user.username, password: PASSWORD, scope };
  const form = new URLSearchParams(given).toString();
  const granted = bodyOf(await app.call('POST /oauth/token', { raw: true, form }), 200);
  for (const username of ['oauth2', 'anything']) {
    const credentials = { username, password: granted.access_token };
    expect((await requestGit(pathOf(project), 'upload-pack', credentials)).status).toBe(fetch);
    expect((await requestGit(pathOf(project), 'receive-pack', credentials)).status).toBe(push);
  }
});

test('revoked, expired and unknown tokens, and those of blocked users', async () => {
  const project = await makeProject(app, { visibility: 'public' });
  const user = await makeUser(app);
  const { sql } = app.app.services.database;
  const unknown = await requestGit(pathOf(project), 'upload-pack', { password: 'glpat-unknown' });
  expect(unknown.status).toBe(401);
  expect(unknown.text).toContain('HTTP Basic: Access denied.');
  await sql`update users set state = 'blocked' where id = ${user.id}`;
  const blocked = await requestGit(pathOf(project), 'upload-pack', { password: user.token });
  expect(blocked).toMatchObject({ status: 403, text: 'Your account has been blocked.\n' });
  await sql`update users set state = 'active' where id = ${user.id}`;
  const digest = createHash('sha256').update(user.token).digest();
  await sql`update access_tokens set revoked_at = now() where digest = ${digest}`;
  expect((await requestGit(pathOf(project), 'upload-pack', { password: user.token })).status).toBe(401);
});

describe('a deploy token', () => {
  async function make(place: string, ...scopes: string[]): Promise<{ username: string; password: string }> {
    const made = bodyOf(await app.root(`POST /${place}/deploy_tokens`, { body: { name: 'd', scopes } }), 201);
    return { username: made.username, password: made.token };
  }

  test('works in its own project only, by its own name, for its scopes', async () => {
    const project = await makeProject(app);
    const other = await makeProject(app);
    const token = await make(`projects/${project.id}`, 'read_repository');
    expect((await requestGit(pathOf(project), 'upload-pack', token)).status).toBe(200);
    expect((await requestGit(pathOf(other), 'upload-pack', token)).status).toBe(404);
    expect((await requestGit(pathOf(project), 'receive-pack', token)).status).toBe(403);
    expect((await requestGit(`${pathOf(project)}.wiki`, 'upload-pack', token)).status).toBe(403);
    const asOther = { username: 'root', password: token.password };
    expect((await requestGit(pathOf(project), 'upload-pack', asOther)).status).toBe(401);
  });

  test('of a group works in the projects below it', async () => {
    const group = await makeGroup(app);
    const subgroup = await makeGroup(app, { parent_id: group.id });
    const inside = await makeProject(app, { namespace_id: subgroup.id });
    const outside = await makeProject(app);
    const token = await make(`groups/${group.id}`, 'read_repository');
    expect((await requestGit(pathOf(inside), 'upload-pack', token)).status).toBe(200);
    expect((await requestGit(pathOf(outside), 'upload-pack', token)).status).toBe(404);
    const below = await make(`groups/${subgroup.id}`, 'read_repository');
    const above = await makeProject(app, { namespace_id: group.id });
    expect((await requestGit(pathOf(above), 'upload-pack', below)).status).toBe(404);
  });

  test('expires and is revoked', async () => {
    const project = await makeProject(app);
    const token = await make(`projects/${project.id}`, 'read_repository');
    const { sql } = app.app.services.database;
    await sql`update deploy_tokens set expires_at = now() - interval '1 minute' where project_id = ${project.id}`;
    expect((await requestGit(pathOf(project), 'upload-pack', token)).status).toBe(401);
  });
});

test('a CI job token fetches and never pushes', async () => {
  const project = await makeProject(app);
  const user = await makeUser(app);
  await addMember(app, `projects/${project.id}`, user, 40);
  const { sql } = app.app.services.database;
  const digest = createHash('sha256').update('job-token').digest();
  await sql`insert into access_tokens (user_id, project_id, kind, name, digest, scopes, created_at, updated_at)
    values (${user.id}, ${project.id}, 'job', 'job', ${digest}, '{}', now(), now())`;
  const job = { username: 'gitlab-ci-token', password: 'job-token' };
  expect((await requestGit(pathOf(project), 'upload-pack', job)).status).toBe(200);
  expect((await requestGit(pathOf(project), 'receive-pack', job)).status).toBe(403);
  expect((await requestGit(pathOf(project), 'upload-pack', { password: 'job-token' })).status).toBe(401);
});

test('the name of CI jobs goes with any token, and with no password', async () => {
  const { signedIn, redeem } = authorizationsOf(app);
  const { user, browser } = await signedIn();
  const project = await makeProject(app);
  await addMember(app, `projects/${project.id}`, user, 40);
  const bot = { name: 'bot', scopes: ['write_repository'], access_level: 30 };
  const ofProject = bodyOf(await app.root(`POST /projects/${project.id}/access_tokens`, { body: bot }), 201);
  const application = await makeApplication(app, { scopes: ['write_repository'] });
  const granted = (await redeem(application, await authorize(browser, application))).body.access_token;
  const status = async (password: string, service: 'upload-pack' | 'receive-pack') =>
    (await requestGit(pathOf(project), service, { username: 'gitlab-ci-token', password })).status;
  for (const token of [user.token, ofProject.token, granted])
    expect([await status(token, 'upload-pack'), await status(token, 'receive-pack')]).toEqual([200, 200]);
  expect(await status(await tokenOf(user, 'read_repository'), 'receive-pack')).toBe(403);
  expect(await status(await tokenOf(user, 'read_user'), 'upload-pack')).toBe(403);
  for (const wrong of ['glpat-none-at-all', PASSWORD]) expect(await status(wrong, 'upload-pack')).toBe(401);
  // Not even where somebody is called so.
  const { sql } = app.app.services.database;
  await sql`update users set username = 'gitlab-ci-token' where id = ${user.id}`;
  expect(await status(PASSWORD, 'upload-pack')).toBe(401);
  expect(await status(user.token, 'upload-pack')).toBe(200);
});

describe('an address without .git', () => {
  const go = async (path: string, method = 'GET') => {
    const { status, headers } = await fetch(`${app.url}/${path}`, { method, redirect: 'manual' });
    return [status, headers.get('location')];
  };

  test('leads to the one with it, whether there is anything or not', async () => {
    const project = await makeProject(app);
    for (const path of [pathOf(project), 'not/there', `${pathOf(project)}.wiki`, 'snippets/7', 'a%2Fb/c'])
      for (const service of ['upload-pack', 'receive-pack'])
        expect(await go(`${path}/info/refs?service=git-${service}&x=%2F`)).toEqual([
          301,
          `${app.url}/${path}.git/info/refs?service=git-${service}&x=%2F`,
        ]);
    // Never to another site.
    expect(await go('/evil.example/x/info/refs')).toEqual([301, `${app.url}/evil.example/x.git/info/refs`]);
    expect((await go(`${pathOf(project)}/-/blob/main/info/refs`))[0]).toBe(404);
  });

  test('is cloned from, and pushed to, by git', async () => {
    const project = await makeProject(app, { visibility: 'public' });
    await fillProject(app, project.id);
    const home = makeHome();
    try {
      const address = addressOf(app.url, pathOf(project), ROOT_TOKEN).replace(/\.git$/, '');
      await mustGit(home, ['clone', '--quiet', address, 'work']);
      const work = join(home, 'work');
      await commitFiles(work, { 'new.txt': 'new' });
      await mustGit(work, ['push', '--quiet', 'origin', 'HEAD']);
      const files = await app.root(`GET /projects/${project.id}/repository/tree`);
      expect(bodyOf(files, 200)).toContainEqual(expect.objectContaining({ path: 'new.txt' }));
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });
});

describe('a password', () => {
  test('lets in, unless the instance or a second factor says no', async () => {
    const project = await makeProject(app);
    const user = await makeUser(app);
    await addMember(app, `projects/${project.id}`, user, 30);
    const credentials = { username: user.username, password: PASSWORD };
    const enter = async () => (await requestGit(pathOf(project), 'receive-pack', credentials)).status;
    expect(await enter()).toBe(200);
    await withSettings({ password_authentication_enabled_for_git: false });
    expect(await enter()).toBe(401);
    await withSettings({
      password_authentication_enabled_for_git: true,
      require_two_factor_authentication: true,
    });
    expect(await enter()).toBe(401);
    await withSettings({ require_two_factor_authentication: false });
    const { sql } = app.app.services.database;
    await sql`update users set otp_enabled_at = now() where id = ${user.id}`;
    expect(await enter()).toBe(401);
    await sql`update users set otp_enabled_at = null where id = ${user.id}`;
    for (const [state, text] of [
      ['blocked', 'Your account has been blocked.'],
      ['deactivated', 'Your account is not active.'],
    ] as const) {
      await sql`update users set state = ${state} where id = ${user.id}`;
      const refused = await requestGit(pathOf(project), 'receive-pack', credentials);
      expect([refused.status, refused.text]).toEqual([403, expect.stringContaining(text)]);
    }
    await sql`update users set state = 'active' where id = ${user.id}`;
    expect(await enter()).toBe(200);
    await withSettings({ email_confirmation_setting: 'hard' });
    await sql`update users set confirmed_at = null where id = ${user.id}`;
    expect(await enter()).toBe(403);
  });

  test('is no door for guesses: the account is locked, and the address has to wait', async () => {
    const project = await makeProject(app);
    const user = await makeUser(app);
    await addMember(app, `projects/${project.id}`, user, 30);
    const { sql } = app.app.services.database;
    for (let guess = 0; guess < 3; guess += 1)
      await requestGit(pathOf(project), 'upload-pack', {
        username: user.username,
        password: `wrong ${guess}`,
      });
    const [row] = await sql`select failed_attempts from users where id = ${user.id}`;
    expect(row).toEqual({ failed_attempts: 3 });
    await sql`update users set locked_at = now(), failed_attempts = 10 where id = ${user.id}`;
    const right = { username: user.username, password: PASSWORD };
    expect((await requestGit(pathOf(project), 'upload-pack', right)).status).toBe(401);
    await sql`update users set locked_at = null, failed_attempts = 0 where id = ${user.id}`;
    await withSettings({ throttle_protected_paths_requests_per_period: 1 });
    const statuses = new Set<number>();
    // More than a process may have leased while the limit was higher.
    for (let guess = 0; guess < 32; guess += 1) {
      statuses.add(
        (await requestGit('a/b', 'upload-pack', { username: 'nobody', password: `${guess}` })).status,
      );
      // Nobody's password is given alone.
      expect((await requestGit('a/b', 'upload-pack', { bearer: `wrong-${guess}` })).status).toBe(401);
    }
    expect(statuses).toContain(429);
    for (const text of ['Retry later', 'Come back at noon.']) {
      const late = await requestGit('a/b', 'upload-pack', { username: 'nobody', password: 'late' });
      expect(late).toMatchObject({ status: 429, text: `${text}\n` });
      await withSettings({ rate_limiting_response_text: 'Come back at noon.' });
    }
    // Guesses at a password do not lock tokens out.
    expect((await requestGit(pathOf(project), 'upload-pack', { password: user.token })).status).toBe(200);
  });

  test.each([
    ['throttle_protected_paths_enabled', false],
    ['throttle_protected_paths_requests_per_period', 0],
    ['throttle_protected_paths_period_in_seconds', 0],
  ] as const)('is tried any number of times while %s is %s', async (name, value) => {
    await withSettings({ throttle_protected_paths_requests_per_period: 1, [name]: value });
    const statuses = new Set<number>();
    for (let guess = 0; guess < 32; guess += 1)
      statuses.add(
        (await requestGit('a/b', 'upload-pack', { username: 'nobody', password: `${guess}` })).status,
      );
    expect([...statuses]).toEqual([401]);
    // Nothing was counted, and nothing went wrong with counting.
    expect(app.log.join('\n')).not.toContain('rate limits are counted');
  });

  test('is not guessed by none at all, nor by a token that has ended', async () => {
    const user = await makeUser(app);
    const ended = await tokenOf(user, 'api');
    const { sql } = app.app.services.database;
    const digest = createHash('sha256').update(ended).digest();
    await sql`update access_tokens set revoked_at = now() where digest = ${digest}`;
    const failures = async () => {
      const [row] = await sql`select failed_attempts from users where id = ${user.id}`;
      return row?.failed_attempts;
    };
    for (const password of ['', ended]) {
      const refused = await requestGit('a/b', 'upload-pack', { username: user.username, password });
      expect(refused).toMatchObject({
        status: 401,
        text: expect.stringContaining('HTTP Basic: Access denied.'),
      });
      expect(await failures()).toBe(0);
    }
    await requestGit('a/b', 'upload-pack', { username: user.username, password: 'a guess' });
    expect(await failures()).toBe(1);
  });

  test('is refused with a zero byte in it, or in the name', async () => {
    const { username } = await makeUser(app);
    for (const credentials of [
      { username, password: `${PASSWORD}\0` },
      { username: `${username}\0`, password: PASSWORD },
    ])
      expect((await requestGit('a/b', 'upload-pack', credentials)).status).toBe(401);
  });
});

test('what is archived, in maintenance, or turned off', async () => {
  const project = await makeProject(app);
  const root = { password: ROOT_TOKEN };
  await withSettings({ maintenance_mode: true, maintenance_mode_message: 'Back at noon.' });
  expect(await requestGit(pathOf(project), 'receive-pack', root)).toMatchObject({
    status: 503,
    text: 'Back at noon.\n',
  });
  expect((await requestGit(pathOf(project), 'upload-pack', root)).status).toBe(200);
  await withSettings({ maintenance_mode: false });
  bodyOf(await app.root(`POST /projects/${project.id}/archive`), 201);
  expect((await requestGit(pathOf(project), 'receive-pack', root)).status).toBe(403);
  expect((await requestGit(pathOf(project), 'upload-pack', root)).status).toBe(200);
});

describe('a snippet', () => {
  async function insert(values: { author: number; project?: number; visibility: number; ready?: boolean }) {
    const { sql } = app.app.services.database;
    const [row] = await sql<{ id: number }[]>`
      insert into snippets (project_id, author_id, title, visibility, repository_storage, default_branch, ready, created_at, updated_at)
      values (${values.project ?? null}, ${values.author}, 'S', ${values.visibility}, 'default', 'main',
        ${values.ready ?? true}, now(), now()) returning id`;
    return row?.id ?? 0;
  }

  test('is fetched by who sees it, and pushed by its author', async () => {
    const author = await makeUser(app);
    const other = await makeUser(app);
    const hidden = await insert({ author: author.id, visibility: 0 });
    const shown = await insert({ author: author.id, visibility: 20 });
    const unready = await insert({ author: author.id, visibility: 20, ready: false });
    const by = (user: { token: string }) => ({ password: user.token });
    for (const [path, service, credentials, status] of [
      [`snippets/${hidden}`, 'upload-pack', by(author), 200],
      [`-/snippets/${hidden}`, 'receive-pack', by(author), 200],
      [`snippets/${hidden}`, 'upload-pack', by(other), 404],
      [`snippets/${hidden}`, 'receive-pack', by(other), 404],
      [`snippets/${shown}`, 'upload-pack', undefined, 200],
      [`snippets/${shown}`, 'receive-pack', by(other), 403],
      [`snippets/${shown}`, 'receive-pack', undefined, 401],
      [`snippets/${unready}`, 'upload-pack', by(author), 404],
    ] as const)
      expect([path, service, (await requestGit(path, service, credentials)).status]).toEqual([
        path,
        service,
        status,
      ]);
  });

  test('of a project is below its path, and needs the project', async () => {
    const project = await makeProject(app, { visibility: 'public' });
    const author = await makeUser(app);
    const stranger = await makeUser(app);
    await addMember(app, `projects/${project.id}`, author, 30);
    const id = await insert({ author: author.id, project: project.id, visibility: 0 });
    const by = (user: { token: string }) => ({ password: user.token });
    const path = `${pathOf(project)}/snippets/${id}`;
    expect((await requestGit(path, 'receive-pack', by(author))).status).toBe(200);
    expect((await requestGit(`${pathOf(project)}/-/snippets/${id}`, 'upload-pack', by(author))).status).toBe(
      200,
    );
    expect((await requestGit(path, 'upload-pack', by(stranger))).status).toBe(404);
    expect((await requestGit(`snippets/${id}`, 'upload-pack', by(author))).status).toBe(404);
  });

  test('of a project is for who reads the snippets of the project', async () => {
    const [closed, open] = [await makeProject(app), await makeProject(app, { visibility: 'public' })];
    const [stranger, guest] = [await makeUser(app), await makeUser(app)];
    const status = async (project: MadeProject, id: number, user: { token: string }) =>
      (await requestGit(`${pathOf(project)}/snippets/${id}`, 'upload-pack', { password: user.token })).status;
    for (const [project, refused] of [
      [closed, 404],
      [open, 403],
    ] as const) {
      await addMember(app, `projects/${project.id}`, guest, 10);
      const body = { snippets_access_level: 'private' };
      bodyOf(await app.root(`PUT /projects/${project.id}`, { body }), 200);
      const id = await insert({ author: 1, project: project.id, visibility: 20 });
      expect([await status(project, id, guest), await status(project, id, stranger)]).toEqual([200, refused]);
    }
  });

  test('of a project is pushed by its author while a Reporter, and by Maintainers', async () => {
    const project = await makeProject(app, { visibility: 'public' });
    const author = await makeUser(app);
    await addMember(app, `projects/${project.id}`, author, 20);
    const id = await insert({ author: author.id, project: project.id, visibility: 20 });
    const path = `${pathOf(project)}/snippets/${id}`;
    const push = async (credentials?: { password: string }) =>
      (await requestGit(path, 'receive-pack', credentials)).status;
    expect(await push({ password: author.token })).toBe(200);
    const { sql } = app.app.services.database;
    await sql`update members set access_level = 10 where user_id = ${author.id}`;
    expect(await push({ password: author.token })).toBe(403);
    expect((await requestGit(path, 'upload-pack', { password: author.token })).status).toBe(200);
    for (const [role, status] of [
      [30, 403],
      [40, 200],
    ] as const) {
      const user = await makeUser(app);
      await addMember(app, `projects/${project.id}`, user, role);
      expect([role, await push({ password: user.token })]).toEqual([role, status]);
    }
    expect(await push()).toBe(401);
    expect((await requestGit(path, 'upload-pack')).status).toBe(200);
  });

  test('is no door for deploy tokens, however visible it is', async () => {
    const project = await makeProject(app, { visibility: 'public' });
    const body = { name: 'd', scopes: ['read_repository'] };
    const made = bodyOf(await app.root(`POST /projects/${project.id}/deploy_tokens`, { body }), 201);
    const token = { username: made.username, password: made.token };
    const inside = await insert({ author: 1, project: project.id, visibility: 20 });
    const personal = await insert({ author: 1, visibility: 20 });
    for (const path of [`${pathOf(project)}/snippets/${inside}`, `snippets/${personal}`])
      for (const service of ['upload-pack', 'receive-pack'] as const)
        expect([path, (await requestGit(path, service, token)).status]).toEqual([path, 403]);
  });
});

describe('the wiki of a project', () => {
  test('is fetched by who reads it, and pushed by Developers', async () => {
    const project = await makeProject(app);
    for (const [role, fetch, push] of [
      [0, 404, 404],
      [10, 200, 403],
      [20, 200, 403],
      [30, 200, 200],
    ] as const) {
      const user = await makeUser(app);
      if (role > 0) await addMember(app, `projects/${project.id}`, user, role);
      const by = { password: user.token };
      const fetched = await requestGit(`${pathOf(project)}.wiki`, 'upload-pack', by);
      const pushed = await requestGit(`${pathOf(project)}.wiki`, 'receive-pack', by);
      expect([role, fetched.status, pushed.status]).toEqual([role, fetch, push]);
    }
    bodyOf(
      await app.root(`PUT /projects/${project.id}`, {
        body: { visibility: 'public', wiki_access_level: 'private' },
      }),
      200,
    );
    const stranger = { password: (await makeUser(app)).token };
    expect((await requestGit(`${pathOf(project)}.wiki`, 'upload-pack', stranger)).status).toBe(403);
  });

  test('is found under its own name alone', async () => {
    const project = await makeProject(app);
    const copy = await makeProject(app, { path: `${pathOf(project).split('/').at(-1)}-copy` });
    const user = await makeUser(app);
    await addMember(app, `projects/${copy.id}`, user, 30);
    expect((await requestGit(pathOf(copy), 'upload-pack', { password: user.token })).status).toBe(200);
    const body = { name: 'd', scopes: ['read_repository'] };
    const made = bodyOf(await app.root(`POST /projects/${project.id}/deploy_tokens`, { body }), 201);
    const token = { username: made.username, password: made.token };
    expect((await requestGit(`${pathOf(project)}.wiki`, 'upload-pack', token)).status).toBe(403);
    expect((await requestGit('no/such.wiki', 'upload-pack', token)).status).toBe(404);
  });
});

describe('the wiki of a group', () => {
  test('is fetched by who reads it, and pushed by its Developers', async () => {
    const group = await makeGroup(app);
    for (const [role, fetch, push] of [
      [0, 404, 404],
      [10, 200, 403],
      [20, 200, 403],
      [30, 200, 200],
    ] as const) {
      const user = await makeUser(app);
      if (role > 0) await addMember(app, `groups/${group.id}`, user, role);
      const by = { password: user.token };
      const fetched = await requestGit(`${group.full_path}.wiki`, 'upload-pack', by);
      const pushed = await requestGit(`${group.full_path}.wiki`, 'receive-pack', by);
      expect([role, fetched.status, pushed.status]).toEqual([role, fetch, push]);
    }
    const body = { visibility: 'public', wiki_access_level: 'private' };
    bodyOf(await app.root(`PUT /groups/${group.id}`, { body }), 200);
    const stranger = { password: (await makeUser(app)).token };
    expect((await requestGit(`${group.full_path}.wiki`, 'upload-pack', stranger)).status).toBe(403);
  });

  test('is found by the path of the group, though that be a number', async () => {
    const hidden = await makeGroup(app);
    const user = await makeUser(app);
    const by = { password: user.token };
    expect((await requestGit(`${hidden.id}.wiki`, 'upload-pack', { password: ROOT_TOKEN })).status).toBe(404);
    const named = await makeGroup(app, { path: String(hidden.id) });
    await addMember(app, `groups/${named.id}`, user, 30);
    expect((await requestGit(`${hidden.id}.wiki`, 'upload-pack', by)).status).toBe(200);
    expect((await requestGit(`${hidden.full_path}.wiki`, 'upload-pack', by)).status).toBe(404);
  });
});

describe('in the free tier', () => {
  const free = useApp({ env: { ASHLAR_TIER: 'free' } });

  test('projects have wikis, and groups have none', async () => {
    const project = await makeProject(free);
    const group = await makeGroup(free);
    const status = async (path: string) => {
      const authorization = `Basic ${Buffer.from(`root:${ROOT_TOKEN}`).toString('base64')}`;
      const url = `${free.url}/${path}.wiki.git/info/refs?service=git-upload-pack`;
      return (await fetch(url, { headers: { authorization } })).status;
    };
    expect([await status(pathOf(project)), await status(group.full_path)]).toEqual([200, 403]);
  });
});

test('other protocols of git are told that they are absent', async () => {
  const project = await makeProject(app, { visibility: 'public' });
  const base = `${app.url}/${pathOf(project)}.git`;
  for (const path of ['info/refs', 'HEAD', 'objects/info/packs', 'info/refs?service=git-upload-archive']) {
    const dumb = await fetch(`${base}/${path}`);
    expect([path, dumb.status]).toEqual([path, 403]);
    expect(await dumb.text()).toContain('smart protocol');
  }
  expect((await fetch(`${base}/info/refs`, { method: 'PUT' })).status).toBe(405);
  expect((await fetch(`${base}/git-upload-pack`, { method: 'POST', body: '0000' })).status).toBe(415);
  expect((await fetch(`${app.url}/${uniqueName('nothing')}/b`)).status).toBe(404);
});
