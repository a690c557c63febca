/** Every rule of the spec's "General request rules", over HTTP. */
import { describe, expect, it } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../support/app.ts';
import { bodyOf, makeGroup, makeProject, makeUser, uniqueName } from '../../support/factories.ts';
import { sendRaw } from '../../support/raw-http.ts';

const ashlar = useApp();
const asRoot = { 'private-token': ROOT_TOKEN };

describe('General request rules', () => {
  describe('1. parameters are sent in the query string or in a request body', () => {
    it('GET uses the query string', async () => {
      const user = await makeUser(ashlar);
      const found = await ashlar.root('GET /users', { query: `username=${user.username}` });
      expect(bodyOf(found, 200)).toMatchObject([{ id: user.id }]);
    });

    it.each(['query', 'form', 'multipart', 'JSON'])('POST and PUT take them as %s', async (how) => {
      const path = uniqueName('sent');
      const send = (line: string, values: Record<string, string>) => {
        const encoded = new URLSearchParams(values).toString();
        if (how === 'query') return ashlar.root(line, { query: encoded });
        if (how === 'form') return ashlar.root(line, { form: encoded });
        if (how === 'JSON') return ashlar.root(line, { body: values });
        const parts = Object.entries(values).map(
          ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
        );
        const headers = { 'content-type': 'multipart/form-data; boundary=b' };
        return ashlar.root(line, { form: `${parts.join('')}--b--\r\n`, headers });
      };
      const made = bodyOf(await send('POST /projects', { name: path, description: 'one' }), 201);
      expect(made).toMatchObject({ path, description: 'one' });
      const changed = bodyOf(await send(`PUT /projects/${made.id}`, { description: 'two' }), 200);
      expect(changed).toMatchObject({ path, description: 'two' });
    });

    it('a JSON body needs the header Content-Type: application/json', async () => {
      const body = JSON.stringify({ name: uniqueName('typed') });
      const post = (headers: Record<string, string>) =>
        sendRaw(ashlar.url, 'POST /api/v4/projects', { headers: { ...asRoot, ...headers }, body });
      expect((await post({})).status).toBe(415);
      expect((await post({ 'content-type': 'text/plain' })).status).toBe(415);
      expect((await post({ 'content-type': 'application/json' })).status).toBe(201);
    });
  });

  it('2. a query string that is too long gives 414; the client moves the parameters into a body', async () => {
    const user = await makeUser(ashlar);
    const parameters = `username=${user.username}&padding=${'x'.repeat(9_000)}`;
    const long = await ashlar.root('GET /users', { query: parameters });
    expect([long.status, long.body]).toEqual([414, { message: '414 Request-URI Too Large' }]);
    const headers = { ...asRoot, 'content-type': 'application/x-www-form-urlencoded' };
    const moved = await sendRaw(ashlar.url, 'GET /api/v4/users', { headers, body: parameters });
    expect(moved.status).toBe(200);
    expect(JSON.parse(moved.text)).toMatchObject([{ id: user.id }]);
  });

  describe('3. arrays, hashes and arrays of hashes', () => {
    it('array parameters are sent as repeated name[]=<value>', async () => {
      const form = `name=${uniqueName('array')}&topics[]=one&topics[]=two`;
      expect(bodyOf(await ashlar.root('POST /projects', { form }), 201).topics).toEqual(['one', 'two']);
      const [first, second] = [await makeGroup(ashlar), await makeGroup(ashlar)];
      const all = bodyOf(await ashlar.root('GET /groups', { query: 'per_page=100' }), 200);
      const query = `per_page=100&skip_groups[]=${first.id}&skip_groups%5B%5D=${second.id}`;
      const rest = bodyOf(await ashlar.root('GET /groups', { query }), 200);
      expect(all.length - rest.length).toBe(2);
    });

    it('hash parameters are sent as name[key]=<value>', async () => {
      const project = await makeProject(ashlar);
      await ashlar.root(`PUT /projects/${project.id}/custom_attributes/place`, { body: { value: 'here' } });
      const ask = (query: string) => ashlar.root('GET /projects', { query });
      expect(bodyOf(await ask('custom_attributes[place]=here'), 200)).toMatchObject([{ id: project.id }]);
      expect(bodyOf(await ask('custom_attributes[place]=there'), 200)).toEqual([]);
    });

    const strategies = [
      { name: 'userWithId', parameters: { userIds: 'a,b' }, scopes: [{ environment_scope: 'one' }] },
      { name: 'default', parameters: {}, scopes: [{ environment_scope: 'two' }] },
    ];
    const shown = strategies.map(({ name, parameters, scopes }) => ({
      name,
      parameters,
      scopes: scopes.map((scope) => expect.objectContaining(scope)),
    }));
    const encoded = [
      'strategies[0][name]=userWithId',
      'strategies[0][parameters][userIds]=a,b',
      'strategies[0][scopes][0][environment_scope]=one',
      'strategies[1][name]=default',
      'strategies[1][scopes][0][environment_scope]=two',
    ].join('&');

    it.each(['form', 'query', 'JSON'])('an array of hashes, as %s', async (how) => {
      const project = await makeProject(ashlar);
      const line = `POST /projects/${project.id}/feature_flags`;
      const request = {
        form: { form: `name=flag&${encoded}` },
        query: { query: `name=flag&${encoded}` },
        JSON: { body: { name: 'flag', strategies } },
      }[how];
      expect(bodyOf(await ashlar.root(line, request), 201).strategies).toMatchObject(shown);
    });
  });

  it('4. a path parameter that is not encoded does not match any endpoint: 404', async () => {
    const project = await makeProject(ashlar);
    const { path_with_namespace: path } = project;
    expect((await ashlar.root(`GET /projects/${path}`)).status).toBe(404);
    expect((await ashlar.root(`GET /projects/${path}/members`)).status).toBe(404);
    expect((await ashlar.root(`GET /projects/${encodeURIComponent(path)}`)).body.id).toBe(project.id);
  });

  describe('5. default response codes', () => {
    it('POST gives 201 with the created resource', async () => {
      const path = uniqueName('created');
      const made = await ashlar.root('POST /groups', { body: { name: path, path } });
      expect([made.status, made.body.full_path]).toEqual([201, path]);
    });

    it('GET, PUT and PATCH give 200 with the (modified) resource', async () => {
      const project = await makeProject(ashlar);
      expect((await ashlar.root(`GET /projects/${project.id}`)).status).toBe(200);
      const put = await ashlar.root(`PUT /projects/${project.id}`, { body: { description: 'new' } });
      expect([put.status, put.body.description]).toEqual([200, 'new']);
      const patch = await ashlar.root('PATCH /user/status', { body: { message: 'at work' } });
      expect([patch.status, patch.body.message]).toEqual([200, 'at work']);
    });

    it('DELETE gives 204, or 202 when deletion is scheduled', async () => {
      await ashlar.root('PUT /users/1/custom_attributes/going', { body: { value: 'x' } });
      const deleted = await ashlar.root('DELETE /users/1/custom_attributes/going');
      expect([deleted.status, deleted.text]).toEqual([204, '']);
      const project = await makeProject(ashlar);
      const scheduled = await ashlar.root(`DELETE /projects/${project.id}`);
      expect([scheduled.status, scheduled.body]).toEqual([202, { message: '202 Accepted' }]);
    });
  });

  it('6. after a path change the old path of a project leads on by Location, which the client uses', async () => {
    const project = await makeProject(ashlar);
    const old = encodeURIComponent(project.path_with_namespace);
    const renamed = await ashlar.root(`PUT /projects/${project.id}`, { body: { path: uniqueName('moved') } });
    bodyOf(renamed, 200);
    const moved = await ashlar.root(`GET /projects/${old}/members/all`, { query: 'per_page=1' });
    expect(moved.status).toBe(301);
    const location = moved.headers.get('location') ?? '';
    expect(location).toBe(`${ashlar.url}/api/v4/projects/${project.id}/members/all?per_page=1`);
    expect(moved.text).toBe(`This resource has been moved permanently to ${location}`);
    const followed = await ashlar.root(`GET ${location.slice(ashlar.url.length)}`, { raw: true });
    expect(bodyOf(followed, 200)).toMatchObject([{ username: 'root' }]);
  });

  it('7. list endpoints are paginated', async () => {
    const project = await makeProject(ashlar);
    const group = await makeGroup(ashlar);
    for (const path of [
      '/users',
      '/groups',
      '/projects',
      '/audit_events',
      '/personal_access_tokens',
      `/groups/${group.id}/members`,
      `/projects/${project.id}/members/all`,
      `/projects/${project.id}/feature_flags`,
    ]) {
      const response = await ashlar.root(`GET ${path}`);
      expect([path, response.status, response.headers.get('x-page')]).toEqual([path, 200, '1']);
      expect(response.headers.get('link')).toContain('rel="first"');
    }
  });
});

// Rule 4's second sentence, about proxies, is in proxy-rule.test.ts.
