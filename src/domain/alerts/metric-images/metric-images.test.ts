import { beforeAll, describe, expect, test } from 'vitest';
import { makeIntegration, postAlert } from '../../../../test/support/alerts.ts';
import { type Called, useApp } from '../../../../test/support/app.ts';
import { isStored } from '../../../../test/support/blobs.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';

const app = useApp();
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
let project: MadeProject;
let developer: MadeUser;
let guest: MadeUser;
let stranger: MadeUser;

beforeAll(async () => {
  project = await makeProject(app);
  stranger = await makeUser(app);
  ({ developer, guest } = await makeMembers(app, `projects/${project.id}`, 'developer', 'guest'));
  const { key } = await makeIntegration(app.app.services.database.sql, project.id);
  await postAlert(app.url, `${project.path_with_namespace}/alerts/notify.json`, { title: 'Slow' }, { key });
  bodyOf(await app.root(`POST /projects/${project.id}/issues`, { body: { title: 'Of the team' } }), 201);
  const body = { title: 'Of the guest' };
  bodyOf(await app.as(guest.token)(`POST /projects/${project.id}/issues`, { body }), 201);
});

const onAlert = (): string => `/projects/${project.id}/alert_management_alerts/1/metric_images`;
const onIssue = (iid: number): string => `/projects/${project.id}/issues/${iid}/metric_images`;

async function upload(
  path: string,
  user: MadeUser,
  fields: { bytes?: Buffer; name?: string; url?: string; url_text?: string } = {},
): Promise<Pick<Called, 'status' | 'body'>> {
  const { bytes = PNG, name = 'graph.png', ...rest } = fields;
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(bytes)]), name);
  for (const [field, value] of Object.entries(rest)) form.append(field, value);
  const headers = { 'private-token': user.token };
  const response = await fetch(`${app.url}/api/v4${path}`, { method: 'POST', headers, body: form });
  return { status: response.status, body: await response.json() };
}

const get = (path: string, user?: MadeUser) =>
  fetch(`${app.url}${path}`, { headers: user ? { 'private-token': user.token } : {} });

describe.each([
  ['an alert', onAlert],
  ['an issue', () => onIssue(1)],
])('with %s', (_what, path) => {
  test('it is kept, listed, changed, served and removed', async () => {
    const made = await upload(path(), developer, {
      name: '../my graph.png',
      url: 'https://graphs.example/1',
      url_text: 'Graph',
    });
    expect(made.status).toBe(201);
    const { id } = made.body;
    expect(made.body).toEqual({
      id,
      created_at: expect.any(String),
      filename: 'my_graph.png',
      file_path: `/${project.path_with_namespace}/-/metric_images/${id}/my_graph.png`,
      url: 'https://graphs.example/1',
      url_text: 'Graph',
    });
    const me = app.as(developer.token);
    expect(bodyOf(await me(`GET ${path()}`), 200)).toEqual([made.body]);
    const file = await get(made.body.file_path, developer);
    expect(file.status).toBe(200);
    expect(file.headers.get('content-type')).toBe('image/png');
    expect(file.headers.get('content-security-policy')).toContain('sandbox');
    expect(Buffer.from(await file.arrayBuffer())).toEqual(PNG);
    const changed = await me(`PUT ${path()}/${id}`, { body: { url: null } });
    expect(changed.body).toMatchObject({ url: null, url_text: 'Graph' });
    expect((await me(`DELETE ${path()}/${id}`)).status).toBe(204);
    expect((await me(`DELETE ${path()}/${id}`)).body.message).toBe('404 Metric image not found');
    expect((await get(made.body.file_path, developer)).status).toBe(404);
  });

  test.each([
    ['a page that is none', { url: 'javascript:alert(1)' }, { url: ['is not a valid URL'] }],
    ['no picture', { bytes: Buffer.from('<svg/>') }, { file: [expect.stringContaining('supported format')] }],
    [
      'too large a file',
      { bytes: Buffer.concat([PNG, Buffer.alloc(1_048_576)]) },
      '400 Bad request - File is too large',
    ],
  ])('400 for %s', async (_case, fields, message) => {
    const refused = await upload(path(), developer, fields);
    expect(refused.status).toBe(400);
    expect(refused.body.message).toEqual(message);
  });
});

test('the picture of one is not found with another', async () => {
  const { body } = await upload(onAlert(), developer);
  const me = app.as(developer.token);
  expect((await me(`PUT ${onIssue(1)}/${body.id}`, { body: { url_text: 'x' } })).status).toBe(404);
  expect((await me(`DELETE ${onIssue(1)}/${body.id}`)).status).toBe(404);
  const other = await makeProject(app);
  const elsewhere = body.file_path.replace(project.path_with_namespace, other.path_with_namespace);
  expect(
    (await fetch(`${app.url}${elsewhere}`, { headers: { 'private-token': developer.token } })).status,
  ).toBe(404);
});

test('who reads an alert sees its pictures, nobody else', async () => {
  const { body } = await upload(onAlert(), developer);
  expect((await upload(onAlert(), guest)).status).toBe(403);
  expect((await app.as(guest.token)(`GET ${onAlert()}`)).status).toBe(403);
  for (const user of [guest, stranger, undefined]) expect((await get(body.file_path, user)).status).toBe(404);
});

test('the author of an issue adds pictures to it, and to no other', async () => {
  expect((await upload(onIssue(2), guest)).status).toBe(201);
  expect((await upload(onIssue(1), guest)).status).toBe(403);
  const { body } = await upload(onIssue(1), developer);
  expect((await get(body.file_path, guest)).status).toBe(200);
  const path = `/projects/${project.id}/issues/1`;
  bodyOf(await app.root(`PUT ${path}`, { body: { confidential: true } }), 200);
  expect((await get(body.file_path, guest)).status).toBe(404);
  bodyOf(await app.root(`PUT ${path}`, { body: { confidential: false } }), 200);
});

test('the file stays while a picture names it, and is swept after that', async () => {
  const bytes = Buffer.concat([PNG, Buffer.from('swept')]);
  const [first, second] = [
    (await upload(onAlert(), developer, { bytes })).body,
    (await upload(onIssue(1), developer, { bytes })).body,
  ];
  const sweep = async () => {
    await app.app.services.blobs.sweep();
    return isStored(app, bytes);
  };
  const me = app.as(developer.token);
  await me(`DELETE ${onAlert()}/${first.id}`);
  expect(await sweep()).toBe(true);
  await me(`DELETE ${onIssue(1)}/${second.id}`);
  expect(await sweep()).toBe(false);
});
