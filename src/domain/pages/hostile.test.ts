/** Pages to read: hostile texts and addresses, and requests that the pages must leave to others. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { type Browser, openBrowser, signInAs } from '../../../test/support/browser.ts';
import { bodyOf, makeProject } from '../../../test/support/factories.ts';
import { makeMergeRequest } from '../../../test/support/merge-requests.ts';
import { makeIssue } from '../../../test/support/planning.ts';
import { sendRaw } from '../../../test/support/raw-http.ts';
import { makeReadable, OWNER_PASSWORD, type Readable } from '../../../test/support/readable.ts';
import { fillProject } from '../../../test/support/repositories.ts';

const ashlar = useApp();
let world: Readable;
let owner: Browser;
let home: string;

async function browserOf(user: { username: string }): Promise<Browser> {
  const browser = openBrowser(ashlar);
  await signInAs(browser, user.username, OWNER_PASSWORD);
  return browser;
}

beforeAll(async () => {
  world = await makeReadable(ashlar);
  owner = await browserOf(world.owner);
  home = `/${world.project.path_with_namespace}`;
});

const BROWSER = { accept: 'text/html,*/*;q=0.8' };

describe('hostile texts', () => {
  const attack = '"><img src=x onerror=alert(1)><script>alert(2)</script>[x](javascript:alert(3))';

  test('stay texts in titles, notes, files and names', async () => {
    const { id, path_with_namespace: path } = await makeProject(ashlar, {
      visibility: 'public',
      description: attack,
    });
    await fillProject(ashlar, id, [{ 'README.md': attack, 'code.ts': attack, 'a"><b.txt': 'x' }]);
    const issue = await makeIssue(
      ashlar,
      { id },
      { title: attack, description: attack, labels: attack.replaceAll(',', '') },
    );
    bodyOf(
      await ashlar.root(`POST /projects/${id}/issues/${issue.iid}/notes`, { body: { body: attack } }),
      201,
    );
    bodyOf(
      await ashlar.root(`PUT /projects/${id}/issues/${issue.iid}`, {
        body: { title: `${attack} {+ <b> +}` },
      }),
      200,
    );
    const texts = { title: attack, description: attack, labels: attack.replaceAll(',', '') };
    const { iid } = await makeMergeRequest(ashlar, id, 'a"><script>b', texts);
    bodyOf(
      await ashlar.root(`POST /projects/${id}/wikis`, { body: { title: 'home', content: attack } }),
      201,
    );
    for (const rest of [
      '',
      '/-/tree/main',
      '/-/blob/main/README.md',
      '/-/blob/main/code.ts',
      '/-/issues',
      `/-/issues/${issue.iid}`,
      '/-/merge_requests',
      `/-/merge_requests/${iid}`,
      '/-/labels',
      '/-/wikis/home',
      `/-/issues?label_name=${encodeURIComponent(attack)}`,
    ]) {
      const { status, text, headers } = await ashlar.call(`GET /${path}${rest.split('?')[0]}`, {
        raw: true,
        headers: BROWSER,
        ...(rest.includes('?') && { query: rest.slice(rest.indexOf('?') + 1) }),
      });
      expect([rest, status]).toEqual([rest, 200]);
      expect(text).not.toMatch(/<script|<img src=x|<[^>]*\sonerror|href="javascript|"><b\.txt/i);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('cache-control')).toBe('no-store');
    }
  });

  test.each([
    '/-/tree/..%2f..%2fetc',
    '/-/blob/main/..%2f..%2fconfig',
    '/-/blob/main/../../HEAD',
    '/-/tree/--help',
    '/-/tree/main:README.md',
    '/-/raw/main/%2e%2e/x',
    '/-/commit/HEAD%20--output=x',
    '/-/compare/a...b',
    '/-/compare/nothing',
    '/-/issues/1e3',
    '/-/issues/0',
    '/-/issues/99999999999999999999',
    '/-/merge_requests/0',
    '/-/merge_requests/99999999999999999999',
    '/-/merge_requests/99999/diffs',
    '/-/milestones/99999999999999999999',
    '/-/pipelines/99999999999999999999',
    '/-/snippets/99999999999999999999',
    '/-/snippets/x',
    '/-/wikis/..%2f..%2fx',
    '/-/epics/1',
    '/-/unknown',
    '/deeper',
  ])('%s is nothing, and no fault', async (rest) => {
    const headers = { cookie: owner.cookieHeader(), accept: 'text/html' };
    const { status } = await sendRaw(ashlar.url, `GET ${home}${rest}`, { headers });
    expect([400, 404]).toContain(status);
  });

  test.each([
    '%00',
    'a%00b',
    '%ff',
    `${'a'.repeat(5_000)}`,
    "'",
    '%25',
    'a/b/%00/-/issues',
    '..%2f..',
    '%F0%9F%98%80',
  ])('/%s is nothing, and no fault', async (path) => {
    const { status } = await sendRaw(ashlar.url, `GET /${path}`, { headers: { accept: 'text/html' } });
    expect([400, 404]).toContain(status);
  });
});

test.each([
  '/%2Fevil.example/snippets/1.git',
  '/%5Cevil.example/snippets/1.git',
  '/a/%5C%5Cevil.example/snippets/1.git',
  '/%0D%0Aset-cookie:x=1/snippets/1.git',
  '/%C4%83/b/snippets/1.git',
])('%s leads to no other site, and is no fault', async (path) => {
  const response = await sendRaw(ashlar.url, `GET ${path}`, { headers: { accept: 'text/html' } });
  expect([response.status, response.headers.location]).toEqual([404, undefined]);
});

describe('a page has an end', () => {
  const MOST = 3 * 1_048_576;
  const sizeOf = async (path: string): Promise<[number, boolean]> => {
    const { status, text } = await ashlar.call(`GET ${path}`, { raw: true, headers: BROWSER });
    return [status, text.length < MOST];
  };

  test('however many lines a file or a change has', async () => {
    const { id, path_with_namespace: path } = await makeProject(ashlar, { visibility: 'public' });
    const tall = Array.from({ length: 12 }, (_, index) => [`${index}.txt`, '\n'.repeat(90_000)]);
    await fillProject(ashlar, id, [
      { 'a.txt': 'a' },
      Object.fromEntries(tall),
      { 'tallest.txt': '\n'.repeat(900_000), 'b.txt': 'still shown' },
    ]);
    for (const rest of ['blob/main/tallest.txt', 'commit/main', 'commit/main~1', 'compare/main~2...main'])
      expect([rest, ...(await sizeOf(`/${path}/-/${rest}`))]).toEqual([rest, 200, true]);
    const { text } = await ashlar.call(`GET /${path}/-/commit/main`, { raw: true, headers: BROWSER });
    expect(text).toContain('still shown');
    expect(text).toContain('Too large to be shown.');
  });

  test('however long the texts are that people wrote', async () => {
    const { id, path_with_namespace: path } = await makeProject(ashlar, { visibility: 'public' });
    const { iid } = await makeIssue(ashlar, { id });
    const notes = `/projects/${id}/issues/${iid}/notes`;
    for (const body of ['*first*', 'long '.repeat(199_000), 'longer '.repeat(140_000), '*last*'])
      bodyOf(await ashlar.root(`POST ${notes}`, { body: { body } }), 201);
    const page = await ashlar.call(`GET /${path}/-/issues/${iid}`, { raw: true, headers: BROWSER });
    expect(page.status).toBe(200);
    expect(page.text.length).toBeLessThan(1_500_000);
    expect(page.text).toContain('<em>first</em>');
    expect(page.text).toContain('too long to be shown here whole');
    expect(page.text).toContain('<em>last</em>');
  });

  test('however long the title of a commit is', async () => {
    const { id, path_with_namespace: path } = await makeProject(ashlar, { visibility: 'public' });
    await fillProject(ashlar, id);
    const commit = {
      branch: 'main',
      commit_message: 'long'.repeat(200_000),
      actions: [{ action: 'create', file_path: 'b.txt', content: 'b' }],
    };
    bodyOf(await ashlar.root(`POST /projects/${id}/repository/commits`, { body: commit }), 201);
    for (const rest of ['commits', 'commit/main', 'branches']) {
      const { status, text } = await ashlar.call(`GET /${path}/-/${rest}`, { raw: true, headers: BROWSER });
      expect([rest, status, text.length < 20_000]).toEqual([rest, 200, true]);
    }
  });
});

describe('what belongs to others', () => {
  test('git finds its repository, and a browser the page of it', async () => {
    const authorization = `Basic ${Buffer.from(`x:${world.owner.token}`).toString('base64')}`;
    for (const path of [
      `${home}.git`,
      `${home}/-/snippets/${world.snippet.id}.git`,
      `/-/snippets/${world.personal.id}.git`,
    ]) {
      const response = await ashlar.call(`GET ${path}/info/refs`, {
        raw: true,
        query: 'service=git-upload-pack',
        headers: { authorization },
      });
      expect([path, response.headers.get('content-type')]).toEqual([
        path,
        'application/x-git-upload-pack-advertisement',
      ]);
    }
    expect((await owner.get(`${home}.git`)).location).toBe(home);
  });

  test('uploads are served where texts name them', async () => {
    const form = new FormData();
    form.set('file', new Blob(['stone']), 'stone.txt');
    const sent = await fetch(`${ashlar.url}/api/v4/projects/${world.project.id}/uploads`, {
      method: 'POST',
      headers: { 'private-token': world.owner.token },
      body: form,
    });
    const record: unknown = await sent.json();
    const address = /"full_path":"([^"]+)"/.exec(JSON.stringify(record))?.[1] ?? '';
    const response = await owner.get(address);
    expect([response.status, response.text]).toEqual([200, 'stone']);
  });

  test.each([
    ['/users/sign_in', 200],
    ['/-/style.css', 200],
    ['/-/readiness', 200],
    ['/api/docs', 200],
    ['/-/nothing', 404],
    ['/users/nothing', 404],
  ])('%s is %i', async (path, status) => {
    expect((await ashlar.call(`GET ${path}`, { raw: true })).status).toBe(status);
  });

  test('programs are told in JSON that there is nothing, and other methods find nothing at all', async () => {
    const nothing = { message: '404 Not Found', error: '404 Not Found' };
    for (const request of [
      'GET /nowhere',
      `GET ${home}`,
      `GET ${home}/-/issues`,
      `POST ${home}`,
      'DELETE /nowhere',
      'GET /api/v4/nowhere',
    ]) {
      const response = await ashlar.call(request, { raw: true });
      expect([request, response.status, response.body]).toEqual([request, 404, nothing]);
    }
    const refused = await ashlar.call(`POST ${home}/-/issues`, { raw: true });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  test('HEAD says what GET does, without a body', async () => {
    const { status, headers, text } = await ashlar.call(`HEAD ${home}`, {
      raw: true,
      headers: { cookie: owner.cookieHeader() },
    });
    expect([status, headers.get('content-type'), text]).toEqual([200, 'text/html; charset=utf-8', '']);
  });
});
