/** Conan packages as programs publish, find, fetch and remove them, with revisions and without. */
import { createHash } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { ROOT_TOKEN, type TestApp, useApp } from '../../../../test/support/app.ts';
import { bodyOf } from '../../../../test/support/factories.ts';
import {
  basic,
  bearer,
  type Headers,
  makeTeam,
  openToAll,
  own,
  type Team,
} from '../../../../test/support/packages.ts';
import { makeRunner, startPipeline } from '../../../../test/support/runner.ts';
import { moveClock } from '../../../platform/clock.ts';

const app: TestApp = useApp();
let team = {} as Team;
let project: Team['project'];

beforeEach(async () => {
  team = await makeTeam(app);
  project = team.project;
});

const root = () => `${app.url}/api/v4/projects/${project.id}/packages/conan`;
const STONE = 'v2/conans/stone/1.0/_/_';
const [ONE, TWO, THREE] = ['1', '2', '3'].map((digit) => digit.repeat(32)) as [string, string, string];

async function call(method: string, path: string, headers: Headers, body?: string) {
  const address = path.startsWith('/') ? `${app.url}/api/v4${path}` : `${root()}/${path}`;
  const response = await fetch(address, { method, headers, ...(body !== undefined && { body }) });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== '';
  return {
    status: response.status,
    text,
    body: isJson ? JSON.parse(text) : undefined,
    headers: response.headers,
  };
}
const get = (path: string, headers: Headers = bearer(team.reporter)) => call('GET', path, headers);
const put = (path: string, body: string, headers: Headers = bearer(team.developer)) =>
  call('PUT', path, headers, body);
const remove = (path: string, headers: Headers = bearer(team.maintainer)) => call('DELETE', path, headers);

/** As the program does, the manifest last. */
async function publishRecipe(revision: string, at = STONE, headers = bearer(team.developer)) {
  for (const name of ['conanfile.py', 'conanmanifest.txt'])
    expect(
      (await put(`${at}/revisions/${revision}/files/${name}`, `${name} ${revision}`, headers)).status,
    ).toBe(200);
}
async function publishPackage(recipe: string, reference: string, revision: string, os = 'Linux', at = STONE) {
  const files = `${at}/revisions/${recipe}/packages/${reference}/revisions/${revision}/files`;
  for (const [name, content] of [
    ['conan_package.tgz', `bytes ${revision}`],
    ['conaninfo.txt', `[settings]\nos=${os}\n[options]\nshared=False\n[requires]\nslate/1.Y\n`],
    ['conanmanifest.txt', 'm'],
  ] as const)
    expect((await put(`${files}/${name}`, content)).status).toBe(200);
}
const packages = async () =>
  bodyOf(await app.as(team.reporter.token)(`GET /projects/${project.id}/packages`), 200);

test('recipes and their packages are published, found by revision, and fetched', async () => {
  await publishRecipe(ONE);
  await publishPackage(ONE, 'aa', TWO);
  await publishPackage(ONE, 'bb', TWO, 'Windows');
  await publishRecipe(TWO);
  const latest = await get(`${STONE}/latest`);
  expect(latest.body).toEqual({ revision: TWO, time: expect.stringMatching(/^\d{4}-.*\.\d{3}\+0000$/) });
  expect((await get(`${STONE}/revisions`)).body).toMatchObject({
    reference: 'stone/1.0@_/_',
    revisions: [{ revision: TWO }, { revision: ONE }],
  });
  const recipe = `${STONE}/revisions/${ONE}`;
  expect((await get(`${recipe}/files`)).body).toEqual({
    files: { 'conanfile.py': {}, 'conanmanifest.txt': {} },
  });
  expect((await get(`${recipe}/files/conanfile.py`)).text).toBe(`conanfile.py ${ONE}`);
  expect((await get(`${recipe}/packages/aa/latest`)).body).toMatchObject({ revision: TWO });
  expect((await get(`${recipe}/packages/aa/revisions`)).body).toMatchObject({
    reference: `stone/1.0@_/_#${ONE}:aa`,
    revisions: [{ revision: TWO }],
  });
  const made = `${recipe}/packages/aa/revisions/${TWO}`;
  expect(Object.keys((await get(`${made}/files`)).body.files)).toEqual([
    'conan_package.tgz',
    'conaninfo.txt',
    'conanmanifest.txt',
  ]);
  expect((await get(`${made}/files/conan_package.tgz`)).text).toBe(`bytes ${TWO}`);
  const of = (os: string) => ({ settings: { os }, options: { shared: 'False' }, requires: ['slate/1.Y'] });
  expect((await get(`${recipe}/search?list_only=False`)).body).toEqual({
    aa: of('Linux'),
    bb: of('Windows'),
  });
  expect((await get(`${recipe}/search?list_only=True`)).body).toEqual({ aa: {}, bb: {} });
  // The newest recipe has none.
  expect((await get(`${STONE}/search`)).body).toEqual({});
  expect(await packages()).toMatchObject([
    {
      name: 'stone/1.0@_/_',
      conan_package_name: 'stone',
      version: '1.0',
      package_type: 'conan',
      last_downloaded_at: expect.any(String),
    },
  ]);
  const missing = ['v2/conans/slate/1.0/_/_/latest', 'v2/conans/stone/1.0/quarry/stable/latest'];
  missing.push(
    'v2/conans/stone/1.0/_/_/revisions'.replace('stone', 'slate'),
    `${STONE}/revisions/${THREE}/files`,
  );
  missing.push(`${STONE}/revisions/${THREE}/search`, `${recipe}/packages/cc/latest`);
  missing.push(`${recipe}/packages/cc/revisions`, `${recipe}/files/conan_sources.tgz`);
  missing.push(`${STONE}/revisions/${TWO}/packages/aa/latest`);
  for (const path of missing) expect((await get(path)).status).toBe(404);
});

test('half of a revision is not the latest, nor is it there for those who ask what they must send', async () => {
  await publishRecipe(ONE);
  const half = `${STONE}/revisions/${TWO}`;
  await put(`${half}/files/conanfile.py`, 'recipe');
  expect((await get(`${STONE}/latest`)).body).toMatchObject({ revision: ONE });
  expect((await get(`${STONE}/revisions`)).body.revisions).toHaveLength(1);
  // A recipe that is not whole has no packages.
  const early = await put(`${half}/packages/aa/revisions/${ONE}/files/conaninfo.txt`, '[settings]\n');
  expect(early).toMatchObject({ status: 404, body: { message: '404 Recipe Not Found' } });
  await put(`${half}/files/conanmanifest.txt`, 'manifest');
  expect((await get(`${STONE}/latest`)).body).toMatchObject({ revision: TWO });

  const made = `${half}/packages/aa`;
  const files = `${made}/revisions/${ONE}/files`;
  await put(`${files}/conaninfo.txt`, '[settings]\n');
  // Where the content does not arrive, the program sends the others all the same.
  await put(`${files}/conanmanifest.txt`, 'manifest');
  expect((await get(`${made}/latest`)).status).toBe(404);
  expect((await get(`${half}/search`)).body).toEqual({});
  await put(`${files}/conan_package.txz`, 'content');
  expect((await get(`${made}/latest`)).body).toMatchObject({ revision: ONE });
  expect(Object.keys((await get(`${half}/search`)).body)).toEqual(['aa']);

  // Of a package for everything it says nothing.
  await put(`${half}/packages/bb/revisions/${ONE}/files/conaninfo.txt`, '');
  await put(`${half}/packages/bb/revisions/${ONE}/files/conan_package.tgz`, 'content');
  await put(`${half}/packages/bb/revisions/${ONE}/files/conanmanifest.txt`, 'manifest');
  expect((await get(`${half}/search`)).body.bb).toEqual({});

  await put(`v2/conans/half/1.0/_/_/revisions/${ONE}/files/conanfile.py`, 'recipe');
  expect((await get('v2/conans/search?q=half')).body).toEqual({ results: [] });
  expect((await get('v2/conans/half/1.0/_/_/latest')).status).toBe(404);
});

test('nothing comes of a question without the bytes, and a file that is there makes way', async () => {
  const files = `${STONE}/revisions/${ONE}/files`;
  const asked = await put(`${files}/conanfile.py`, '', {
    ...bearer(team.developer),
    'x-checksum-deploy': 'true',
  });
  expect(asked).toMatchObject({ status: 200, text: '' });
  expect(await packages()).toEqual([]);
  await publishRecipe(ONE);
  await publishRecipe(TWO);
  const published = await put(`${files}/conanfile.py`, 'other');
  expect(published.body).toMatchObject({ file_name: 'conanfile.py', size: 5 });
  expect((await get(`${files}/conanfile.py`)).text).toBe('other');
  const [{ id }] = (await packages()) as [{ id: number }];
  const listed = bodyOf(
    await app.as(team.reporter.token)(`GET /projects/${project.id}/packages/${id}/package_files`),
    200,
  );
  expect(listed).toHaveLength(4);
  // A revision whose manifest comes again is the newest.
  expect((await get(`${STONE}/latest`)).body).toMatchObject({ revision: TWO });
  await put(`${files}/conanmanifest.txt`, 'again');
  expect((await get(`${STONE}/latest`)).body).toMatchObject({ revision: ONE });
  // A program takes no revision with an archive in two compressions.
  await put(`${files}/conan_sources.tgz`, 'one');
  await put(`${files}/conan_sources.txz`, 'two');
  await put(`${files}/metadata/logs/a%20b.log`, 'three');
  expect(Object.keys((await get(`${files}`)).body.files)).toEqual([
    'conan_sources.txz',
    'conanfile.py',
    'conanmanifest.txt',
    'metadata/logs/a b.log',
  ]);
  expect((await get(`${files}/metadata/logs/a%20b.log`)).text).toBe('three');
});

test('one revision that two programs send at once has each file once', async () => {
  await Promise.all([1, 2, 3, 4].map(() => publishRecipe(ONE)));
  expect((await get(`${STONE}/revisions`)).body.revisions).toHaveLength(1);
  const [{ id }, ...others] = (await packages()) as [{ id: number }];
  expect(others).toEqual([]);
  const listed = bodyOf(
    await app.as(team.reporter.token)(`GET /projects/${project.id}/packages/${id}/package_files`),
    200,
  );
  expect(listed).toHaveLength(2);
});

test('what is sent must be as it says', async () => {
  const files = `${STONE}/revisions/${ONE}/files`;
  const problem = async (path: string, body: string, headers: Headers = {}) => {
    const answered = await put(path, body, { ...bearer(team.developer), ...headers });
    expect(answered.status).toBe(400);
    return answered.body.message;
  };
  const sum = createHash('sha1').update('other').digest('hex');
  expect(await problem(`${files}/conanfile.py`, 'this', { 'x-checksum-sha1': sum })).toContain(
    'X-Checksum-Sha1',
  );
  expect(await problem(`${files}/other.py`, 'x')).toContain('file_name');
  expect(await problem(`${files}/metadata/..%2Fconanfile.py`, 'x')).toContain('file_name');
  expect(await problem(`${STONE}/revisions/0/files/conanfile.py`, 'x')).toContain('recipe_revision');
  expect(await problem(`v2/conans/-stone/1.0/_/_/revisions/${ONE}/files/conanfile.py`, 'x')).toContain(
    'package_name',
  );
  expect(await packages()).toEqual([]);
  expect(
    (await put(`${files}/conanfile.py`, 'other', { ...bearer(team.developer), 'x-checksum-sha1': sum }))
      .status,
  ).toBe(200);
  await publishRecipe(ONE);
  const made = `${STONE}/revisions/${ONE}/packages/aa/revisions/${TWO}/files`;
  expect(await problem(`${made}/conaninfo.txt`, 'x'.repeat(65_537))).toContain('longer than 65536');
  expect(await problem(`${made}/conaninfo.txt`, '[settings]\nos=\0')).toContain('no text');
});

test('recipes are found by their references, and those of one name by user and channel', async () => {
  for (const at of ['stone/1.0/_/_', 'stone/1.0/quarry/stable', 'stone/2.0/quarry/beta', 'Slate_1/1.0/_/_'])
    await publishRecipe(ONE, `v2/conans/${at}`);
  const find = async (query: string) => (await get(`v2/conans/search${query}`)).body.results;
  const all = ['Slate_1/1.0@_/_', 'stone/1.0@_/_', 'stone/1.0@quarry/stable', 'stone/2.0@quarry/beta'];
  expect(await find('')).toEqual(all);
  expect(await find('?q=*')).toEqual(all);
  expect(await find('?q=stone')).toEqual(all.slice(1));
  expect(await find('?q=STONE')).toEqual(all.slice(1));
  expect(await find('?q=STONE&ignorecase=False')).toEqual([]);
  expect(await find('?q=stone/1*')).toEqual(all.slice(1, 3));
  expect(await find('?q=stone/1.0@quarry')).toEqual([all[2]]);
  expect(await find('?q=*@quarry/*')).toEqual(all.slice(2));
  expect(await find('?q=slate_?')).toEqual([all[0]]);
  // Neither is a sign for anything else.
  expect(await find('?q=ston_')).toEqual([]);
  expect(await find('?q=s%25')).toEqual([]);
  expect((await get(`v2/conans/search?q=${'a'.repeat(600)}`)).status).toBe(400);
  expect(await packages()).toHaveLength(4);
});

test('parts are removed, and with the last one the package', async () => {
  await publishRecipe(ONE);
  await publishRecipe(TWO);
  await publishPackage(ONE, 'aa', ONE);
  await publishPackage(ONE, 'aa', TWO);
  await publishPackage(ONE, 'bb', ONE);
  await publishPackage(ONE, 'cc', ONE);
  const recipe = `${STONE}/revisions/${ONE}`;
  const found = async () => Object.keys((await get(`${recipe}/search`)).body);
  for (const path of [STONE, recipe, `${recipe}/packages`, `${recipe}/packages/aa`])
    expect((await remove(path, bearer(team.developer))).status).toBe(403);
  const late = { ...bearer(team.maintainer), 'if-unmodified-since': 'Sat, 01 Jan 2000 00:00:00 GMT' };
  expect((await remove(recipe, late)).status).toBe(412);

  expect((await remove(`${recipe}/packages/aa/revisions/${TWO}`)).status).toBe(200);
  expect((await get(`${recipe}/packages/aa/latest`)).body).toMatchObject({ revision: ONE });
  expect((await remove(`${recipe}/packages/aa/revisions/${TWO}`)).status).toBe(404);
  expect((await remove(`${recipe}/packages/aa`)).status).toBe(200);
  expect((await remove(`${recipe}/packages/aa`)).status).toBe(404);
  expect(await found()).toEqual(['bb', 'cc']);
  expect((await remove(`${recipe}/packages`)).status).toBe(200);
  expect(await found()).toEqual([]);
  // Programs remove them without a look whether there are any.
  expect((await remove(`${recipe}/packages`)).status).toBe(200);
  expect((await remove(`${STONE}/revisions/${THREE}/packages`)).status).toBe(404);

  await publishPackage(ONE, 'bb', ONE);
  expect((await remove(recipe)).status).toBe(200);
  expect((await get(`${STONE}/revisions`)).body.revisions).toMatchObject([{ revision: TWO }]);
  expect((await get(`${recipe}/packages/bb/latest`)).status).toBe(404);
  const [{ id }] = (await packages()) as [{ id: number }];
  const files = `/projects/${project.id}/packages/${id}/package_files`;
  expect(bodyOf(await app.as(team.reporter.token)(`GET ${files}`), 200)).toHaveLength(2);
  expect((await remove(`${STONE}/revisions/${TWO}`)).status).toBe(200);
  expect(await packages()).toEqual([]);
  expect((await remove(STONE)).status).toBe(404);
  await publishRecipe(ONE);
  expect((await remove(STONE)).status).toBe(200);
  expect(await packages()).toEqual([]);
});

test('by the records a file goes, and the revision is whole no more; rules protect names', async () => {
  await publishRecipe(ONE);
  await publishRecipe(TWO);
  const [{ id }] = (await packages()) as [{ id: number }];
  const files = `/projects/${project.id}/packages/${id}/package_files`;
  const listed = bodyOf(await app.as(team.maintainer.token)(`GET ${files}`), 200) as unknown as {
    id: number;
  }[];
  bodyOf(await app.as(team.maintainer.token)(`DELETE ${files}/${listed.at(-1)?.id}`), 204);
  expect((await get(`${STONE}/latest`)).body).toMatchObject({ revision: ONE });

  const rule = {
    package_name_pattern: 'stone',
    package_type: 'conan',
    minimum_access_level_for_push: 'maintainer',
    minimum_access_level_for_delete: 'owner',
  };
  bodyOf(
    await app.as(team.maintainer.token)(`POST /projects/${project.id}/packages/protection/rules`, {
      body: rule,
    }),
    201,
  );
  const file = `${STONE}/revisions/${THREE}/files/conanfile.py`;
  expect(await put(file, 'x')).toMatchObject({ status: 403, body: { message: 'Package protected.' } });
  expect((await put(file, 'x', bearer(team.maintainer))).status).toBe(200);
  for (const path of [STONE, `${STONE}/revisions/${ONE}`, `${STONE}/revisions/${ONE}/packages`])
    expect((await remove(path)).status).toBe(403);
  bodyOf(await app.root(`DELETE /projects/${project.id}/packages/${id}`), 204);
  expect((await get(`${STONE}/latest`)).status).toBe(404);
});

test('the token that the server issues stands for that of the caller, for an hour', async () => {
  const issue = async (headers: Headers, at = 'v2/users/authenticate') => {
    const { status, text, headers: sent } = await get(at, headers);
    expect(status).toBe(200);
    expect(sent.get('cache-control')).toBe('no-store');
    return { authorization: `Bearer ${text}` };
  };
  const pass = await issue(basic('any', team.developer.token));
  expect(pass.authorization.split('.')).toHaveLength(3);
  expect(pass.authorization).not.toContain(team.developer.token);
  expect((await get('v2/users/check_credentials', pass)).text).toBe('ok');
  await publishRecipe(ONE, STONE, pass as never);
  expect((await get(`${STONE}/latest`, pass)).status).toBe(200);
  expect((await remove(STONE, pass)).status).toBe(403);

  const made = await app.as(team.maintainer.token)(`POST /projects/${project.id}/deploy_tokens`, {
    body: { name: 'd', scopes: ['read_package_registry'] },
  });
  const deploy = bodyOf(made, 201) as unknown as { id: number; username: string; token: string };
  const ofDeploy = await issue(basic(deploy.username, deploy.token), 'v1/users/authenticate');
  expect((await get(`${STONE}/latest`, ofDeploy)).status).toBe(200);
  expect((await put(`${STONE}/revisions/${TWO}/files/conanfile.py`, 'x', ofDeploy)).status).toBe(403);
  // What ends the token ends what stands for it.
  bodyOf(
    await app.as(team.maintainer.token)(`DELETE /projects/${project.id}/deploy_tokens/${deploy.id}`),
    204,
  );
  expect((await get(`${STONE}/latest`, ofDeploy)).status).toBe(401);

  for (const headers of [{}, basic('any', 'wrong'), { authorization: `${pass.authorization}x` }])
    for (const at of ['v1/users/authenticate', 'v2/users/authenticate', 'v2/users/check_credentials'])
      expect((await get(at, headers)).status).toBe(401);
  expect((await get('/packages/conan/v1/users/check_credentials', {})).status).toBe(401);
  expect((await get('/packages/conan/v1/users/check_credentials', pass)).text).toBe('ok');
  // It is nothing to the rest of the API.
  expect((await get('/user', pass)).status).toBe(401);
  // Programs of other formats have none.
  expect((await get(`/projects/${team.project.id}/packages/generic/a/1/b`, pass)).status).toBe(401);

  const restore = moveClock(3_601_000);
  try {
    expect((await get(`${STONE}/latest`, pass)).status).toBe(401);
  } finally {
    restore();
  }
});

test('who reads and publishes', async () => {
  await publishRecipe(ONE);
  const paths = [
    `${STONE}/latest`,
    `${STONE}/revisions/${ONE}/files/conanfile.py`,
    'v2/conans/search',
    'v1/conans/search',
  ];
  for (const path of paths) {
    expect((await get(path, own(team.reporter))).status).toBe(200);
    expect((await get(path, {})).status).toBe(401);
    expect((await get(path, own(team.guest))).status).toBe(403);
  }
  for (const [headers, status] of [
    [{}, 401],
    [own(team.reporter), 403],
  ] as const)
    expect((await put(`${STONE}/revisions/${TWO}/files/conanfile.py`, 'x', headers)).status).toBe(status);
  const ping = await get('v1/ping', {});
  expect(ping.status).toBe(200);
  expect(ping.headers.get('x-conan-server-capabilities')).toBe('revisions');
  expect((await get('/packages/conan/v1/ping', {})).headers.get('x-conan-server-capabilities')).toBe('');
  await openToAll(app, team);
  for (const path of paths) expect((await get(path, {})).status).toBe(200);
});

test.each(['gitlab-ci-token', 'ci_user'])(
  'a job publishes as %s, and its pipeline is known',
  async (username) => {
    const runner = await makeRunner(app, project);
    await startPipeline(app, project, team.maintainer, 'build: { script: ["true"] }');
    const { token } = await runner.take();
    const { status, text } = await get('v2/users/authenticate', basic(username, token));
    expect(status).toBe(200);
    await publishRecipe(ONE, STONE, { authorization: `Bearer ${text}` });
    expect(bodyOf(await app.root(`GET /projects/${project.id}/packages`), 200)).toMatchObject([
      { name: 'stone/1.0@_/_', pipelines: [{ ref: 'main' }] },
    ]);
  },
);

test.each(['project', 'instance'] as const)('without revisions, of a %s', async (level) => {
  const user = project.path_with_namespace.replaceAll('/', '+');
  const at = level === 'project' ? 'v1' : '/packages/conan/v1';
  const stone = `${at}/conans/stone/1.0/${user}/stable`;
  const base = level === 'project' ? `${root()}/v1` : `${app.url}/api/v4/packages/conan/v1`;
  const recipe = `${base}/files/stone/1.0/${user}/stable/0/export`;
  const made = `${base}/files/stone/1.0/${user}/stable/0/package/aa/0`;
  const contents: Record<string, string> = { 'conanfile.py': 'recipe', 'conanmanifest.txt': 'manifest' };
  const asked = await call(
    'POST',
    `${stone}/upload_urls`,
    bearer(team.developer),
    '{"conanfile.py": 6, "conanmanifest.txt": 8}',
  );
  expect(asked).toMatchObject({
    status: 200,
    body: { 'conanfile.py': `${recipe}/conanfile.py`, 'conanmanifest.txt': `${recipe}/conanmanifest.txt` },
  });
  const send = async (addresses: Record<string, string>, of: Record<string, string>) => {
    for (const [name, address] of Object.entries(addresses)) {
      const response = await fetch(address, {
        method: 'PUT',
        headers: bearer(team.developer),
        body: of[name] ?? '',
      });
      expect(response.status).toBe(200);
    }
  };
  await send(asked.body, contents);
  const binary: Record<string, string> = {
    'conan_package.tgz': 'bytes',
    'conaninfo.txt': '[settings]\nos=Linux\n[requires]\nslate/1.Y\n[recipe_hash]\nabc\n',
    'conanmanifest.txt': 'm',
  };
  const sizes = JSON.stringify(Object.fromEntries(Object.keys(binary).map((name) => [name, 1])));
  const forPackage = await call('POST', `${stone}/packages/aa/upload_urls`, bearer(team.developer), sizes);
  expect(forPackage.body['conaninfo.txt']).toBe(`${made}/conaninfo.txt`);
  await send(forPackage.body, binary);

  const md5 = (text = '') => createHash('md5').update(text).digest('hex');
  expect((await get(stone)).body).toEqual({
    'conanfile.py': md5('recipe'),
    'conanmanifest.txt': md5('manifest'),
  });
  expect((await get(`${stone}/packages/aa`)).body).toMatchObject({ 'conan_package.tgz': md5('bytes') });
  for (const what of ['digest', 'download_urls']) {
    const { body } = await get(`${stone}/${what}`);
    expect(body['conanfile.py']).toBe(`${recipe}/conanfile.py`);
    const fetched = await fetch(body['conanfile.py'], { headers: bearer(team.reporter) });
    expect(await fetched.text()).toBe('recipe');
    const ofPackage = (await get(`${stone}/packages/aa/${what}`)).body['conan_package.tgz'];
    expect(await (await fetch(ofPackage, { headers: bearer(team.reporter) })).text()).toBe('bytes');
  }
  expect((await get(`${stone}/search`)).body).toEqual({
    aa: { settings: { os: 'Linux' }, options: {}, requires: { 'slate/1.Y': null }, recipe_hash: 'abc' },
  });
  expect((await get('v1/conans/search?q=stone*')).body.results).toEqual([`stone/1.0@${user}/stable`]);
  expect((await get('v2/conans/search?q=stone*')).body.results).toEqual([]);
  const wrong = await call('POST', `${stone}/upload_urls`, bearer(team.developer), '{"../conanfile.py": 6}');
  expect(wrong.status).toBe(400);
  expect((await call('POST', `${stone}/upload_urls`, bearer(team.reporter), '{}')).status).toBe(403);
  expect((await get(stone, {})).status).toBe(401);
  expect((await get(stone, own(team.guest))).status).toBe(403);
  expect((await put(`${at}/files/stone/1.0/${user}/stable/${ONE}/export/conanfile.py`, 'x')).status).toBe(
    400,
  );
  if (level === 'instance')
    expect((await get('/packages/conan/v1/conans/stone/1.0/nobody+here/stable')).status).toBe(404);
  expect((await remove(stone, bearer(team.developer))).status).toBe(403);
  expect((await remove(stone)).body).toMatchObject({ name: 'stone', version: '1.0', package_type: 'conan' });
  expect((await get(stone)).status).toBe(404);
});

test('recipes of all projects are found at the address of the instance, by what the caller reads', async () => {
  const other = await makeTeam(app);
  const userOf = (of: Team) => of.project.path_with_namespace.replaceAll('/', '+');
  const publish = async (of: Team, name: string, user = userOf(of)) => {
    for (const file of ['conanfile.py', 'conanmanifest.txt']) {
      const at = `/projects/${of.project.id}/packages/conan/v1/files/${name}/1.0/${user}/stable/0/export/${file}`;
      expect((await put(at, file, bearer(of.developer))).status).toBe(200);
    }
  };
  await publish(team, 'stone');
  await publish(team, 'slate');
  // What cannot be fetched there is not found there.
  await publish(team, 'stone', 'somebody');
  await publish(other, 'stone');
  await put(
    `/projects/${project.id}/packages/conan/v1/files/half/1.0/${userOf(team)}/stable/0/export/conanfile.py`,
    'x',
  );
  await publishRecipe(ONE, `v2/conans/stone/2.0/${userOf(team)}/stable`);
  const [ours, theirs] = [team, other].map((of) => `stone/1.0@${userOf(of)}/stable`);
  const find = async (query: string, headers?: Headers) => {
    const { status, body } = await get(`/packages/conan/v1/conans/search${query}`, headers);
    expect(status).toBe(200);
    return body.results;
  };
  expect(await find('?q=stone*')).toEqual([ours]);
  expect(await find('?q=stone*', bearer(other.reporter))).toEqual([theirs]);
  expect(await find('?q=stone*', own({ token: ROOT_TOKEN }))).toEqual([ours, theirs].sort());
  expect(await find('')).toEqual([`slate/1.0@${userOf(team)}/stable`, ours]);
  expect(await find(`?q=${encodeURIComponent(ours ?? '')}`)).toEqual([ours]);
  for (const headers of [{}, own(team.guest)]) expect(await find('?q=stone*', headers)).toEqual([]);
  const made = await app.root(`POST /projects/${project.id}/deploy_tokens`, {
    body: { name: 'd', scopes: ['read_package_registry'] },
  });
  const deploy = bodyOf(made, 201) as unknown as { username: string; token: string };
  expect(await find('?q=stone*', basic(deploy.username, deploy.token))).toEqual([ours]);
  await openToAll(app, other);
  expect(await find('?q=stone*', {})).toEqual([theirs]);
  expect(await find('?q=stone*')).toEqual([ours, theirs].sort());
  expect((await get(`/packages/conan/v1/conans/search?q=${'a'.repeat(600)}`)).status).toBe(400);
});
