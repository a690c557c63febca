/** Secure files as Maintainers keep them and people and jobs fetch them, with what an attacker would try. */
import { createHash } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import { blobFiles } from '../../../../test/support/blobs.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';
import { makeRunner, startPipeline } from '../../../../test/support/runner.ts';
import { moveClock } from '../../../platform/clock.ts';

const app: TestApp = useApp();
const MEBIBYTE = 1_048_576;
let project: MadeProject;
let maintainer: MadeUser;
let developer: MadeUser;
let reporter: MadeUser;

beforeEach(async () => {
  project = await makeProject(app);
  const source = `projects/${project.id}` as const;
  ({ maintainer, developer, reporter } = await makeMembers(
    app,
    source,
    'maintainer',
    'developer',
    'reporter',
  ));
});

const path = (rest = ''): string => `/projects/${project.id}/secure_files${rest}`;

async function upload(
  name: string | undefined,
  content: Buffer | undefined = Buffer.from('granite'),
  headers: Record<string, string> = { 'private-token': maintainer.token },
) {
  const form = new FormData();
  if (name !== undefined) form.set('name', name);
  if (content) form.set('file', new Blob([new Uint8Array(content)]), 'sent.bin');
  const response = await fetch(`${app.url}/api/v4${path()}`, { method: 'POST', headers, body: form });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

const files = (): string[] => blobFiles(app);

test('a file is kept, shown, fetched as it came and deleted', async () => {
  const content = Buffer.from([0, 255, 10, 13]);
  const before = files().length;
  const made = await upload('release key.jks', content);
  expect(made).toMatchObject({
    status: 201,
    body: {
      name: 'release key.jks',
      checksum: createHash('sha256').update(content).digest('hex'),
      checksum_algorithm: 'sha256',
      file_extension: 'jks',
      expires_at: null,
      metadata: null,
    },
  });
  const { id } = made.body;
  expect(bodyOf(await app.as(developer.token)(`GET ${path(`/${id}`)}`), 200)).toEqual(made.body);
  expect(bodyOf(await app.as(developer.token)(`GET ${path()}`), 200)).toEqual([made.body]);
  const url = `${app.url}/api/v4${path(`/${id}/download`)}`;
  const fetched = await fetch(url, { headers: { 'private-token': developer.token } });
  expect(Buffer.from(await fetched.arrayBuffer())).toEqual(content);
  expect(fetched.headers.get('content-disposition')).toContain('attachment; filename="release key.jks"');
  expect(fetched.headers.get('content-type')).toBe('application/octet-stream');
  bodyOf(await app.as(maintainer.token)(`DELETE ${path(`/${id}`)}`), 204);
  expect((await app.as(maintainer.token)(`GET ${path(`/${id}/download`)}`)).status).toBe(404);
  expect(files()).toHaveLength(before);
  const events = bodyOf(await app.root(`GET /projects/${project.id}/audit_events`), 200);
  expect(events.map(({ event_name }: { event_name: string }) => event_name)).toEqual(
    expect.arrayContaining(['ci_secure_file_created', 'ci_secure_file_destroyed']),
  );
});

test('Developers read, Maintainers write; a file of another project is none', async () => {
  const { id } = (await upload('a')).body;
  for (const { token } of [developer, reporter])
    expect((await upload('b', undefined, { 'private-token': token })).status).toBe(403);
  expect((await app.as(developer.token)(`DELETE ${path(`/${id}`)}`)).status).toBe(403);
  for (const rest of ['', `/${id}`, `/${id}/download`]) {
    expect((await app.as(reporter.token)(`GET ${path(rest)}`)).status).toBe(403);
    expect((await app.as((await makeUser(app)).token)(`GET ${path(rest)}`)).status).toBe(404);
    expect((await app.call(`GET ${path(rest)}`)).status).toBe(401);
  }
  const other = await makeProject(app);
  for (const request of [
    `GET /projects/${other.id}/secure_files/${id}/download`,
    `DELETE /projects/${other.id}/secure_files/${id}`,
  ])
    expect((await app.root(request)).status).toBe(404);
});

test('a refused upload leaves nothing', async () => {
  const before = files().length;
  expect((await upload('big', Buffer.alloc(5 * MEBIBYTE + 1))).status).toBe(413);
  expect((await upload('../../x')).body.message).toHaveProperty('name');
  expect((await upload(undefined)).body.error).toBe('name is missing');
  expect((await upload('none', Buffer.alloc(0))).status).toBe(201);
  const form = new FormData();
  form.set('name', 'b');
  const headers = { 'private-token': maintainer.token };
  const without = await fetch(`${app.url}/api/v4${path()}`, { method: 'POST', headers, body: form });
  expect([without.status, await without.json()]).toMatchObject([400, { error: 'file is missing' }]);
  expect((await app.as(maintainer.token)(`POST ${path()}`, { body: { name: 'b' } })).body.error).toBe(
    'file is missing',
  );
  expect(files()).toHaveLength(before + 1);
  expect((await upload('largest', Buffer.alloc(5 * MEBIBYTE))).status).toBe(201);
});

test('of two with one name that come at once, one is kept', async () => {
  const before = files().length;
  const both = await Promise.all([upload('same', Buffer.from('1')), upload('same', Buffer.from('2'))]);
  expect(both.map(({ status }) => status).sort()).toEqual([201, 400]);
  const refused = both.find(({ status }) => status === 400);
  expect(refused?.body.message).toEqual({ name: ['has already been taken'] });
  const back = moveClock(2 * 86_400_000);
  try {
    await app.app.services.blobs.sweep();
  } finally {
    back();
  }
  expect(files()).toHaveLength(before + 1);
});

test('a project has a hundred at most, also where the last ones come at once', async () => {
  const { sql } = app.app.services.database;
  await sql`insert into blobs (sha256, created_at) values (sha256('x'), now()) on conflict do nothing`;
  await sql`insert into secure_files (project_id, name, size, sha256, created_at)
    select ${project.id}, 'f' || n, 1, sha256('x'), now() from generate_series(1, 99) n`;
  const last = await Promise.all(['a', 'b', 'c'].map((name) => upload(name)));
  expect(last.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
  expect((await upload('d')).body.message).toEqual({
    base: ['Maximum number of ci secure files (100) exceeded'],
  });
});

test('a job fetches those of its project, while it runs', async () => {
  const { id } = (await upload('a')).body;
  const runner = await makeRunner(app, project);
  await startPipeline(app, project, maintainer, 'build:\n  script: make\n');
  const job = await runner.take();
  const headers = { 'job-token': job.token };
  expect((await app.call(`GET ${path(`/${id}/download`)}`, { headers })).text).toBe('granite');
  expect(
    (await app.call(`GET /projects/${(await makeProject(app)).id}/secure_files`, { headers })).status,
  ).toBe(404);
  await runner.update(job, { state: 'success' });
  expect((await app.call(`GET ${path(`/${id}/download`)}`, { headers })).status).toBe(401);
});
