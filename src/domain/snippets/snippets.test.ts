/** Snippets over HTTP: their records, and their files. */
import { expect, test } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeUser,
  makeProject,
  makeSnippet,
  makeUser,
  snippetFiles,
} from '../../../test/support/factories.ts';
import { sendRaw } from '../../../test/support/raw-http.ts';

const app = useApp();
const as = (user: MadeUser) => app.as(user.token);

test('a personal snippet has the public record, and its files', async () => {
  const user = await makeUser(app);
  const made = await makeSnippet(app, '/snippets', user, {
    description: 'What it is',
    visibility: undefined,
    files: snippetFiles('dir/b.txt', 'a.txt'),
  });
  const base = `${app.app.services.baseUrl()}`;
  expect(made).toEqual({
    id: made.id,
    title: 'Snippet',
    description: 'What it is',
    visibility: 'private',
    author: expect.objectContaining({ id: user.id, username: user.username }),
    created_at: made.created_at,
    updated_at: made.updated_at,
    project_id: null,
    web_url: `${base}/-/snippets/${made.id}`,
    raw_url: `${base}/-/snippets/${made.id}/raw`,
    http_url_to_repo: `${base}/snippets/${made.id}.git`,
    file_name: 'a.txt',
    files: [
      { path: 'a.txt', raw_url: `${base}/-/snippets/${made.id}/raw/main/a.txt` },
      { path: 'dir/b.txt', raw_url: `${base}/-/snippets/${made.id}/raw/main/dir/b.txt` },
    ],
    imported: false,
    imported_from: 'none',
  });
  expect(bodyOf(await as(user)(`GET /snippets/${made.id}`), 200)).toEqual(made);
  expect(bodyOf(await app.root(`GET /snippets/${made.id}`), 200)).toEqual({
    ...made,
    repository_storage: 'default',
  });
  const raw = await as(user)(`GET /snippets/${made.id}/raw`);
  expect(raw.text).toBe('of a.txt');
  expect(raw.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(raw.headers.get('x-content-type-options')).toBe('nosniff');
  const other = await as(user)(`GET /snippets/${made.id}/files/main/dir%2Fb.txt/raw`);
  expect([other.status, other.text]).toEqual([200, 'of dir/b.txt']);
});

test('the deprecated form makes, renames and rewrites the only file', async () => {
  const user = await makeUser(app);
  const made = await makeSnippet(app, '/snippets', user, {
    files: undefined,
    file_name: 'old.rb',
    content: 'puts 1',
  });
  const put = (body: object) => as(user)(`PUT /snippets/${made.id}`, { body });
  expect(bodyOf(await put({ file_name: 'new.rb' }), 200).file_name).toBe('new.rb');
  expect((await as(user)(`GET /snippets/${made.id}/raw`)).text).toBe('puts 1');
  bodyOf(await put({ content: 'puts 2', title: 'Other' }), 200);
  expect((await as(user)(`GET /snippets/${made.id}/raw`)).text).toBe('puts 2');
  expect((await put({})).status).toBe(400);
  expect((await put({ title: ' ' })).body.message).toEqual({ title: ["can't be blank"] });
});

test('changes of several files at once, of which earlier revisions stay', async () => {
  const user = await makeUser(app);
  const made = await makeSnippet(app, '/snippets', user, { files: snippetFiles('a', 'b', 'c') });
  const put = (body: object) => as(user)(`PUT /snippets/${made.id}`, { body });
  const changed = bodyOf(
    await put({
      files: [
        { action: 'update', file_path: 'a', content: 'new a' },
        { action: 'delete', file_path: 'b' },
        { action: 'move', previous_path: 'c', file_path: 'c/c' },
        { action: 'create', file_path: 'd', content: 'new d' },
      ],
    }),
    200,
  );
  expect(changed.files.map(({ path }: { path: string }) => path)).toEqual(['a', 'c/c', 'd']);
  const read = async (ref: string, path: string) => {
    const { status, text } = await as(user)(`GET /snippets/${made.id}/files/${ref}/${path}/raw`);
    return status === 200 ? text : status;
  };
  expect(await Promise.all([read('main', 'a'), read('main', 'c%2Fc'), read('main', 'b')])).toEqual([
    'new a',
    'of c',
    404,
  ]);
  expect(await read('main~1', 'b')).toBe('of b');
  const inTheWay = { files: [{ action: 'create', file_path: 'a/b', content: 'x' }] };
  expect((await put(inTheWay)).body.message).toEqual({ files: ['a is in the way'] });
  expect((await put({ content: 'x' })).body.message).toHaveProperty('files');
});

test('hostile paths and refs are refused, or not found', async () => {
  const user = await makeUser(app);
  const made = await makeSnippet(app, '/snippets', user);
  for (const file_path of ['../a', '.git/config', 'a/../b', '/a', 'a//b', 'x\u0000y', '']) {
    const body = { title: 'x', files: [{ file_path, content: 'x' }] };
    expect([file_path, (await as(user)('POST /snippets', { body })).status]).toEqual([file_path, 400]);
  }
  for (const ref of ['--output=x', '-h', '..', 'main:a.txt', 'main%0Ainfo', 'HEAD@%7B1%7D', '%3Aa.txt']) {
    const response = await as(user)(`GET /snippets/${made.id}/files/${ref}/a.txt/raw`);
    expect([ref, response.status]).toEqual([ref, 404]);
  }
  for (const path of ['..%2F..%2FHEAD', '%2Fetc%2Fpasswd', '.git%2Fconfig', 'no']) {
    const response = await as(user)(`GET /snippets/${made.id}/files/main/${path}/raw`);
    expect([path, response.status, response.body?.message]).toEqual([path, 404, '404 File Not Found']);
  }
});

test('what is sent is bounded', async () => {
  const user = await makeUser(app);
  const post = (body: object) => as(user)('POST /snippets', { body: { title: 'x', ...body } });
  const eleven = snippetFiles(...Array.from({ length: 11 }, (_, index) => `f${index}`));
  expect((await post({ files: eleven })).status).toBe(400);
  expect((await post({ files: snippetFiles('a', 'a') })).body.message).toEqual({
    files: ['have duplicated paths'],
  });
  expect((await post({ title: 'x'.repeat(256), files: snippetFiles('a') })).status).toBe(400);
  expect((await post({})).status).toBe(400);
  expect((await post({ file_name: 'a', content: '' })).body.message).toEqual({ content: ["can't be blank"] });
  bodyOf(await app.root('PUT /application/settings', { body: { snippet_size_limit: 5 } }), 200);
  expect((await post({ file_name: 'a', content: '123456' })).status).toBe(400);
  expect((await post({ file_name: 'a', content: '12345' })).status).toBe(201);
  bodyOf(await app.root('PUT /application/settings', { body: { snippet_size_limit: 52_428_800 } }), 200);
  const large = 'ä'.repeat(4 * 1_048_576);
  const made = bodyOf(await post({ file_name: 'large', content: large }), 201);
  const { headers, text } = await as(user)(`GET /snippets/${made.id}/raw`);
  expect(headers.get('content-length')).toBe(String(2 * large.length));
  expect(text === large).toBe(true);
  const [held] = await app.app.services.database.sql`
    select from repository_uses where container = 'snippet' and container_id = ${made.id} and purpose = 'write'`;
  expect(held).toBeUndefined();
});

test('of changes at once each is whole, or refused', async () => {
  const user = await makeUser(app);
  const { id } = await makeSnippet(app, '/snippets', user, { files: snippetFiles('start') });
  const names = Array.from({ length: 6 }, (_, index) => `file${index}`);
  const responses = await Promise.all(
    names.map((file_path) =>
      as(user)(`PUT /snippets/${id}`, {
        body: { files: [{ action: 'create', file_path, content: file_path }] },
      }),
    ),
  );
  const taken = names.filter((_, index) => responses[index]?.status === 200);
  const refused = responses.filter(({ status }) => status !== 200);
  expect(taken.length).toBeGreaterThan(0);
  for (const { status, body } of refused)
    expect([status, body.message]).toEqual([400, expect.stringMatching(/refresh and try again/)]);
  const after = bodyOf(await as(user)(`GET /snippets/${id}`), 200);
  expect(after.files.map(({ path }: { path: string }) => path)).toEqual([...taken, 'start']);
});

test('nothing is kept of what a snippet was made with; what older releases kept is for administrators', async () => {
  const user = await makeUser(app);
  const project = await makeProject(app);
  await addMember(app, `projects/${project.id}`, user, 30);
  const body = { title: 'x', visibility: 'private', files: snippetFiles('a') };
  const headers = { 'user-agent': 'Tester/1.0' };
  for (const path of ['/snippets', `/projects/${project.id}/snippets`]) {
    const { id } = bodyOf(await as(user)(`POST ${path}`, { body, headers }), 201);
    expect((await app.root(`GET ${path}/${id}/user_agent_detail`)).status).toBe(404);
    const { sql } = app.app.services.database;
    await sql`update snippets set user_agent = 'Tester/1.0', ip_address = '127.0.0.1' where id = ${id}`;
    expect((await as(user)(`GET ${path}/${id}/user_agent_detail`)).status).toBe(403);
    expect(bodyOf(await app.root(`GET ${path}/${id}/user_agent_detail`), 200)).toEqual({
      user_agent: 'Tester/1.0',
      ip_address: '127.0.0.1',
      akismet_submitted: false,
    });
  }
});

test('each change leaves an audit event', async () => {
  const user = await makeUser(app);
  const { id } = await makeSnippet(app, '/snippets', user);
  await as(user)(`PUT /snippets/${id}`, { body: { title: 'Other' } });
  await as(user)(`DELETE /snippets/${id}`);
  const query = `entity_type=User&entity_id=${user.id}&per_page=100`;
  const events = bodyOf(await app.root('GET /audit_events', { query }), 200);
  expect(
    events
      .filter((event: { details: { target_id: number } }) => event.details.target_id === id)
      .map((event: { event_name: string }) => event.event_name),
  ).toEqual(['snippet_destroyed', 'snippet_updated', 'snippet_created']);
});

test('a NUL in a path is nobody’s snippet', async () => {
  const headers = { 'private-token': ROOT_TOKEN };
  const { status } = await sendRaw(app.url, 'GET /api/v4/snippets/1%00/raw', { headers });
  expect(status).toBe(404);
});
