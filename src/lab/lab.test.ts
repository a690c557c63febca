/** A lab from the command line, over HTTP. One is started for the file: it costs a second or two. */
import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Called, type Site, siteAt, useApp } from '../../test/support/app.ts';
import { bodyOf } from '../../test/support/factories.ts';
import { type Started, startLab } from '../../test/support/lab.ts';
import { processesOf } from '../../test/support/left-in-folder.ts';
import { packageFolder } from '../package.ts';

let lab: Started;
let control: (request: string, body?: unknown, headers?: Record<string, string>) => Promise<Called>;
beforeAll(async () => {
  lab = await startLab();
  control = (request, body, headers) =>
    lab.site.call(request.replace(' ', ' /-/lab'), {
      raw: true,
      ...(body !== undefined && { body }),
      ...(headers && { headers }),
    });
});
afterAll(() => {
  lab.child.kill('SIGKILL');
});
const app = useApp();

const ada = { username: 'ada', name: 'Ada', email: 'ada@example.com' };

const makeProject = async (site: Site, name: string): Promise<number> =>
  (await site.root('POST /projects', { body: { name, initialize_with_readme: true } })).body.id;

function clone(path: string): { status: number | null; files: boolean } {
  const folder = mkdtempSync(join(tmpdir(), 'lab-clone-'));
  const url = lab.described.url.replace('//', `//root:${lab.described.token}@`);
  const { status } = spawnSync('git', ['clone', '-q', `${url}/${path}.git`, join(folder, 'c')], {
    env: { PATH: process.env.PATH, HOME: folder, GIT_TERMINAL_PROMPT: '0' },
  });
  const files = existsSync(join(folder, 'c', 'README.md'));
  rmSync(folder, { recursive: true });
  return { status, files };
}

test('it says where it is, and who root is', async () => {
  expect((await lab.site.root('GET /user')).body).toMatchObject({ id: 1, username: 'root' });
  const { username, password } = lab.described.users.root;
  const grant = await lab.site.call('POST /oauth/token', {
    raw: true,
    body: { grant_type: 'password', username, password },
  });
  expect(grant.status).toBe(200);
});

test('a reset takes back records, ids, repositories and sessions, any number of times', async () => {
  await control('POST /reset');
  for (const name of ['one', 'two', 'three']) {
    expect(await makeProject(lab.site, name)).toBe(1);
    expect(clone(`root/${name}`)).toEqual({ status: 0, files: true });
    const { body } = await lab.site.root('POST /users/1/personal_access_tokens', {
      body: { name: 'of before', scopes: ['api'] },
    });
    const other = lab.site.as(body.token);
    expect((await other('GET /user')).status).toBe(200);
    expect((await control('POST /reset')).status).toBe(204);
    expect((await other('GET /user')).status).toBe(401);
    expect((await lab.site.root('GET /projects')).body).toEqual([]);
    expect(clone(`root/${name}`).status).not.toBe(0);
  }
});

test('resets at once are done one after the other, and requests meanwhile are answered', async () => {
  await makeProject(lab.site, 'there');
  const resets = [1, 2, 3].map(() => control('POST /reset'));
  const reads = Array.from({ length: 20 }, () => lab.site.root('GET /version'));
  for (const { status } of await Promise.all(resets)) expect(status).toBe(204);
  for (const { status } of await Promise.all(reads)) expect(status).toBe(200);
  expect(await makeProject(lab.site, 'there')).toBe(1);
});

test('a connection stays open across a reset', async () => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (method: string, path: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      http
        .request(lab.described.url + path, { method, agent }, (response) => {
          const { localPort } = response.socket;
          response.resume().on('end', () => resolve([response.statusCode, localPort]));
        })
        .on('error', reject)
        .end();
    });
  const [, port] = (await ask('GET', '/-/liveness')) as number[];
  expect(await ask('POST', '/-/lab/reset')).toEqual([204, port]);
  expect(await ask('GET', '/-/liveness')).toEqual([200, port]);
  agent.destroy();
});

test('a snapshot is gone back to, repositories included, and what came after it is gone', async () => {
  await control('POST /reset');
  await makeProject(lab.site, 'kept');
  expect((await control('PUT /snapshots/first')).status).toBe(204);
  await makeProject(lab.site, 'later');
  await lab.site.root('DELETE /projects/root%2Fkept?permanently_remove=true&full_path=root/kept');
  expect((await control('GET ')).body).toMatchObject({ name: 'instance-1', snapshots: ['first'] });
  for (let turn = 0; turn < 2; turn++) {
    expect((await control('POST /snapshots/first/restore')).status).toBe(204);
    const { body } = await lab.site.root('GET /projects');
    expect(body.map(({ path }: { path: string }) => path)).toEqual(['kept']);
    expect(clone('root/kept')).toEqual({ status: 0, files: true });
    expect(await makeProject(lab.site, 'later')).toBe(2);
  }
  // Of the same name, it takes the place of the first.
  expect((await control('PUT /snapshots/first')).status).toBe(204);
  await control('POST /reset');
  await control('POST /snapshots/first/restore');
  expect((await lab.site.root('GET /projects')).body).toHaveLength(2);
  await control('POST /reset');
});

/** As somebody who knows the lab by another name, as from outside its container. */
const askBy = (host: string, path: string, method = 'GET'): Promise<{ body: Called['body']; link: string }> =>
  new Promise((resolve, reject) => {
    const { port } = new URL(lab.described.url);
    const headers = { host, 'private-token': lab.described.token };
    http
      .request({ port, host: '127.0.0.1', path, method, headers }, async (response) => {
        const parts = await response.toArray();
        const text = Buffer.concat(parts).toString();
        resolve({ body: text === '' ? undefined : JSON.parse(text), link: String(response.headers.link) });
      })
      .on('error', reject)
      .end();
  });

test('links have the address by which it is asked, where that is a name that public DNS has not', async () => {
  await control('POST /reset');
  const id = await makeProject(lab.site, 'mine');
  const { url } = lab.described;
  const hosts = [
    ['localhost:12345', 'http://localhost:12345'],
    ['172.17.0.1:32768', 'http://172.17.0.1:32768'],
    ['ashlar', 'http://ashlar'],
    ['host.docker.internal:32768', 'http://host.docker.internal:32768'],
    ['attacker.example', url],
    ['a/b', url],
  ];
  // At once: none gets another's.
  await Promise.all(
    hosts.map(async ([host = '', origin = '']) => {
      const { body } = await askBy(host, `/api/v4/projects/${id}`);
      expect([host, body.web_url, body.http_url_to_repo, body._links.self]).toEqual([
        host,
        `${origin}/root/mine`,
        `${origin}/root/mine.git`,
        `${origin}/api/v4/projects/${id}`,
      ]);
      expect((await askBy(host, '/api/v4/projects?per_page=1')).link).toContain(
        `<${origin}/api/v4/projects?`,
      );
    }),
  );
});

test('what it sends has the address by which its own routes were asked last', async () => {
  await askBy('localhost:12345', '/-/lab/reset', 'POST');
  const id = await makeProject(lab.site, 'mine');
  // As a webhook does.
  await fetch(`${lab.described.url}/-/lab/hooks/it`, { method: 'POST', body: '{}' });
  const hook = { url: `${lab.described.url}/-/lab/hooks/it`, issues_events: true };
  bodyOf(await lab.site.root(`POST /projects/${id}/hooks`, { body: hook }), 201);
  bodyOf(await lab.site.root(`POST /projects/${id}/issues`, { body: { title: 'Crack' } }), 201);
  type Delivered = { body: { project?: { web_url: string } } };
  const addresses = async () => {
    const { body } = await askBy('localhost:12345', '/-/lab/hooks');
    return body.map((each: Delivered) => each.body.project?.web_url);
  };
  await expect.poll(addresses).toEqual([undefined, 'http://localhost:12345/root/mine']);
  expect((await askBy('ashlar:80', '/-/lab')).body.url).toBe('http://ashlar:80');
  await control('POST /reset');
  expect((await control('GET ')).body.url).toBe(lab.described.url);
});

test('faults meet requests until they are taken away, and a reset does so too', async () => {
  await control('POST /reset');
  const { status, body: rule } = await control('POST /faults', {
    route: '/projects/:id',
    method: 'GET',
    status: 502,
    count: 2,
  });
  expect([status, rule]).toEqual([
    201,
    { id: 1, route: '/projects/:id', method: 'GET', status: 502, count: 2 },
  ]);
  const id = await makeProject(lab.site, 'mine');
  const answers = [1, 2, 3].map(() => lab.site.root(`GET /projects/${id}`));
  expect((await Promise.all(answers)).map((each) => each.status).toSorted()).toEqual([200, 502, 502]);
  expect((await control('GET /faults')).body).toEqual([]);
  await control('POST /faults', { cut: 'before' });
  await expect(lab.site.root('GET /version')).rejects.toThrow();
  expect((await control('DELETE /faults/2')).status).toBe(204);
  expect((await control('DELETE /faults/2')).status).toBe(404);
  await control('POST /faults', { status: 500 });
  expect((await control('GET /faults')).body).toEqual([{ id: 3, status: 500 }]);
  await control('POST /reset');
  expect((await lab.site.root('GET /version')).status).toBe(200);
  expect(await control('POST /faults', { statsu: 500 })).toMatchObject({
    status: 400,
    body: { message: expect.stringMatching(/^a rule has no statsu: it has method,/) },
  });
});

test('work is done though its answer is lost; a list lacks its totals', async () => {
  await control('POST /reset');
  await control('POST /faults', { method: 'POST', route: '/projects', cut: 'after', count: 1 });
  await expect(makeProject(lab.site, 'mine')).rejects.toThrow();
  await control('POST /faults', { route: '/projects', missing_totals: true });
  const { body, headers } = await lab.site.root('GET /projects');
  expect(body.map(({ path }: { path: string }) => path)).toEqual(['mine']);
  expect([headers.get('x-page'), headers.get('x-total'), headers.get('x-total-pages')]).toEqual([
    '1',
    null,
    null,
  ]);
});

test('stale reads are of the moment when the rule was made, and writes are not', async () => {
  await control('POST /reset');
  const id = await makeProject(lab.site, 'mine');
  await control('POST /faults', { route: '/projects/*', stale: true });
  bodyOf(await lab.site.root(`PUT /projects/${id}`, { body: { description: 'Later' } }), 200);
  const later = await makeProject(lab.site, 'later');
  const read = async (project: number) => (await lab.site.root(`GET /projects/${project}`)).body.description;
  const files = async () => (await lab.site.root(`GET /projects/${id}/repository/tree`)).body.length;
  expect([await read(id), (await lab.site.root(`GET /projects/${later}`)).status]).toEqual([null, 404]);
  expect(await files()).toBe(1);
  await control('DELETE /faults');
  expect([await read(id), await read(later)]).toEqual(['Later', null]);
});

test('it tells which requests were made, by whom, and what they said', async () => {
  await control('POST /reset');
  const { body: token } = await lab.site.root('POST /users/1/personal_access_tokens', {
    body: { name: 'of my tool', scopes: ['api'] },
  });
  await control('DELETE /requests');
  await control('POST /faults', { method: 'DELETE', status: 503 });
  await lab.site.as(token.token)('POST /projects', { body: { name: 'mine' } });
  await lab.site.call('GET /projects', { query: 'search=mine&id_after=0&not[]=1&not[]=2' });
  await lab.site.root('DELETE /projects/1');
  const { body } = await control('GET /requests');
  expect(body).toMatchObject([
    {
      ...{ method: 'POST', path: '/api/v4/projects', body: { name: 'mine' }, status: 201 },
      ...{ username: 'root', credential: 'of my tool', fault: null, query: {} },
    },
    {
      ...{
        method: 'GET',
        query: { search: 'mine', id_after: '0', 'not[]': ['1', '2'] },
        body: null,
        status: 200,
      },
      ...{ username: null, credential: null },
    },
    { method: 'DELETE', status: 503, route: null, fault: expect.any(Number) },
  ]);
  expect(body[0].route).toBe(body[1].route);
  expect(body[0].route).toMatch(/projects/);
  await control('POST /reset');
  expect((await control('GET /requests')).body).toEqual([]);
});

test('mails and webhooks are read at its address', async () => {
  await control('POST /reset');
  const id = await makeProject(lab.site, 'mine');
  for (const [name, query] of [
    ['good', ''],
    ['bad', '?status=500'],
  ])
    bodyOf(
      await lab.site.root(`POST /projects/${id}/hooks`, {
        body: {
          url: `${lab.described.url}/-/lab/hooks/${name}${query}`,
          issues_events: true,
          token: 'secret',
        },
      }),
      201,
    );
  bodyOf(await lab.site.root('POST /users', { body: { ...ada, reset_password: true } }), 201);
  bodyOf(await lab.site.root(`POST /projects/${id}/issues`, { body: { title: 'Crack' } }), 201);
  await expect.poll(async () => (await control('GET /hooks/good')).body).toHaveLength(1);
  const [delivery] = (await control('GET /hooks/good')).body;
  expect(delivery).toMatchObject({
    ...{ name: 'good', method: 'POST' },
    headers: { 'content-type': 'application/json' },
    body: { object_kind: 'issue', object_attributes: { title: 'Crack' } },
  });
  await expect.poll(async () => (await control('GET /hooks')).body.length).toBeGreaterThan(1);
  await expect.poll(async () => (await control('GET /mail')).body.length).toBeGreaterThan(0);
  const [mail] = (await control('GET /mail')).body;
  expect(mail).toMatchObject({ to: [ada.email], subject: expect.stringMatching(/./) });
  expect(mail.text).toMatch(/http/);
  expect((await control('DELETE /mail')).status).toBe(204);
  expect((await control('GET /mail')).body).toEqual([]);
  await control('POST /reset');
  expect((await control('GET /hooks')).body).toEqual([]);
});

test('an instance begins with the world of its seed, to which it is taken back', async () => {
  const seed = {
    users: [
      {
        username: 'ada',
        password: 'an-old-oak-by-the-river',
        tokens: [{ name: 'tool', value: 'glpat-of-ada', scopes: ['api'] }],
      },
    ],
    projects: [{ path: 'ada/bridge', files: { 'README.md': '# Bridge' }, issues: [{ title: 'Crack' }] }],
  };
  const { status, body } = await control('POST /instances', { name: 'seeded', seed });
  expect([status, body.users?.ada]).toEqual([
    201,
    { username: 'ada', password: 'an-old-oak-by-the-river', token: 'glpat-of-ada' },
  ]);
  const site = siteAt(body.url, 'glpat-of-ada');
  const world = async () =>
    (await site.root('GET /projects?order_by=id')).body.map((each: { path: string }) => each.path);
  const ask = (request: string) => site.call(request.replace(' ', ' /-/lab'), { raw: true });
  const { body: written } = await ask('GET /seed');
  expect(written.projects[0]).toMatchObject({ path: 'ada/bridge', issues: [{ title: 'Crack' }] });
  for (let turn = 0; turn < 2; turn++) {
    expect(await world()).toEqual(['bridge']);
    expect((await site.root('GET /projects/1/issues/1')).body.title).toBe('Crack');
    expect((await site.root('GET /projects/1/repository/files/README.md?ref=main')).status).toBe(200);
    expect(await makeProject(site, 'later')).toBe(2);
    expect((await ask('POST /reset')).status).toBe(204);
  }
  expect((await control('DELETE /instances/seeded')).status).toBe(204);
  const wrong = await control('POST /instances', { seed: 'projects:\n  - path: nobody/bridge\n' });
  expect([wrong.status, wrong.body.message]).toEqual([422, expect.stringMatching(/^seed:2:\d+: /)]);
});

test('of instances that could not begin nothing is left', async () => {
  const clones = () => globSync(join(lab.folder, '*', 'lab_*')).length;
  // One is prepared in the background.
  await expect.poll(clones, { timeout: 20_000 }).toBeGreaterThanOrEqual(3);
  const before = clones();
  const port = Number(new URL(lab.described.url).port);
  for (const wanted of [{ seed: 'users: 1' }, { seed: 'users: 2' }, { port }, { port }]) {
    const { status } = await control('POST /instances', wanted);
    expect(status).toBeGreaterThanOrEqual(400);
  }
  expect(clones()).toBeLessThanOrEqual(before);
});

test('the command takes a seed from a file', async () => {
  const example = await startLab(['--seed', join(packageFolder, 'examples', 'world.yml')]);
  const { ann } = example.described.users;
  expect((await example.site.as(ann?.token ?? '')('GET /user')).body.username).toBe('ann');
  expect((await example.site.root('GET /projects')).body.length).toBeGreaterThan(1);
  const ended = once(example.child, 'close');
  example.child.kill('SIGTERM');
  await ended;
  const wrong = join(mkdtempSync(join(tmpdir(), 'lab-seed-')), 'wrong.yml');
  writeFileSync(wrong, 'users:\n  - name: Nobody\n');
  await expect(startLab(['--seed', wrong])).rejects.toThrow(/wrong\.yml:2:5: /);
  rmSync(dirname(wrong), { recursive: true });
});

/** The first that comes back over a connection of its own, or nothing. */
function send(text: string): Promise<string> {
  const socket = net.connect(Number(new URL(lab.described.url).port), '127.0.0.1');
  let got = '';
  const { promise, resolve } = Promise.withResolvers<string>();
  socket.setEncoding('latin1').once('data', (piece) => {
    got += piece;
    socket.destroy();
  });
  socket.on('error', () => undefined).on('close', () => resolve(got));
  socket.write(text);
  return promise;
}

test('paths that no URL has are answered, and noted as they came', async () => {
  await control('DELETE /requests');
  for (const path of ['//', '//api/v4/version'])
    expect((await send(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`)).slice(0, 9)).toBe('HTTP/1.1 ');
  const { body } = await control('GET /requests');
  expect(body.map(({ path }: { path: string }) => path)).toEqual(['//', '//api/v4/version']);
});

test('instances share nothing that is written, and each has its own tier', async () => {
  const { status, body } = await control('POST /instances', { name: 'free', tier: 'free' });
  expect([status, body.name]).toEqual([201, 'free']);
  const other = siteAt(body.url, body.token);
  await makeProject(other, 'mine');
  expect((await lab.site.root('GET /projects')).body).toEqual([]);
  const isPaid = async (site: Site) => (await site.root('GET /metadata')).body.enterprise;
  expect([await isPaid(other), await isPaid(lab.site)]).toEqual([false, true]);
  expect((await control('POST /instances', { name: 'free' })).status).toBe(409);
  expect((await control('DELETE /instances/free')).status).toBe(204);
  await expect(fetch(body.url)).rejects.toThrow();
  expect((await control('DELETE /instances/free')).status).toBe(404);
});

test.each<[string, unknown, number, RegExp]>([
  ['GET /nothing', undefined, 404, /GET \/-\/lab says/],
  ['GET /reset', undefined, 405, /POST/],
  ['POST /snapshots/never/restore', undefined, 404, /no snapshot/],
  ['PUT /snapshots/..%2f..%2fetc', undefined, 400, /name/],
  ['PUT /snapshots/%E0%A4%A', undefined, 400, /name/],
  ['DELETE /instances/instance-1', undefined, 409, /address of another/],
  ['POST /instances', { tier: 'gold' }, 400, /tier is one of/],
  ['POST /instances', { teir: 'free' }, 400, /no option teir/],
  ['POST /instances', { port: 70_000 }, 400, /port/],
  ['POST /instances', ['free'], 400, /object/],
  ['POST /instances', { name: 'x'.repeat(33_554_432) }, 413, /bytes/],
])('%s with %j is refused with %i', async (request, body, status, message) => {
  const answer = await control(request, body);
  expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(message)]);
});

test('pages in a browser, and names that others may have made, cannot call the lab', async () => {
  await makeProject(lab.site, 'stays');
  for (const headers of [
    { origin: 'http://attacker.example' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-origin' },
  ])
    expect((await control('POST /reset', undefined, headers)).status).toBe(403);
  const rebound = await new Promise<number | undefined>((resolve, reject) => {
    const { port } = new URL(lab.described.url);
    const headers = { host: 'attacker.example' };
    http
      .request({ port, host: '127.0.0.1', path: '/-/lab/reset', method: 'POST', headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
      .on('error', reject)
      .end();
  });
  expect(rebound).toBe(403);
  expect((await lab.site.root('GET /projects')).body).toHaveLength(1);
});

test('an ordinary start knows no route of the lab', async () => {
  for (const request of [
    'GET /-/lab',
    'POST /-/lab/reset',
    'PUT /-/lab/snapshots/one',
    'POST /-/lab/instances',
  ])
    expect((await app.call(request, { raw: true })).status).toBe(404);
});

test('a wrong option ends it, and leaves nothing', async () => {
  await expect(startLab(['--tier', 'gold'])).rejects.toThrow(/tier is one of free, premium, ultimate/);
  await expect(startLab(['--port', 'x'])).rejects.toThrow(/port is a whole number/);
});

test.each<[string, (child: ChildProcess) => void, number | null]>([
  ['when its standard input closes', (child) => child.stdin?.end(), 0],
  ['by SIGTERM', (child) => child.kill('SIGTERM'), 0],
  ['by kill -9', (child) => child.kill('SIGKILL'), null],
])('it ends %s, and leaves no process and no folder', async (_how, end, code) => {
  const { child, described, site, folder } = await startLab();
  // It has a helper that starts git by now, too.
  await makeProject(site, 'x');
  expect(processesOf(folder).length).toBeGreaterThan(1);
  const ended = once(child, 'close');
  end(child);
  expect((await ended)[0]).toBe(code);
  await expect.poll(() => existsSync(folder)).toBe(false);
  await expect.poll(() => processesOf(folder)).toEqual([]);
  await expect(fetch(described.url)).rejects.toThrow();
});
