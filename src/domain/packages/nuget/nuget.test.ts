/** NuGet packages as programs publish, find, fetch and delete them. */
import { beforeEach, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import { bodyOf } from '../../../../test/support/factories.ts';
import {
  basic,
  type Headers,
  makeTeam,
  openToAll,
  own,
  type Team,
} from '../../../../test/support/packages.ts';
import { zipOf } from '../../../../test/support/zip.ts';

const app: TestApp = useApp();
let { group, project, maintainer, developer, reporter, guest } = {} as Team;

beforeEach(async () => {
  ({ group, project, maintainer, developer, reporter, guest } = await makeTeam(app));
});

const api = () => `${app.url}/api/v4`;
const ofProject = () => `${api()}/projects/${project.id}/packages/nuget`;
const ofGroup = () => `${api()}/groups/${group.id}/-/packages/nuget`;

const archive = (id: string, version: string, more = '', file = `${id}.nuspec`): Buffer =>
  zipOf(
    { name: 'lib/net45/a.dll', content: 'bytes' },
    {
      name: file,
      content: `<?xml version="1.0"?><package><metadata><id>${id}</id><version>${version}</version>
<authors>Ann</authors><description>dark</description>${more}</metadata></package>`,
    },
  );

async function publish(
  content: Buffer,
  headers: Headers = { 'x-nuget-apikey': developer.token },
  path = '',
  field = 'package',
) {
  const form = new FormData();
  form.set(field, new Blob([new Uint8Array(content)]), 'package.nupkg');
  const response = await fetch(`${ofProject()}${path}`, { method: 'PUT', headers, body: form });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

async function get(url: string, headers: Headers = basic('any', reporter.token)) {
  const response = await fetch(url, { headers });
  const content = Buffer.from(await response.arrayBuffer());
  const type = response.headers.get('content-type') ?? '';
  const body = type.includes('json') && content.length > 0 ? JSON.parse(content.toString()) : undefined;
  return { status: response.status, type, content, body };
}

test('the services of a registry are told to everybody, and nothing of what is in it', async () => {
  const types = (body: { resources: { '@type': string }[] }) => body.resources.map((each) => each['@type']);
  const index = await get(`${ofProject()}/index.json`, {});
  expect(index.body).toMatchObject({ version: '3.0.0' });
  expect(index.body.resources).toContainEqual({
    '@id': `${ofProject()}/download`,
    '@type': 'PackageBaseAddress/3.0.0',
    comment: expect.any(String),
  });
  expect(types((await get(`${ofGroup()}/index.json`, {})).body)).not.toContain('PackagePublish/2.0.0');
  const missing = await get(`${api()}/projects/123456789/packages/nuget/index.json`, {});
  expect(types(missing.body)).toEqual(types(index.body));
});

test('a package is published, found and fetched', async () => {
  const more = '<tags>a b</tags><dependencies><dependency id="Slate" version="1.0" /></dependencies>';
  const content = archive('Acme.Stone', '1.0', more);
  expect(await publish(content)).toEqual({ status: 201, body: { message: '201 Created' } });
  expect((await publish(archive('Acme.Stone', '1.10.0'), own(developer), '/v2')).status).toBe(201);
  expect((await publish(archive('Acme.Stone', '2.0.0-rc'), basic('any', developer.token))).status).toBe(201);
  for (const base of [ofProject(), ofGroup()]) {
    const { body } = await get(`${base}/metadata/ACME.stone/index.json`);
    expect(body).toMatchObject({
      count: 1,
      items: [{ lower: '1.0.0', upper: '2.0.0-rc', count: 3 }],
    });
    const one = await get(`${base}/metadata/acme.stone/1.0.json`);
    expect(one.body).toMatchObject({
      '@id': `${base}/metadata/acme.stone/1.0.0.json`,
      packageContent: `${ofProject()}/download/acme.stone/1.0.0/acme.stone.1.0.0.nupkg`,
      catalogEntry: {
        id: 'Acme.Stone',
        version: '1.0.0',
        authors: 'Ann',
        tags: 'a b',
        dependencyGroups: [{ dependencies: [{ id: 'Slate', range: '1.0' }] }],
      },
    });
    expect((await get(one.body.packageContent)).content).toEqual(content);
    const found = (query: string) => get(`${base}/query?${query}`).then((answer) => answer.body);
    expect(await found('q=STONE')).toMatchObject({
      totalHits: 1,
      data: [{ id: 'Acme.Stone', version: '2.0.0-rc', versions: [{}, {}, {}] }],
    });
    expect(await found('q=stone&prerelease=false')).toMatchObject({ data: [{ version: '1.10.0' }] });
    expect(await found('q=')).toMatchObject({ totalHits: 1 });
    expect(await found('skip=1&take=1')).toEqual({ totalHits: 1, data: [] });
    expect(await found('q=%25')).toEqual({ totalHits: 0, data: [] });
    expect((await get(`${base}/metadata/other/index.json`)).status).toBe(404);
    expect((await get(`${base}/metadata/acme.stone/9.0.0.json`)).status).toBe(404);
    expect((await get(`${base}/metadata/acme.stone/x.json`)).status).toBe(400);
  }
  const versions = await get(`${ofProject()}/download/acme.stone/index.json`);
  expect(versions.body).toEqual({ versions: ['1.0.0', '1.10.0', '2.0.0-rc'] });
  expect((await get(`${ofProject()}/download/acme.stone/1.0.0/..%2Facme.stone.1.0.0.nupkg`)).status).toBe(
    404,
  );
});

test('the case of letters tells no packages and versions apart', async () => {
  await publish(archive('Acme.Stone', '1.0.0-Beta'));
  const newer = archive('acme.STONE', '1.0.0-beta', '<summary>new</summary>');
  await publish(newer);
  await publish(archive('ACME.stone', '1.1.0'));
  const listed = bodyOf(await app.as(reporter.token)(`GET /projects/${project.id}/packages`), 200);
  expect(listed).toMatchObject([
    { name: 'Acme.Stone', version: '1.0.0-Beta', package_type: 'nuget' },
    { name: 'Acme.Stone', version: '1.1.0' },
  ]);
  const at = `${ofProject()}/download/acme.stone/1.0.0-BETA/acme.stone.1.0.0-beta.nupkg`;
  expect((await get(at)).content).toEqual(newer);
  bodyOf(
    await app.root(`POST /projects/${project.id}/packages/protection/rules`, {
      body: {
        package_name_pattern: 'Acme.*',
        package_type: 'nuget',
        minimum_access_level_for_push: 'maintainer',
      },
    }),
    201,
  );
  expect(await publish(archive('aCMe.Other', '1.0.0'))).toMatchObject({
    status: 403,
    body: { message: 'Package protected.' },
  });
});

test('symbols come to a version that is there', async () => {
  const symbols = archive('Acme.Stone', '1.0.0');
  expect((await publish(symbols, own(developer), '/symbolpackage')).status).toBe(404);
  await publish(archive('Acme.Stone', '1.0.0', '<tags>kept</tags>'));
  expect((await publish(symbols, own(developer), '/symbolpackage')).status).toBe(201);
  const at = `${ofProject()}/download/acme.stone/1.0.0/acme.stone.1.0.0.snupkg`;
  expect((await get(at)).content).toEqual(symbols);
  expect((await get(`${ofProject()}/metadata/acme.stone/1.0.0.json`)).body.catalogEntry.tags).toBe('kept');
});

test('a version is deleted by its name', async () => {
  await publish(archive('Acme.Stone', '1.0.0'));
  const remove = (path: string, headers: Headers) =>
    fetch(`${ofProject()}/${path}`, { method: 'DELETE', headers }).then(({ status }) => status);
  const key = { 'x-nuget-apikey': maintainer.token };
  expect(await remove('acme.stone/1.0.0', own(developer))).toBe(403);
  expect(await remove('acme.stone/1.0.0', {})).toBe(401);
  expect(await remove('acme.stone/2.0.0', key)).toBe(404);
  expect(await remove('acme.stone/x', key)).toBe(400);
  expect(await remove('acme.STONE/1.0', key)).toBe(204);
  expect((await get(`${ofProject()}/metadata/acme.stone/index.json`)).status).toBe(404);
});

test('what is no package is told, and not kept', async () => {
  const problem = async (content: Buffer, field = 'package') => {
    const { status, body } = await publish(content, own(developer), '', field);
    expect(status).toBe(400);
    return body.message;
  };
  expect(await problem(Buffer.from('granite'))).toContain('the archive cannot be read');
  expect(await problem(zipOf({ name: 'a', content: 'x' }))).toContain('package has no .nuspec');
  expect(await problem(archive('a', '1.0', '', 'folder/a.nuspec'))).toContain('no .nuspec');
  const two = zipOf({ name: 'a.nuspec', content: '' }, { name: 'B.NUSPEC', content: '' });
  expect(await problem(two)).toContain('more than one .nuspec');
  expect(await problem(archive('../a', '1.0', '', 'a.nuspec'))).toContain('id is invalid');
  expect(await problem(archive('a', 'one'))).toContain('version is invalid');
  expect(await problem(zipOf({ name: 'a.nuspec', content: 'x'.repeat(1_048_577) }))).toContain('larger than');
  expect(
    await problem(zipOf({ name: 'a.nuspec', content: 'x'.repeat(5_000_000), claims: { size: 10 } })),
  ).toContain('the archive cannot be read');
  expect(await problem(archive('a', '1.0'), 'other')).toContain('package is missing');
  const listed = bodyOf(await app.as(reporter.token)(`GET /projects/${project.id}/packages`), 200);
  expect(listed).toEqual([]);
});

test('version 2 of the protocol', async () => {
  await publish(archive('Acme.Stone', '1.0.0', '<summary>&lt;b&gt;</summary>'));
  await publish(archive('Acme.Stone', '1.1.0'));
  const text = async (path: string) => {
    const { status, content } = await get(`${ofProject()}/v2${path}`);
    return { status, text: content.toString() };
  };
  expect((await get(`${ofProject()}/v2`)).content.toString()).toContain('<collection href="Packages">');
  expect((await text('/$metadata')).text).toContain('FunctionImport Name="FindPackagesById"');
  const one = await text("/Packages(Id='acme.stone',Version='1.0')");
  expect(one.text).toContain(`src="${ofProject()}/download/acme.stone/1.0.0/acme.stone.1.0.0.nupkg"`);
  expect(one.text).toContain('<d:Summary>&lt;b&gt;</d:Summary>');
  const entries = async (path: string) =>
    (await text(path)).text.match(/<d:Version>[^<]+/g)?.map((each) => each.slice(11));
  expect(await entries("/FindPackagesById()?id='Acme.Stone'")).toEqual(['1.0.0', '1.1.0']);
  expect(await entries("/Packages()?$filter=Id%20eq%20'acme.stone'%20and%20IsLatestVersion")).toEqual([
    '1.1.0',
  ]);
  expect(await entries("/Packages(Id='acme.stone')")).toEqual(['1.1.0']);
  expect(await entries("/FindPackagesById()?id='other'")).toBeUndefined();
  const below = await get(`${ofGroup()}/v2/FindPackagesById()?id='acme.stone'`);
  expect(below.content.toString()).toContain(`src="${ofProject()}/download/`);
  expect((await text("/Packages(Id='acme.stone',Version='9.0')")).status).toBe(404);
  expect((await text('/Packages()')).status).toBe(400);
  expect((await text('/Others')).status).toBe(404);
});

test('who fetches and publishes', async () => {
  await publish(archive('Acme.Stone', '1.0.0'));
  const addresses = [
    `${ofProject()}/query`,
    `${ofProject()}/download/acme.stone/index.json`,
    `${ofProject()}/v2`,
    `${ofProject()}/v2/$metadata`,
    `${ofProject()}/download/acme.stone/1.0.0/acme.stone.1.0.0.nupkg`,
  ];
  const made = await app.root(`POST /groups/${group.id}/deploy_tokens`, {
    body: { name: 'd', scopes: ['read_package_registry'] },
  });
  const deploy = bodyOf(made, 201) as unknown as { username: string; token: string };
  for (const at of [...addresses, `${ofGroup()}/query`]) {
    expect((await get(at, basic(deploy.username, deploy.token))).status).toBe(200);
    expect((await get(at, {})).status).toBe(401);
  }
  for (const at of addresses) expect((await get(at, own(guest))).status).toBe(403);
  expect((await get(`${ofGroup()}/metadata/acme.stone/index.json`, own(guest))).status).toBe(404);
  for (const [headers, status] of [
    [{}, 401],
    [own(reporter), 403],
    [basic(deploy.username, deploy.token), 403],
  ] as const)
    expect((await publish(archive('Acme.Stone', '1.1.0'), headers)).status).toBe(status);
  await openToAll(app, { group, project });
  for (const at of [...addresses, `${ofGroup()}/metadata/acme.stone/index.json`])
    expect((await get(at, {})).status).toBe(200);
});

test('a group says which versions come once, whatever the case of their letters; symbols are none', async () => {
  bodyOf(await app.root(`PUT /groups/${group.id}`, { body: { nuget_duplicates_allowed: false } }), 200);
  const sent = await Promise.all(['Slate', 'SLATE', 'slate'].map((id) => publish(archive(id, '1.0'))));
  expect(sent.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  expect(await publish(archive('slate', '1.0.0'))).toEqual({
    status: 409,
    body: { message: 'A package with the same name and version already exists' },
  });
  const headers = { 'x-nuget-apikey': developer.token };
  for (let time = 0; time < 2; time += 1)
    expect((await publish(archive('slate', '1.0'), headers, '/symbolpackage')).status).toBe(201);
});
