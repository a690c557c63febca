/** Names that are unknown lead to the public registries, where settings say so; those that others keep for themselves do not. */
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeProject } from '../../../../test/support/factories.ts';
import { bearer, type Headers, makeTeam, openToAll, type Team } from '../../../../test/support/packages.ts';

const app: TestApp = useApp();
let { group, project, reporter, guest } = {} as Team;
const formats = ['npm', 'pypi', 'maven'] as const;

const setInstance = async (settings: object) =>
  bodyOf(await app.root('PUT /application/settings', { body: settings }), 200);
const setAll = (value: boolean) =>
  setInstance({
    npm_package_requests_forwarding: value,
    pypi_package_requests_forwarding: value,
    maven_package_requests_forwarding: value,
  });
const setGroup = async (settings: object) =>
  bodyOf(await app.root(`PUT /groups/${group.id}`, { body: settings }), 200);

beforeEach(async () => {
  ({ group, project, reporter, guest } = await makeTeam(app));
});
afterEach(async () => {
  await setAll(false);
  await setInstance({ lock_npm_package_requests_forwarding: false });
});

async function ask(path: string, headers: Headers = bearer(reporter), method = 'GET') {
  const options = { method, headers, redirect: 'manual' as const };
  const response = await fetch(`${app.url}/api/v4${path}`, options);
  return { status: response.status, location: response.headers.get('location') };
}
const ofProject = () => `/projects/${project.id}/packages`;
const ofGroup = () => `/groups/${group.id}/-/packages`;
const jar = 'com/acme/app/1.0/app-1.0.jar';
const addresses = (base: string): [string, string][] => [
  [`${base}/npm/stone`, 'https://registry.npmjs.org/stone'],
  [`${base}/npm/@acme%2Fstone`, 'https://registry.npmjs.org/@acme%2Fstone'],
  [`${base}/pypi/simple/Stone_1`, 'https://pypi.org/simple/stone-1/'],
  [`${base}/maven/${jar}`, `https://repo.maven.apache.org/maven2/${jar}`],
  [`${base}/maven/${jar}.sha1`, `https://repo.maven.apache.org/maven2/${jar}.sha1`],
];

/** A package of the group that the reporter cannot read. */
async function hide(type: string, name: string, status = 'default') {
  const other = await makeProject(app, { namespace_id: group.id });
  await sql`
    insert into packages (project_id, package_type, name, version, status, created_at, updated_at)
    values (${other.id}, ${type}, ${name}, '1.0', ${status}, now(), now())`.execute(
    app.app.services.database.db,
  );
}

test('nothing leads elsewhere unless somebody wants it so', async () => {
  for (const base of [ofProject(), ofGroup()])
    for (const [path] of addresses(base)) expect([path, (await ask(path)).status]).toEqual([path, 404]);
  const audit = `${ofProject()}/npm/-/npm/v1/security/audits/quick`;
  expect((await ask(audit, bearer(reporter), 'POST')).status).toBe(200);
});

test('what is unknown leads to the public registry', async () => {
  await setAll(true);
  for (const base of [ofProject(), ofGroup()])
    for (const [path, location] of addresses(base)) {
      expect(await ask(path)).toEqual({ status: 302, location });
      expect(await ask(path, bearer(reporter), 'HEAD')).toEqual({ status: 302, location });
    }
  expect(await ask('/packages/npm/@nobody%2Fstone')).toEqual({
    status: 302,
    location: 'https://registry.npmjs.org/@nobody%2Fstone',
  });
  // A version of what is known, a tarball, and the tags of a name are asked for here alone.
  await hide('maven', 'com/acme/other');
  for (const path of [
    `${ofGroup()}/maven/com/acme/other/2.0/other-2.0.jar`,
    `${ofProject()}/npm/stone/-/stone-1.0.0.tgz`,
    `${ofProject()}/npm/-/package/stone/dist-tags`,
    `${ofProject()}/pypi/files/${'a'.repeat(64)}/stone-1.0.zip`,
    `${ofProject()}/pypi/simple/-stone`,
  ])
    expect([path, (await ask(path)).status]).toEqual([path, 404]);
});

test('questions about advisories go on with their bodies', async () => {
  await setAll(true);
  for (const base of [ofProject(), ofGroup(), '/packages'])
    for (const path of ['advisories/bulk', 'audits/quick']) {
      const audit = `${base}/npm/-/npm/v1/security/${path}`;
      const location = `https://registry.npmjs.org/-/npm/v1/security/${path}`;
      expect(await ask(audit, bearer(reporter), 'POST')).toEqual({ status: 307, location });
      expect((await ask(audit, {}, 'POST')).status).toBe(401);
    }
});

test('a name that the caller does not read stays here', async () => {
  await setAll(true);
  await hide('npm', 'secret');
  await hide('npm', 'broken', 'error');
  await hide('pypi', 'secret');
  await hide('maven', 'com/acme/secret', 'hidden');
  await hide('npm', `@${group.full_path}/secret`);
  for (const path of [
    `${ofGroup()}/npm/secret`,
    `${ofGroup()}/npm/broken`,
    `${ofGroup()}/pypi/simple/SECRET`,
    `${ofGroup()}/maven/com/acme/secret/1.0/secret-1.0.jar`,
    `/packages/npm/@${group.full_path}%2Fsecret`,
    `/packages/npm/@${group.full_path.toUpperCase()}%2Fsecret`,
  ])
    expect([path, (await ask(path)).location]).toEqual([path, null]);
});

test('who does not read the packages of a place is led nowhere', async () => {
  await setAll(true);
  for (const [path] of addresses(ofProject())) {
    expect((await ask(path, {})).status).toBe(401);
    expect((await ask(path, bearer(guest))).status).toBe(403);
  }
  for (const [path] of addresses(ofGroup())) expect((await ask(path, {})).status).toBe(401);
  await openToAll(app, { group, project });
  expect((await ask(`${ofProject()}/npm/stone`, {})).status).toBe(302);
});

test('a group says it for what is below, unless it is locked above', async () => {
  const path = `${ofProject()}/npm/stone`;
  const status = async () => (await ask(path)).status;
  await setGroup({ npm_package_requests_forwarding: true });
  expect(await status()).toBe(302);
  expect((await ask(`${ofGroup()}/npm/stone`)).status).toBe(302);
  expect((await ask(`/packages/npm/@${group.full_path}%2Fstone`)).status).toBe(302);
  expect((await ask('/packages/npm/@nobody%2Fstone')).status).toBe(404);
  expect((await ask(`${ofProject()}/pypi/simple/stone`)).status).toBe(404);
  await setInstance({ lock_npm_package_requests_forwarding: true });
  expect(await status()).toBe(404);
  await setInstance({
    lock_npm_package_requests_forwarding: false,
    npm_package_requests_forwarding: true,
  });
  await setGroup({ npm_package_requests_forwarding: false });
  expect(await status()).toBe(404);
  await setGroup({ npm_package_requests_forwarding: null });
  expect(await status()).toBe(302);
});

test.each(formats)('the settings of %s are kept with their locks', async (format) => {
  const body = {
    [`${format}_package_requests_forwarding`]: true,
    [`lock_${format}_package_requests_forwarding`]: true,
  };
  expect(await setGroup(body)).toMatchObject(body);
});
