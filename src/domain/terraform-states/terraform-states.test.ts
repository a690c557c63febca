/** States as terraform locks, writes, reads and deletes them. */
import { createHash } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../test/support/app.ts';
import { bodyOf } from '../../../test/support/factories.ts';
import { basic, bearer, type Headers, makeTeam, type Team } from '../../../test/support/packages.ts';

const app: TestApp = useApp();
let { project, maintainer, developer, reporter } = {} as Team;

beforeEach(async () => {
  ({ project, maintainer, developer, reporter } = await makeTeam(app));
});

const state = (serial: number, secret = 'granite') => JSON.stringify({ version: 4, serial, secret });
const lock = {
  ID: 'one',
  Operation: 'OperationTypeApply',
  Info: '',
  Who: 'ann@host',
  Version: '1.11.4',
  Created: 'now',
  Path: '',
};

async function send(
  method: string,
  path: string,
  body?: unknown,
  headers: Headers = basic('terraform', maintainer.token),
) {
  const response = await fetch(`${app.url}/api/v4/projects/${project.id}/terraform/state/${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

test('a state is written in versions, and read', async () => {
  expect((await send('GET', 'production')).status).toBe(404);
  expect((await send('POST', 'production', state(1))).status).toBe(200);
  expect((await send('POST', 'production', state(2, 'slate'))).status).toBe(200);
  expect(await send('GET', 'production')).toEqual({ status: 200, text: state(2, 'slate') });
  expect((await send('GET', 'production/versions/1')).text).toBe(state(1));
  expect((await send('GET', 'production/versions/3')).status).toBe(404);
  await send('POST', 'production', state(2, 'again'));
  expect((await send('GET', 'production')).text).toBe(state(2, 'again'));
  // A program that comes late hides nothing.
  await send('POST', 'production', state(1));
  expect((await send('GET', 'production')).text).toBe(state(2, 'again'));
  expect((await send('DELETE', 'production/versions/2')).status).toBe(204);
  expect((await send('GET', 'production')).text).toBe(state(1));
  expect((await send('POST', 'production', '')).status).toBe(204);
  expect((await send('DELETE', 'production')).status).toBe(200);
  expect((await send('GET', 'production')).status).toBe(404);
  expect((await send('DELETE', 'production')).status).toBe(404);
});

test('what is kept is sealed', async () => {
  await send('POST', 'production', state(1, 'the password'));
  const { sql } = app.app.services.database;
  const rows = await sql<{ content: string }[]>`select content from terraform_state_versions`;
  expect(rows.every(({ content }) => content.startsWith('v1.') && !content.includes('password'))).toBe(true);
});

test('who holds the lock writes, and nobody else', async () => {
  expect(await send('POST', 'production/lock', lock)).toEqual({ status: 200, text: JSON.stringify(lock) });
  expect((await send('GET', 'production')).status).toBe(204);
  const held = await send('POST', 'production/lock', { ...lock, ID: 'two' });
  expect([held.status, JSON.parse(held.text)]).toEqual([
    409,
    { ...lock, message: `409 Conflict - locked by ${lock.ID}` },
  ]);
  for (const query of ['', '?ID=two']) {
    expect((await send('POST', `production${query}`, state(1))).status).toBe(423);
    expect((await send('DELETE', `production${query}`)).status).toBe(423);
  }
  expect((await send('POST', 'production?ID=one', state(1))).status).toBe(200);
  expect((await send('DELETE', 'production/versions/1')).status).toBe(423);
  expect(await send('DELETE', 'production/lock', { ID: 'two' })).toMatchObject({ status: 409 });
  expect((await send('DELETE', 'production/lock', { ID: 'one' })).status).toBe(200);
  expect((await send('POST', 'production', state(2))).status).toBe(200);
  await send('POST', 'production/lock', lock);
  // By force.
  expect((await send('DELETE', 'production/lock')).status).toBe(200);
  expect((await send('DELETE', 'other/lock')).status).toBe(404);
  const both = await Promise.all(['three', 'four'].map((ID) => send('POST', 'new/lock', { ...lock, ID })));
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
});

test('what is no state is told', async () => {
  expect((await send('POST', 'production', 'granite')).status).toBe(400);
  expect((await send('POST', 'production', '{}')).status).toBe(400);
  const deep = `{"serial":1,"a":${'['.repeat(101)}${']'.repeat(101)}}`;
  expect((await send('POST', 'production', deep)).text).toContain('nested deeper');
  expect((await send('POST', 'production', Buffer.alloc(8_388_609).toString())).status).toBe(413);
  expect((await send('POST', '..%2Fx', state(1))).status).toBe(400);
  expect((await send('POST', 'production/lock', {})).status).toBe(400);
  expect((await send('GET', 'production')).status).toBe(404);
});

test('who reads and writes', async () => {
  await send('POST', 'production', state(1));
  const { sql } = app.app.services.database;
  const digest = createHash('sha256').update('glcbt-of-the-states').digest();
  await sql`insert into access_tokens (kind, digest, user_id, project_id, name, scopes, created_at, updated_at)
    select 'job', ${digest}, id, ${project.id}, 'job', '{}', now(), now() from users where username = ${maintainer.username}`;
  const made = await app.as(maintainer.token)(`POST /projects/${project.id}/deploy_tokens`, {
    body: { name: 'd', scopes: ['read_package_registry', 'write_package_registry'] },
  });
  const deploy = bodyOf(made, 201) as unknown as { username: string; token: string };
  for (const [headers, reads, writes] of [
    [basic('gitlab-ci-token', 'glcbt-of-the-states'), 200, 200],
    [bearer(maintainer), 200, 200],
    [basic('any', developer.token), 200, 403],
    [basic('any', reporter.token), 403, 403],
    [basic(deploy.username, deploy.token), 401, 401],
    [{}, 401, 401],
  ] as const) {
    expect((await send('GET', 'production', undefined, headers)).status).toBe(reads);
    expect((await send('POST', 'production', state(2), headers)).status).toBe(writes);
  }
});
