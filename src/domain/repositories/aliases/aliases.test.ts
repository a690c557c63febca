/** Aliases of projects: who gives them, and what git does by them. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeProject, makeUser, uniqueName } from '../../../../test/support/factories.ts';
import { addressOf, commitFiles, makeHome, mustGit, runGit } from '../../../../test/support/git.ts';
import { makeTeam } from '../../../../test/support/packages.ts';
import { fillProject } from '../../../../test/support/repositories.ts';

const app = useApp();
const home = makeHome();
afterAll(() => rmSync(home, { recursive: true, force: true }));

const give = (project_id: number | string, name: string) =>
  app.root('POST /project_aliases', { body: { project_id, name } });

test('are given, read and taken by administrators', async () => {
  const [project, user] = [await makeProject(app), await makeUser(app)];
  const name = uniqueName('Alias');
  const made = bodyOf(await give(project.id, name), 201);
  expect(made).toEqual({ id: expect.any(Number), project_id: project.id, name });
  expect(bodyOf(await app.root('GET /project_aliases'), 200)).toContainEqual(made);
  expect(bodyOf(await app.root(`GET /project_aliases/${name.toUpperCase()}`), 200)).toEqual(made);
  for (const line of [
    'GET /project_aliases',
    `GET /project_aliases/${name}`,
    `DELETE /project_aliases/${name}`,
  ]) {
    expect((await app.call(line)).status).toBe(401);
    expect((await app.as(user.token)(line)).status).toBe(403);
  }
  const body = { project_id: project.id, name: 'x' };
  expect((await app.as(user.token)('POST /project_aliases', { body })).status).toBe(403);
  expect((await app.root(`DELETE /project_aliases/${name}`)).status).toBe(204);
  for (const method of ['GET', 'DELETE']) {
    const gone = await app.root(`${method} /project_aliases/${name}`);
    expect([gone.status, gone.body.message]).toEqual([404, '404 ProjectAlias Not Found']);
  }
});

test('a name is of one project, in any capitals, also for two at once', async () => {
  const [one, other] = [await makeProject(app), await makeProject(app)];
  const name = uniqueName('twice');
  const answers = await Promise.all([
    give(one.id, name),
    give(other.path_with_namespace, name.toUpperCase()),
  ]);
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
  const refused = answers.find(({ status }) => status === 400);
  expect(refused?.body.message).toEqual({ name: ['has already been taken'] });
  // A project may have several.
  expect((await give(one.id, uniqueName('more'))).status).toBe(201);
});

test.each([
  ['a/b', 400],
  ['a.git', 400],
  ['12', 400],
  ['', 400],
])('no alias is %j', async (name, status) => {
  expect((await give((await makeProject(app)).id, name)).status).toBe(status);
});

test('no alias is of a project that is not there', async () => {
  for (const id of [999_999, 'no/such', '..%2F', '999999'])
    expect([id, (await give(id, uniqueName('none'))).status]).toEqual([id, 404]);
});

test('git clones and pushes by them, with the rights of its user', async () => {
  const { project, developer, reporter } = await makeTeam(app);
  await fillProject(app, project.id, [{ 'a.txt': 'a' }]);
  const name = uniqueName('engine');
  bodyOf(await give(project.id, name), 201);
  const stranger = await makeUser(app);
  const address = (token: string) => addressOf(app.url, name, token);
  const work = join(home, uniqueName('work'));
  await mustGit(home, ['clone', '-q', address(developer.token), work]);
  await commitFiles(work, { 'b.txt': 'b' });
  await mustGit(work, ['push', '-q', 'origin', 'HEAD:refs/heads/topic']);
  const branch = await app.root(`GET /projects/${project.id}/repository/branches/topic`);
  expect(branch.body.commit.id).toBe((await mustGit(work, ['rev-parse', 'HEAD'])).trim());
  await mustGit(home, ['clone', '-q', address(reporter.token), join(home, uniqueName('read'))]);
  const refusals = [
    await runGit(work, ['push', address(reporter.token), 'HEAD:refs/heads/other']),
    await runGit(home, ['clone', '-q', address(stranger.token), join(home, uniqueName('none'))]),
    await runGit(home, [
      'clone',
      '-q',
      addressOf(app.url, 'no-such-alias', developer.token),
      join(home, uniqueName('none')),
    ]),
  ];
  for (const { code } of refusals) expect(code).not.toBe(0);
  // To a stranger it looks as if there were none.
  expect(refusals[1]?.output.replaceAll(name, '…')).toBe(
    refusals[2]?.output.replaceAll('no-such-alias', '…').replaceAll(developer.token, stranger.token),
  );
  expect((await app.root(`DELETE /project_aliases/${name}`)).status).toBe(204);
  expect((await runGit(work, ['fetch', '-q', 'origin'])).code).not.toBe(0);
});

test('go with their project', async () => {
  const project = await makeProject(app);
  const name = uniqueName('short');
  bodyOf(await give(project.id, name), 201);
  await app.app.services.database.sql`delete from projects where id = ${project.id}`;
  expect((await app.root(`GET /project_aliases/${name}`)).status).toBe(404);
});
