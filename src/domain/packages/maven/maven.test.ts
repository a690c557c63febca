/** Packages of Maven as its programs publish and fetch them at each level, and what deleting a version leaves. */
import { createHash } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers, makeProject } from '../../../../test/support/factories.ts';
import { type Headers, makeTeam, own, type Team } from '../../../../test/support/packages.ts';

const app: TestApp = useApp();
let { group, project, maintainer, developer, reporter, guest } = {} as Team;

beforeEach(async () => {
  ({ group, project, maintainer, developer, reporter, guest } = await makeTeam(app));
});

const ofProject = () => `/projects/${project.id}/packages/maven`;
const ofGroup = () => `/groups/${group.id}/-/packages/maven`;
const ofInstance = '/packages/maven';

async function send(method: string, path: string, headers: Headers, body?: string) {
  const options = { method, headers, ...(body !== undefined && { body }) };
  const response = await fetch(`${app.url}/api/v4${path}`, options);
  return { status: response.status, headers: response.headers, text: await response.text() };
}
const put = (path: string, content: string, headers = own(developer)) =>
  send('PUT', `${ofProject()}/${path}`, headers, content);
const get = (place: string, path: string, headers = own(reporter)) =>
  send('GET', `${place}/${path}`, headers);

const digestOf = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('hex');

const metadata = (name: string, ...versions: string[]) =>
  `<metadata><groupId>g</groupId><artifactId>${name}</artifactId><versioning><release>${versions.at(-1)}</release><versions>${versions
    .map((version) => `<version>${version}</version>`)
    .join('')}</versions></versioning></metadata>`;

const packages = async (query = '') =>
  bodyOf(await app.as(maintainer.token)(`GET /projects/${project.id}/packages${query}`), 200) as unknown as {
    id: number;
    name: string;
    version: string | null;
  }[];

test('a deployment is there at the levels of the project, the group and the instance', async () => {
  const name = project.path_with_namespace;
  const jar = `${name}/1.0/app-1.0.jar`;
  expect(await put(jar, 'granite')).toMatchObject({ status: 200, text: '' });
  const sha1 = digestOf('sha1', 'granite');
  expect((await put(`${jar}.sha1`, sha1)).status).toBe(204);
  expect((await put(`${jar}.sha1`, digestOf('sha1', 'slate'))).status).toBe(409);
  expect((await put(`${jar}.sha1`, 'x'.repeat(2_000))).status).toBe(413);
  expect(await put(`${jar}.md5`, 'whatever')).toMatchObject({ status: 200, text: '' });
  expect((await put(`${name}/1.1/app-1.1.jar.sha1`, sha1)).status).toBe(404);
  expect((await put(`${name}/maven-metadata.xml`, metadata('app', '1.0'))).status).toBe(200);
  for (const place of [ofProject(), ofGroup(), ofInstance]) {
    const fetched = await get(place, jar);
    expect(fetched).toMatchObject({ status: 200, text: 'granite' });
    expect(await get(place, `${jar}.sha1`)).toMatchObject({ status: 200, text: sha1 });
    const md5 = await get(place, `${jar}.md5`);
    expect(md5).toMatchObject({ status: 200, text: digestOf('md5', 'granite') });
    expect(md5.headers.get('content-type')).toBe('text/plain');
    const head = await send('HEAD', `${place}/${jar}`, own(reporter));
    expect(head).toMatchObject({ status: 200, text: '' });
    expect(head.headers.get('content-length')).toBe('7');
    expect((await get(place, `${name}/maven-metadata.xml`)).text).toBe(metadata('app', '1.0'));
    expect(await get(place, `${name}/1.0/other.jar`)).toMatchObject({
      status: 404,
      text: '{"message":"404 Package Not Found"}',
    });
  }
  expect(await packages()).toMatchObject([{ name, version: '1.0' }]);
  expect(await packages('?include_versionless=true')).toMatchObject([{ version: '1.0' }, { version: null }]);
});

test('the instance has what begins with the path of its project, and no more', async () => {
  await put('com/acme/app/1.0/app-1.0.jar', 'granite');
  expect((await get(ofGroup(), 'com/acme/app/1.0/app-1.0.jar')).status).toBe(200);
  expect((await get(ofInstance, 'com/acme/app/1.0/app-1.0.jar')).status).toBe(404);
  const below = `${project.path_with_namespace}/core/1.0/core-1.0.jar`;
  await put(below, 'slate');
  expect(await get(ofInstance, below)).toMatchObject({ status: 200, text: 'slate' });
  expect((await get(ofInstance, `${project.path_with_namespace}s/core/1.0/core-1.0.jar`)).status).toBe(404);
});

test('snapshots, and the newest file of a name', async () => {
  const folder = 'com/acme/app/1-SNAPSHOT';
  await put(`${folder}/app-1-20241128.010203-1.jar`, 'one');
  await put(`${folder}/maven-metadata.xml`, 'first');
  await put(`${folder}/maven-metadata.xml`, 'second');
  expect((await get(ofProject(), `${folder}/maven-metadata.xml`)).text).toBe('second');
  expect((await get(ofGroup(), `${folder}/maven-metadata.xml.sha1`)).text).toBe(digestOf('sha1', 'second'));
  expect(await packages('?include_versionless=true')).toMatchObject([{ version: '1-SNAPSHOT' }]);
});

test('of several projects of a group the newest package counts', async () => {
  const path = 'com/acme/app/1.0/app-1.0.jar';
  await put(path, 'older');
  const other = await makeProject(app, { visibility: 'private', namespace_id: group.id });
  const { developer: theirs } = await makeMembers(app, `projects/${other.id}`, 'developer');
  await send('PUT', `/projects/${other.id}/packages/maven/${path}`, own(theirs), 'newer');
  const { reporter: ofBoth } = await makeMembers(app, `groups/${group.id}`, 'reporter');
  expect((await get(ofGroup(), path, own(ofBoth))).text).toBe('newer');
  // Who does not read the other project has its own.
  expect((await get(ofGroup(), path)).text).toBe('older');
});

test('who fetches and publishes', async () => {
  const path = `${project.path_with_namespace}/1.0/app-1.0.jar`;
  await put(path, 'granite');
  const made = await app.root(`POST /groups/${group.id}/deploy_tokens`, {
    body: { name: 'd', scopes: ['read_package_registry'] },
  });
  const token = { 'deploy-token': String((bodyOf(made, 201) as { token: string }).token) };
  for (const place of [ofProject(), ofGroup(), ofInstance]) {
    expect((await get(place, path, token)).status).toBe(200);
    const anonymous = await get(place, path, {});
    expect(anonymous.status).toBe(401);
    expect(anonymous.headers.get('www-authenticate')).toBe('Basic realm="GitLab Packages Registry"');
    expect((await get(place, path, own(guest))).status).toBe(place === ofGroup() ? 404 : 403);
  }
  expect((await put(path, 'x', token)).status).toBe(403);
  expect((await put(path, 'x', own(reporter))).status).toBe(403);
  expect((await put(path, 'x', {})).status).toBe(401);
  for (const at of [`groups/${group.id}`, `projects/${project.id}`])
    bodyOf(await app.root(`PUT /${at}`, { body: { visibility: 'public' } }), 200);
  for (const place of [ofProject(), ofGroup(), ofInstance])
    expect((await get(place, path, {})).status).toBe(200);
  // What is missing may be in a project that the caller reads with a credential.
  expect((await get(ofGroup(), 'com/acme/b/1.0/b.jar', {})).status).toBe(401);
});

test('the token of a job publishes and fetches in its own project', async () => {
  const { sql } = app.app.services.database;
  const digest = createHash('sha256').update('glcbt-of-the-test').digest();
  await sql`insert into access_tokens (kind, digest, user_id, project_id, name, scopes, created_at, updated_at)
    select 'job', ${digest}, id, ${project.id}, 'job', '{}', now(), now() from users where username = ${developer.username}`;
  const job = { 'job-token': 'glcbt-of-the-test' };
  const path = 'com/acme/app/1.0/app-1.0.jar';
  expect((await put(path, 'granite', job)).status).toBe(200);
  for (const place of [ofProject(), ofGroup()]) expect((await get(place, path, job)).status).toBe(200);
});

test('a protected name is for those whom its rule lets', async () => {
  const rule = {
    package_name_pattern: 'com/acme/*',
    package_type: 'maven',
    minimum_access_level_for_push: 'maintainer',
  };
  const rules = `POST /projects/${project.id}/packages/protection/rules`;
  bodyOf(await app.as(maintainer.token)(rules, { body: rule }), 201);
  expect((await put('com/acme/app/1.0/app.jar', 'x')).status).toBe(403);
  expect((await put('com/acme/app/1.0/app.jar', 'x', own(maintainer))).status).toBe(200);
});

test.each([
  'com/..%2F..%2Fetc/1.0/app.jar',
  'com/acme/1.0/..%2Fapp.jar',
  'app.jar',
  'com/%D0%B0pp/1.0/a.jar',
])('%s is refused', async (path) => {
  expect((await put(path, 'x')).status).toBe(400);
  expect((await get(ofProject(), path)).status).toBe(400);
});

test('a deleted version is gone from the metadata and from that of the plugins of its group', async () => {
  for (const version of ['1.0', '1.1']) await put(`com/acme/app/${version}/app-${version}.jar`, version);
  await put('com/acme/app/maven-metadata.xml', metadata('app', '1.0', '1.1'));
  await put('com/acme/app/maven-metadata.xml.sha256', 'of before');
  const plugin = (name: string) =>
    `<plugin><prefix>${name}</prefix><artifactId>${name}</artifactId></plugin>`;
  await put('com/acme/tool/1/tool.jar', 'x');
  const plugins = `<metadata><plugins>${plugin('app')}${plugin('tool')}</plugins></metadata>`;
  await put('com/acme/maven-metadata.xml', plugins);
  const remove = async (version: string) => {
    const row = (await packages()).find((each) => each.name === 'com/acme/app' && each.version === version);
    expect(
      (await app.as(maintainer.token)(`DELETE /projects/${project.id}/packages/${row?.id}`)).status,
    ).toBe(204);
  };
  const path = 'com/acme/app/maven-metadata.xml';
  await remove('1.1');
  const { text } = await get(ofProject(), path);
  expect(text).toContain('<release>1.0</release>');
  expect(text).not.toContain('1.1');
  for (const algorithm of ['md5', 'sha1', 'sha256', 'sha512'])
    expect((await get(ofProject(), `${path}.${algorithm}`)).text).toBe(digestOf(algorithm, text));
  expect((await get(ofProject(), 'com/acme/maven-metadata.xml')).text).toBe(plugins);
  await remove('1.0');
  expect((await get(ofProject(), path)).status).toBe(404);
  const left = await get(ofProject(), 'com/acme/maven-metadata.xml');
  expect(left.text).toContain('<artifactId>tool</artifactId>');
  expect(left.text).not.toContain('app');
});

test('metadata that is none stays as it is', async () => {
  await put('com/acme/app/1.0/app-1.0.jar', 'x');
  await put('com/acme/app/maven-metadata.xml', '<metadata><versioning>');
  const [row] = await packages();
  expect((await app.as(maintainer.token)(`DELETE /projects/${project.id}/packages/${row?.id}`)).status).toBe(
    204,
  );
  expect((await get(ofProject(), 'com/acme/app/maven-metadata.xml')).text).toBe('<metadata><versioning>');
});

test('a group says which versions come once', async () => {
  bodyOf(await app.root(`PUT /groups/${group.id}`, { body: { maven_duplicates_allowed: false } }), 200);
  const jar = 'com/acme/app/1.0/app-1.0.jar';
  expect((await put(jar, 'granite')).status).toBe(200);
  expect(await put(jar, 'slate')).toMatchObject({
    status: 400,
    text: '{"message":"Duplicate package is not allowed"}',
  });
  expect((await get(ofProject(), jar)).text).toBe('granite');
  // What else belongs to the deployment comes, and its digests are compared.
  for (const more of ['app-1.0-sources.jar', 'app-1.0.pom', 'app-1.0.jar.asc', 'app-1.0.pom.asc'])
    expect((await put(`com/acme/app/1.0/${more}`, more)).status).toBe(200);
  expect((await put(`${jar}.sha1`, digestOf('sha1', 'granite'))).status).toBe(204);
  const folder = 'com/acme/app/1-SNAPSHOT';
  expect((await put(`${folder}/app-1-20241128.010203-1.jar`, 'one')).status).toBe(200);
  expect((await put(`${folder}/app-1-20241128.010204-2.jar`, 'two')).status).toBe(400);
  for (const place of ['com/acme/app', folder])
    for (const content of ['first', 'second'])
      expect((await put(`${place}/maven-metadata.xml`, content)).status).toBe(200);
});
