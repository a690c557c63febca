/** Registries that projects open to everybody: where they are open, what stays shut, and administrators who forbid it. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeProject, makeUser } from '../../../../test/support/factories.ts';
import { basic, type Headers, makeTeam, own, type Team } from '../../../../test/support/packages.ts';
import { zipOf } from '../../../../test/support/zip.ts';

const app: TestApp = useApp();
let { group, project, developer } = {} as Team;
const jar = 'com/acme/app/1.0/app-1.0.jar';

const send = async (method: string, path: string, headers: Headers, body?: string | FormData) => {
  const options = { method, headers, redirect: 'manual' as const, ...(body !== undefined && { body }) };
  return (await fetch(`${app.url}/api/v4${path}`, options)).status;
};
const get = (path: string, headers: Headers = {}) => send('GET', path, headers);

const openRegistry = async (id = project.id) =>
  bodyOf(await app.root(`PUT /projects/${id}`, { body: { package_registry_access_level: 'public' } }), 200);
const allow = async (value: boolean) =>
  bodyOf(
    await app.root('PUT /application/settings', {
      body: { package_registry_allow_anyone_to_pull_option: value },
    }),
    200,
  );

async function publishAll(id: number) {
  const packages = `/projects/${id}/packages`;
  const headers = own(developer);
  expect(await send('PUT', `${packages}/maven/${jar}`, headers, 'granite')).toBe(200);
  expect(await send('PUT', `${packages}/terraform/modules/beacon/aws/1.0.0/file`, headers, 'x')).toBe(201);
  const nuspec = '<package><metadata><id>Slate</id><version>1.0</version></metadata></package>';
  const form = new FormData();
  form.set(
    'package',
    new Blob([new Uint8Array(zipOf({ name: 'Slate.nuspec', content: nuspec }))]),
    'a.nupkg',
  );
  expect(await send('PUT', `${packages}/nuget`, headers, form)).toBe(201);
}

beforeEach(async () => {
  ({ group, project, developer } = await makeTeam(app));
  await publishAll(project.id);
});
afterEach(() => allow(true));

const maven = () => `/groups/${group.id}/-/packages/maven/${jar}`;
const terraform = () => `/packages/terraform/modules/v1/${group.full_path}/beacon/aws/versions`;
const nuget = () => `/groups/${group.id}/-/packages/nuget/metadata/slate/index.json`;
const others = () => [
  `/groups/${group.id}/-/packages/npm/stone`,
  `/groups/${group.id}/-/packages/pypi/simple`,
  `/group/${group.id}/-/packages/composer/packages.json`,
];
const atProject = () => [
  `/projects/${project.id}/packages/maven/${jar}`,
  `/projects/${project.id}/packages`,
  `/packages/terraform/modules/v1/${group.full_path}/beacon/aws/1.0.0`,
];

test('groups show what their projects have opened, by the formats that do so', async () => {
  const stranger = await makeUser(app);
  const signedIn = basic('any', stranger.token);
  for (const path of [maven(), terraform(), nuget()])
    expect([await get(path), await get(path, signedIn)]).toEqual([401, 404]);
  await openRegistry();
  for (const path of [maven(), terraform()])
    expect([await get(path), await get(path, signedIn)]).toEqual([200, 200]);
  // NuGet's programs have a credential.
  expect([await get(nuget()), await get(nuget(), signedIn)]).toEqual([401, 200]);
  for (const path of others()) expect([await get(path), await get(path, signedIn)]).toEqual([401, 404]);
  for (const path of atProject()) expect(await get(path)).toBe(200);
  // The group, its projects and what is written stay shut.
  expect(await get(`/groups/${group.id}`)).toBe(404);
  expect(await get(`/projects/${project.id}`, own(stranger))).toBe(404);
  expect(await send('PUT', `/projects/${project.id}/packages/maven/${jar}`, own(stranger), 'x')).toBe(404);
});

test('a token of another place reads what is open, and its own', async () => {
  const elsewhere = await makeProject(app);
  const made = await app.root(`POST /projects/${elsewhere.id}/deploy_tokens`, {
    body: { name: 'd', scopes: ['read_package_registry'] },
  });
  const token = { 'deploy-token': String((bodyOf(made, 201) as { token: string }).token) };
  for (const path of [maven(), terraform(), nuget()]) expect(await get(path, token)).toBe(404);
  await openRegistry();
  for (const path of [maven(), terraform(), nuget()]) expect(await get(path, token)).toBe(200);
});

test('a group shows nothing of projects that are not opened', async () => {
  const other = await makeProject(app, { namespace_id: group.id });
  await openRegistry(other.id);
  for (const path of [maven(), terraform()]) expect(await get(path)).toBe(401);
  expect(await get(nuget(), own(await makeUser(app)))).toBe(404);
});

test('administrators may forbid it, for what is open already, too', async () => {
  await openRegistry();
  await allow(false);
  const stranger = own(await makeUser(app));
  for (const path of [maven(), terraform(), nuget(), ...atProject()])
    expect([path, await get(path), await get(path, stranger)]).toEqual([
      path,
      expect.toBeOneOf([401, 404]),
      404,
    ]);
  // Members have what they have elsewhere.
  for (const path of [maven(), ...atProject()]) expect(await get(path, own(developer))).toBe(200);
  await allow(true);
  for (const path of [maven(), terraform(), ...atProject()]) expect(await get(path)).toBe(200);
});

test('a registry that is shut again is in no group', async () => {
  await openRegistry();
  for (const level of ['private', 'disabled']) {
    const body = { package_registry_access_level: level };
    bodyOf(await app.root(`PUT /projects/${project.id}`, { body }), 200);
    for (const path of [maven(), terraform(), nuget()]) expect(await get(path)).toBe(401);
  }
});
