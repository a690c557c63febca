/** What changes while an upload arrives: rules and roles hold for it. */
import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import { bodyOf } from '../../../../test/support/factories.ts';
import { makeTeam, type Team } from '../../../../test/support/packages.ts';

const app: TestApp = useApp();
let { project, maintainer, developer } = {} as Team;

beforeEach(async () => {
  ({ project, maintainer, developer } = await makeTeam(app));
});

const attached = JSON.stringify({
  name: 'stone',
  versions: { '1.0.0': { name: 'stone', version: '1.0.0' } },
  _attachments: { 'stone-1.0.0.tgz': { data: Buffer.from('bytes').toString('base64'), length: 5 } },
});
const uploads = [
  ['generic', 'generic/stone/1.0/stone.bin', 'stone', 'granite'],
  ['maven', 'maven/com/acme/stone/1.0/stone-1.0.jar', 'com/acme/stone', 'granite'],
  ['npm', 'npm/stone', 'stone', attached],
] as const;

/** Sends half of the upload, then the rest when the change is done. */
async function publishAround(
  path: string,
  body: string,
  change: () => Promise<unknown>,
  headers: Record<string, string> = { 'private-token': developer.token },
): Promise<number | undefined> {
  const request: ClientRequest = httpRequest(`${app.url}/api/v4/projects/${project.id}/packages/${path}`, {
    method: 'PUT',
    headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
  });
  const answer = once(request, 'response');
  request.write(body.slice(0, 4));
  // The server looks at rights and rules before it asks for more.
  await sleep(300);
  await change();
  request.end(body.slice(4));
  const [response] = (await answer) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

const countPackages = async () => {
  const { rows } = await sql`select from packages where project_id = ${project.id}`.execute(
    app.app.services.database.db,
  );
  return rows.length;
};

test.each(uploads)(
  'a rule that is made while a file of %s arrives holds for it',
  async (type, path, name, body) => {
    const protect = async (package_name_pattern: string) =>
      bodyOf(
        await app.as(maintainer.token)(`POST /projects/${project.id}/packages/protection/rules`, {
          body: { package_name_pattern, package_type: type, minimum_access_level_for_push: 'maintainer' },
        }),
        201,
      );
    expect(await publishAround(path, body, () => protect(name))).toBe(403);
    expect(await countPackages()).toBe(0);
  },
);

test.each(uploads)('a rule for another name lets a file of %s pass', async (type, path, _name, body) => {
  const rule = { package_name_pattern: 'other', package_type: type, minimum_access_level_for_push: 'admin' };
  const protect = async () =>
    bodyOf(
      await app.as(maintainer.token)(`POST /projects/${project.id}/packages/protection/rules`, {
        body: rule,
      }),
      201,
    );
  expect(await publishAround(path, body, protect)).toBeOneOf([200, 201]);
  expect(await countPackages()).toBe(1);
});

test.each([
  ['a member is removed', 404, () => app.root(`DELETE /projects/${project.id}/members/${developer.id}`)],
  [
    'a role is less',
    403,
    () => app.root(`PUT /projects/${project.id}/members/${developer.id}`, { body: { access_level: 20 } }),
  ],
  [
    'the registry is shut',
    403,
    () => app.root(`PUT /projects/${project.id}`, { body: { package_registry_access_level: 'disabled' } }),
  ],
  ['the project is archived', 403, () => app.root(`POST /projects/${project.id}/archive`)],
])('nothing is published when %s meanwhile', async (_what, status, change) => {
  expect(await publishAround('generic/stone/1.0/stone.bin', 'granite', change)).toBe(status);
  expect(await countPackages()).toBe(0);
});

test('a deploy token publishes, and no more when a rule was made', async () => {
  const made = await app.as(maintainer.token)(`POST /projects/${project.id}/deploy_tokens`, {
    body: { name: 'd', scopes: ['write_package_registry'] },
  });
  const token = { 'deploy-token': String((bodyOf(made, 201) as { token: string }).token) };
  const path = 'generic/stone/1.0/stone.bin';
  expect(await publishAround(path, 'granite', async () => undefined, token)).toBe(201);
  const rule = {
    package_name_pattern: '*',
    package_type: 'generic',
    minimum_access_level_for_push: 'maintainer',
  };
  const protect = () =>
    app.as(maintainer.token)(`POST /projects/${project.id}/packages/protection/rules`, { body: rule });
  expect(await publishAround(path, 'slate', protect, token)).toBe(403);
});
