/** The jobs that a runner took: who sees which of them. */
import { expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import { addMember, bodyOf, makeGroup, makeProject, makeUser } from '../../../../test/support/factories.ts';
import { openRunner, startPipeline } from '../../../../test/support/runner.ts';

const app: TestApp = useApp();
const FILE = 'build:\n  script: make\n';

test('are those of projects whose jobs the caller reads, for who manages the runner', async () => {
  const group = await makeGroup(app);
  const [one, two] = [
    await makeProject(app, { namespace_id: group.id }),
    await makeProject(app, { namespace_id: group.id }),
  ];
  const body = { runner_type: 'project_type', project_id: one.id };
  const { id, token } = bodyOf(await app.root('POST /user/runners', { body }), 201);
  bodyOf(await app.root(`POST /projects/${two.id}/runners`, { body: { runner_id: id } }), 201);
  const [first, second] = [openRunner(app, token, 's_one'), openRunner(app, token, 's_two')];
  const start = async (project: { id: number }) => {
    const owner = await makeUser(app);
    await addMember(app, `projects/${project.id}`, owner, 50);
    return startPipeline(app, project, owner, FILE);
  };
  await start(one);
  const ended = await first.take();
  await first.update(ended, { state: 'success' });
  await start(two);
  const running = await second.take();

  const list = async (as: (request: string, options?: object) => ReturnType<typeof app.root>, query = '') =>
    bodyOf(await as(`GET /runners/${id}/jobs`, { query }), 200).map((job: { id: number }) => job.id);
  expect(await list(app.root)).toEqual([running.id, ended.id]);
  expect(await list(app.root, 'sort=asc')).toEqual([ended.id, running.id]);
  expect(await list(app.root, 'status=success')).toEqual([ended.id]);
  expect(await list(app.root, 'system_id=s_two')).toEqual([running.id]);
  expect(await list(app.root, 'system_id=s_three')).toEqual([]);
  const paged = await app.root(`GET /runners/${id}/jobs`, { query: 'per_page=1&page=2' });
  expect(paged.body.map((job: { id: number }) => job.id)).toEqual([ended.id]);
  expect([paged.headers.get('x-total'), paged.headers.get('x-total-pages')]).toEqual(['2', '2']);
  expect(paged.body[0]).toMatchObject({
    status: 'success',
    project: { id: one.id, path_with_namespace: one.path_with_namespace },
  });

  const maintainer = await makeUser(app);
  await addMember(app, `projects/${one.id}`, maintainer, 40);
  expect(await list(app.as(maintainer.token))).toEqual([ended.id]);
  await addMember(app, `projects/${two.id}`, maintainer, 20);
  expect(await list(app.as(maintainer.token))).toEqual([running.id, ended.id]);
  bodyOf(await app.root(`PUT /projects/${two.id}`, { body: { builds_access_level: 'disabled' } }), 200);
  expect(await list(app.as(maintainer.token))).toEqual([ended.id]);

  const borrower = await makeUser(app);
  await addMember(app, `projects/${two.id}`, borrower, 40);
  expect((await app.as(borrower.token)(`GET /runners/${id}/jobs`)).status).toBe(403);
  expect((await app.as((await makeUser(app)).token)(`GET /runners/${id}/jobs`)).status).toBe(404);
  expect((await app.call(`GET /runners/${id}/jobs`)).status).toBe(401);
});
