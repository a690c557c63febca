/** Mistakes of a first hour with the API: the public message stays as it is, and a hint stands beside it. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ROOT_TOKEN, useApp } from '../support/app.ts';
import { makeGroup, makeProject } from '../support/factories.ts';
import { sendRaw } from '../support/raw-http.ts';

const app = useApp();
let project = { id: 0, path_with_namespace: '' };
beforeAll(async () => {
  const group = await makeGroup(app);
  project = await makeProject(app, { namespace_id: group.id });
});

const hintOf = (called: { body: { error_description?: string } }): string | undefined =>
  called.body.error_description;

describe('a value that is not one of those allowed', () => {
  test('is told which are, beside the same message and error as ever', async () => {
    const refused = await app.root('POST /projects', { body: { name: 'wall', visibility: 'secret' } });
    expect([refused.status, refused.body]).toEqual([
      400,
      {
        message: { visibility: ['does not have a valid value'] },
        error: 'visibility does not have a valid value',
        error_description: 'visibility takes private, internal, public',
      },
    ]);
  });

  test.each([
    ['GET /projects?per_page=0', 'per_page takes 1 or more'],
    ['GET /projects?sort=up&visibility=secret', /sort takes asc, desc/],
    ['GET /projects?sort=up&visibility=secret', /visibility takes private, internal, public/],
    ['GET /events?action=danced', /^action takes created, /],
  ])('%s: %s', async (request, hint) => {
    const [path = '', query = ''] = request.split('?');
    const refused = await app.root(path, { query });
    expect(refused.status).toBe(400);
    expect(hintOf(refused)).toEqual(typeof hint === 'string' ? hint : expect.stringMatching(hint));
  });

  test('what is missing is asked for first, and what has no list gets none', async () => {
    const missing = await app.root('POST /groups', { body: { name: 'wall', visibility: 'secret' } });
    expect([missing.body.message, hintOf(missing)]).toEqual([
      '400 Bad request - "path" not given',
      'visibility takes private, internal, public',
    ]);
    const wrong = await app.root('GET /projects', { query: 'archived=perhaps' });
    expect([wrong.body.error, hintOf(wrong)]).toEqual(['archived is invalid', undefined]);
  });
});

describe('a JSON body without its content type', () => {
  const json = (request: string, text: string, type = 'application/x-www-form-urlencoded') =>
    app.root(request, { form: text, headers: { 'content-type': type } });
  const hint =
    'The body looks like JSON and was read as a form: send it with the header Content-Type: application/json';

  test.each([
    ['{"name": "wall"}', '400 Bad request - "name" not given, "path" not given'],
    ['\n  {"name": "100%"}', '400 Bad request - malformed percent-encoding'],
    ['{"name": "a=b&c=d"}', '400 Bad request - "name" not given, "path" not given'],
    ['[{"name": "wall"}]', '400 Bad request - "name" not given, "path" not given'],
  ])('is told that it was read as a form: %s', async (text, message) => {
    const refused = await json('POST /groups', text);
    expect([refused.status, refused.body.message, hintOf(refused)]).toEqual([400, message, hint]);
  });

  test('what is missing altogether tells so too', async () => {
    const refused = await json(`PUT /projects/${project.id}/issues/1`, '{"title": "x"}');
    expect([refused.status, hintOf(refused)]).toEqual([400, hint]);
    const put = await json(`POST /projects/${project.id}/issues`, '{"title": "x"}');
    expect([put.status, hintOf(put)]).toEqual([400, hint]);
  });

  test('a form gets no such hint, whatever is in it, and nothing is refused that was not', async () => {
    const form = await json('POST /groups', 'path={"a":1}');
    expect([form.status, hintOf(form)]).toEqual([400, undefined]);
    const optional = await json(`POST /projects/${project.id}/star`, '{"unread": true}');
    expect(optional.status).toBe(201);
    const right = await json('POST /groups', '{"path": "x"}', 'application/json');
    expect([right.status, hintOf(right)]).toEqual([400, undefined]);
  });

  test.each([['text/plain;charset=UTF-8'], ['application/octet-stream']])(
    'as %s it is 415, with the types that are read',
    async (type) => {
      const refused = await json('POST /groups', '{"name": "wall"}', type);
      expect([refused.status, refused.body.message]).toEqual([415, '415 Unsupported Media Type']);
      expect(hintOf(refused)).toMatch(/^Send JSON with the header Content-Type: application\/json/);
    },
  );
});

describe('a header Authorization that is not read', () => {
  const anonymous =
    /^The request counts as anonymous: of the header Authorization only Bearer <token> is read/;

  test.each([
    [`token ${ROOT_TOKEN}`],
    [ROOT_TOKEN],
    [`Bearer: ${ROOT_TOKEN}`],
    [`Basic ${Buffer.from(`root:${ROOT_TOKEN}`).toString('base64')}`],
    ['Bearer'],
  ])('%s', async (authorization) => {
    const headers = { authorization };
    const refused = await app.call('GET /user', { headers });
    expect([refused.status, refused.body.message]).toEqual([401, '401 Unauthorized']);
    expect(hintOf(refused)).toMatch(anonymous);
    expect(refused.text).not.toContain(ROOT_TOKEN);
    const hidden = await app.call(`GET /projects/${project.id}`, { headers });
    expect([hidden.status, hidden.body.message]).toEqual([404, '404 Project Not Found']);
    expect(hintOf(hidden)).toMatch(anonymous);
    expect((await app.call('GET /projects', { headers })).status).toBe(200);
  });

  test('what is hidden and what is not there are still the same, with the hint and without', async () => {
    for (const headers of [{}, { authorization: 'token x' }]) {
      const hidden = await app.call(`GET /projects/${project.id}`, { headers });
      const absent = await app.call('GET /projects/999999', { headers });
      expect(absent.text).toBe(hidden.text);
    }
  });

  test('none where there is none, where it is read, or where another credential is', async () => {
    const bearer = { authorization: `Bearer ${ROOT_TOKEN}` };
    for (const refused of [
      await app.call('GET /user'),
      await app.call('GET /user', { headers: { authorization: 'Bearer wrong' } }),
      await app.call('GET /projects/999999', { headers: bearer }),
      await app.root('GET /projects/999999', { headers: { authorization: 'Basic eDp5' } }),
      await app.call('GET /projects/999999', {
        headers: { authorization: 'Basic eDp5' },
        query: `private_token=${ROOT_TOKEN}`,
      }),
    ])
      expect(Object.keys(refused.body)).toEqual(['message']);
  });
});

describe('a path that is not encoded', () => {
  const ask = async (line: string) => {
    const { status, text } = await sendRaw(app.url, line, { headers: { 'private-token': ROOT_TOKEN } });
    return { status, body: JSON.parse(text) };
  };

  test('of a project or a group hints at %2F; encoded it is found', async () => {
    const path = project.path_with_namespace;
    for (const [line, example] of [
      [`GET /api/v4/projects/${path}`, '/api/v4/projects/masons%2Fwall'],
      [`GET /api/v4/projects/${path}/issues?state=opened`, '/api/v4/projects/masons%2Fwall'],
      [`POST /api/v4/projects/${path}/issues`, '/api/v4/projects/masons%2Fwall'],
      ['GET /api/v4/groups/masons/tools', '/api/v4/groups/masons%2Ftools'],
    ] as const) {
      const refused = await ask(line);
      expect([refused.status, refused.body], line).toEqual([
        404,
        {
          message: '404 Not Found',
          error: '404 Not Found',
          error_description: `A path is one segment of the address, with %2F for each of its slashes: ${example}`,
        },
      ]);
    }
    expect((await ask(`GET /api/v4/projects/${encodeURIComponent(path)}`)).status).toBe(200);
  });

  test('of a file or a branch does too', async () => {
    for (const rest of ['files/docs/a.md?ref=main', 'files/docs/a.md/raw', 'branches/feature/x', 'tags/v1/x'])
      expect(hintOf(await ask(`GET /api/v4/projects/${project.id}/repository/${rest}`)), rest).toMatch(/%2F/);
  });

  test.each([
    '/api/v4/nothing',
    '/api/v4/projects/1/nothing',
    '/api/v4/projects/a%2fb/nothing',
    '/api/v4/projects/1/repository/files',
    '/api/v4/users/a/b/c',
    '/nothing/projects/a/b',
  ])('GET %s gets no hint', async (path) => {
    const refused = await ask(`GET ${path}`);
    expect([refused.status, refused.body.error_description]).toEqual([404, undefined]);
  });
});
