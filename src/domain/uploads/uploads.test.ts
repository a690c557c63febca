/** Uploads over HTTP: stored, listed, served to their readers, removed; and refusals. */

import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type Called, ROOT_TOKEN, useApp } from '../../../test/support/app.ts';
import { blobFiles, isStored } from '../../../test/support/blobs.ts';
import {
  addMember,
  bodyOf,
  type MadeUser,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../test/support/factories.ts';

const ashlar = useApp();
let project: { id: number; path_with_namespace: string };
let guest: MadeUser;
let stranger: MadeUser;

beforeAll(async () => {
  project = await makeProject(ashlar);
  stranger = await makeUser(ashlar);
  ({ guest } = await makeMembers(ashlar, `projects/${project.id}`, 'guest'));
});

afterEach(() => ashlar.root('PUT /application/settings', { body: { max_attachment_size: 100 } }));

async function upload(
  place: string,
  token: string,
  content: string | Uint8Array<ArrayBuffer> = 'content',
  name = 'my file.txt',
  field = 'file',
): Promise<{ status: number; body: Called['body'] }> {
  const form = new FormData();
  form.append('before', 'a field that nobody asked for');
  form.append(field, new Blob([content]), name);
  const response = await fetch(`${ashlar.url}/api/v4/${place}/uploads`, {
    method: 'POST',
    headers: { 'private-token': token },
    body: form,
  });
  return { status: response.status, body: await response.json() };
}

const get = (path: string, token?: string, method = 'GET') =>
  fetch(`${ashlar.url}${path}`, { method, headers: token === undefined ? {} : { 'private-token': token } });

const inPlace = (): string => `projects/${project.id}`;

test('a file is kept, shown as its text shows it, and served to members only', async () => {
  const { status, body } = await upload(inPlace(), guest.token, 'the content', 'my file!.txt');
  expect(status).toBe(201);
  const secret = body.url.split('/')[2];
  expect(body).toEqual({
    id: body.id,
    alt: 'my_file_.txt',
    url: `/uploads/${secret}/my_file_.txt`,
    full_path: `/-/project/${project.id}/uploads/${secret}/my_file_.txt`,
    markdown: `[my_file_.txt](/uploads/${secret}/my_file_.txt)`,
  });
  expect(secret).toMatch(/^[0-9a-f]{32}$/);
  const addresses = [
    body.full_path,
    `/${project.path_with_namespace}${body.url}`,
    `/api/v4/projects/${project.id}${body.url}`,
  ];
  for (const address of addresses) {
    const served = await get(address, guest.token);
    expect(served.status, address).toBe(200);
    expect(await served.text()).toBe('the content');
    expect(Object.fromEntries(served.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '11',
      'content-disposition': 'attachment; filename="my_file_.txt"',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    });
    const head = await get(address, guest.token, 'HEAD');
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '11']);
    expect((await get(address)).status, `nobody at ${address}`).toBe(404);
    expect((await get(address, stranger.token)).status, `a stranger at ${address}`).toBe(404);
  }
});

test('a token opens a file by a scope that reads, and by no other', async () => {
  const { body } = await upload(inPlace(), guest.token);
  for (const [scope, status] of [
    ['api', 200],
    ['read_api', 200],
    ['read_user', 403],
    ['read_repository', 403],
  ] as const) {
    const wanted = { name: 'narrow', scopes: [scope] };
    const { token } = bodyOf(
      await ashlar.root(`POST /users/${guest.id}/personal_access_tokens`, { body: wanted }),
      201,
    );
    for (const address of [body.full_path, `/${project.path_with_namespace}${body.url}`])
      expect([scope, (await get(address, token)).status]).toEqual([scope, status]);
  }
});

test('pictures are shown, drawings that may hold scripts are not', async () => {
  const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47]);
  const picture = await upload(inPlace(), guest.token, png, 'a.png');
  expect(picture.body).toMatchObject({ alt: 'a', markdown: `![a](${picture.body.url})` });
  const shown = await get(picture.body.full_path, guest.token);
  expect([shown.headers.get('content-type'), shown.headers.get('content-disposition')]).toEqual([
    'image/png',
    'inline; filename="a.png"',
  ]);
  expect(new Uint8Array(await shown.arrayBuffer())).toEqual(png);
  const drawing = await upload(inPlace(), guest.token, '<svg onload="alert(1)"/>', 'a.svg');
  const kept = await get(drawing.body.full_path, guest.token);
  expect([kept.headers.get('content-type'), kept.headers.get('content-disposition')]).toEqual([
    'application/octet-stream',
    'attachment; filename="a.svg"',
  ]);
});

test('the secret and the name are both needed, of the very project', async () => {
  const { body } = await upload(inPlace(), guest.token);
  const other = await makeProject(ashlar, { visibility: 'public' });
  const secret = body.url.split('/')[2];
  for (const address of [
    `/-/project/${project.id}/uploads/${secret}/other.txt`,
    `/-/project/${project.id}/uploads/${'0'.repeat(32)}/my_file.txt`,
    `/-/project/${other.id}/uploads/${secret}/my_file.txt`,
    `/api/v4/projects/${other.id}/uploads/${secret}/my_file.txt`,
    `/-/group/${project.id}/uploads/${secret}/my_file.txt`,
    `/${project.path_with_namespace}/uploads/${secret}/x/my_file.txt`,
    `/${project.path_with_namespace}/uploads/..%2f..%2fetc/passwd`,
    `/${project.id}/uploads/${secret}/my_file.txt`,
  ])
    expect((await get(address, ROOT_TOKEN)).status, address).toBe(404);
});

test('maintainers list, read and delete them; others do not', async () => {
  const maintained = await makeProject(ashlar);
  const maintainer = await makeUser(ashlar);
  await addMember(ashlar, `projects/${maintained.id}`, maintainer, 40);
  await addMember(ashlar, `projects/${maintained.id}`, guest, 10);
  const at = `/projects/${maintained.id}/uploads`;
  const first = await upload(`projects/${maintained.id}`, guest.token, 'one', '1.txt');
  const second = await upload(`projects/${maintained.id}`, guest.token, 'two', '2.txt');
  const as = ashlar.as(maintainer.token);
  const list = bodyOf(await as(`GET ${at}`), 200);
  expect(list).toMatchObject([
    {
      id: second.body.id,
      size: 3,
      filename: '2.txt',
      uploaded_by: { id: guest.id, username: guest.username },
    },
    { id: first.body.id, filename: '1.txt' },
  ]);
  expect((await as(`GET ${at}/${first.body.id}`)).text).toBe('one');
  for (const request of [`GET ${at}`, `GET ${at}/${first.body.id}`, `DELETE ${at}/${first.body.id}`])
    expect((await ashlar.as(guest.token)(request)).status, request).toBe(403);
  const long = { headers: { 'if-unmodified-since': 'Sat, 01 Jan 2000 00:00:00 GMT' } };
  expect((await as(`DELETE ${at}/${first.body.id}`, long)).status).toBe(412);
  expect((await as(`DELETE ${at}/${first.body.id}`)).status).toBe(204);
  expect((await as(`DELETE ${at}${second.body.url.replace('/uploads', '')}`)).status).toBe(204);
  expect((await as(`DELETE ${at}/${first.body.id}`)).status).toBe(404);
  expect((await get(second.body.full_path, maintainer.token)).status).toBe(404);
  expect([isStored(ashlar, 'one'), isStored(ashlar, 'two')]).toEqual([false, false]);
});

test('groups have files too', async () => {
  const group = await makeGroup(ashlar);
  const { status, body } = await upload(`groups/${group.id}`, ROOT_TOKEN, 'of a group');
  expect(status).toBe(201);
  for (const address of [
    body.full_path,
    `/groups/${group.full_path}/-${body.url}`,
    `/api/v4/groups/${group.id}${body.url}`,
  ]) {
    expect(await (await get(address, ROOT_TOKEN)).text(), address).toBe('of a group');
    expect((await get(address, stranger.token)).status).toBe(404);
  }
  expect(bodyOf(await ashlar.root(`GET /groups/${group.id}/uploads`), 200)).toHaveLength(1);
});

test('what is too large, no file, or for nobody in particular leaves nothing', async () => {
  bodyOf(await ashlar.root('PUT /application/settings', { body: { max_attachment_size: 1 } }), 200);
  const before = bodyOf(await ashlar.root(`GET /projects/${project.id}/uploads?per_page=100`), 200).length;
  const files = (): number => blobFiles(ashlar).length;
  const there = files();
  const large = new Uint8Array(1_048_577);
  expect((await upload(inPlace(), guest.token, large)).status).toBe(413);
  const most = Uint8Array.from(large.subarray(1), (_, index) => index % 251);
  const kept = await upload(inPlace(), guest.token, most, 'most.bin');
  expect(kept.status).toBe(201);
  const served = await get(kept.body.full_path, guest.token);
  expect(Buffer.from(most).equals(Buffer.from(await served.arrayBuffer()))).toBe(true);
  const without = await upload(inPlace(), guest.token, 'x', 'x.txt', 'other');
  expect(without).toMatchObject({ status: 400, body: { error: 'file is missing' } });
  expect((await upload(inPlace(), stranger.token)).status).toBe(404);
  expect((await upload(inPlace(), 'glpat-wrong')).status).toBe(401);
  const json = await ashlar.root(`POST /projects/${project.id}/uploads`, { body: { file: 'x' } });
  expect(json).toMatchObject({ status: 400, body: { error: 'file is missing' } });
  expect(files()).toBe(there + 1);
  const after = bodyOf(await ashlar.root(`GET /projects/${project.id}/uploads?per_page=100`), 200).length;
  expect(after).toBe(before + 1);
});

test('what comes in too slowly finds its project gone, or is cut off, and leaves nothing', async () => {
  const files = (): string[] => blobFiles(ashlar);
  const going = await makeProject(ashlar);
  const there = files();
  const start = (id: number, end: (body: ReadableStreamDefaultController<Uint8Array>) => unknown) =>
    fetch(`${ashlar.url}/api/v4/projects/${id}/uploads`, {
      method: 'POST',
      headers: { 'private-token': ROOT_TOKEN, 'content-type': 'multipart/form-data; boundary=b' },
      duplex: 'half',
      body: new ReadableStream<Uint8Array>({
        async start(body) {
          const head = 'content-disposition: form-data; name="file"; filename="a.txt"';
          body.enqueue(new TextEncoder().encode(`--b\r\n${head}\r\n\r\nhalf of `));
          await vi.waitFor(() => expect(files().length).toBe(there.length + 1), 10_000);
          await end(body);
        },
      }),
    });
  const whole = await start(going.id, async (body) => {
    await ashlar.app.services.database.sql`delete from projects where id = ${going.id}`;
    body.enqueue(new TextEncoder().encode('it\r\n--b--\r\n'));
    body.close();
  });
  expect(whole.status).toBe(404);
  expect(files()).toEqual(there);
  await expect(start(project.id, (body) => body.error(new Error('cut off')))).rejects.toThrow();
  await vi.waitFor(() => expect(files()).toEqual(there), 10_000);
});

test('a project that goes takes its files along, but for those that others name', async () => {
  const [going, staying] = [await makeProject(ashlar), await makeProject(ashlar)];
  await upload(`projects/${going.id}`, ROOT_TOKEN, 'of one');
  for (const { id } of [going, staying]) await upload(`projects/${id}`, ROOT_TOKEN, 'of both');
  await ashlar.app.services.database.sql`delete from projects where id = ${going.id}`;
  await ashlar.app.services.blobs.sweep();
  expect([isStored(ashlar, 'of one'), isStored(ashlar, 'of both')]).toEqual([false, true]);
});
