/** A first configuration file of pipelines, by a request. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers, makeProject } from '../../../../test/support/factories.ts';
import { fillProject } from '../../../../test/support/repositories.ts';

const app = useApp();

test('the file is committed once, is valid, and runs a pipeline', async () => {
  const { id } = await makeProject(app);
  await fillProject(app, id);
  const { reporter, developer, maintainer } = await makeMembers(
    app,
    `projects/${id}`,
    'reporter',
    'developer',
    'maintainer',
  );
  const path = `POST /projects/${id}/create_ci_config`;
  expect((await app.as(reporter.token)(path)).status).toBe(403);
  // The default branch is protected.
  await app.root(`POST /projects/${id}/protected_branches`, { body: { name: 'main' } });
  expect((await app.as(developer.token)(path)).status).toBe(403);
  const made = await Promise.all([1, 2].map(() => app.as(maintainer.token)(path)));
  expect(made.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(1);
  const again = await app.as(maintainer.token)(path);
  expect([again.status, again.body]).toEqual([400, { message: 'A file with this name already exists' }]);
  const lint = bodyOf(await app.root(`GET /projects/${id}/ci/lint`), 200);
  expect(lint).toMatchObject({ valid: true, errors: [] });
  await expect.poll(async () => bodyOf(await app.root(`GET /projects/${id}/pipelines`), 200).length).toBe(1);
});

test('an empty repository gets its first commit, and a file at another path', async () => {
  const { id } = await makeProject(app, { ci_config_path: 'ci/all.yml' });
  expect((await app.root(`POST /projects/${id}/create_ci_config`)).status).toBe(201);
  const query = 'ref=HEAD';
  expect((await app.root(`GET /projects/${id}/repository/files/ci%2Fall.yml`, { query })).status).toBe(200);
  await app.root(`PUT /projects/${id}`, { body: { ci_config_path: 'all.yml@another/project' } });
  expect((await app.root(`POST /projects/${id}/create_ci_config`)).status).toBe(400);
});
