/**
 * A row that a request found is deleted before it writes: the response is right, and never a fault of ours.
 */
import { expect, test } from 'vitest';
import type { Sql } from '../../src/platform/db/driver/sql.ts';
import { type Called, useApp } from '../support/app.ts';
import { bodyOf, makeGroup, makeProject, makeUser } from '../support/factories.ts';
import { overtake } from '../support/races.ts';
import { fillProject } from '../support/repositories.ts';

const app = useApp();

/** The request waits for the row, which is then deleted. */
const whileItGoes = (table: string, where: string, request: () => Promise<Called>): Promise<Called> =>
  overtake(
    app,
    (tx: Sql) => tx.unsafe(`select from ${table} where ${where} for update`),
    request,
    (tx) => tx.unsafe(`delete from ${table} where ${where}`),
  );

test('the protection of a branch that is protected again is made anew', async () => {
  const project = await makeProject(app);
  await fillProject(app, project.id, [{ 'a.txt': 'a' }], 'main');
  const path = `/projects/${project.id}/repository/branches/main`;
  bodyOf(await app.root(`PUT ${path}/protect`), 200);
  const response = await whileItGoes('protected_branches', `project_id = ${project.id}`, () =>
    app.root(`PUT ${path}/protect`),
  );
  expect(bodyOf(response, 200).protected).toBe(true);
  expect(bodyOf(await app.root(`GET ${path}`), 200).protected).toBe(true);
});

test('the protection that is changed is not there any more', async () => {
  const project = await makeProject(app);
  await fillProject(app, project.id, [{ 'a.txt': 'a' }], 'main');
  const path = `/projects/${project.id}/protected_branches`;
  bodyOf(await app.root(`POST ${path}`, { body: { name: 'kept-*' } }), 201);
  const response = await whileItGoes('protected_branches', `project_id = ${project.id}`, () =>
    app.root(`PATCH ${path}/kept-*`, { body: { allow_force_push: true } }),
  );
  expect(response.status).toBe(404);
});

test('a feature flag that is set is made anew', async () => {
  bodyOf(await app.root('POST /features/vanishing', { body: { value: 'true' } }), 201);
  const response = await whileItGoes('feature_gates', "name = 'vanishing'", () =>
    app.root('POST /features/vanishing', { body: { value: 'true' } }),
  );
  expect(bodyOf(response, 201).state).toBe('on');
});

test('the group label that a label is promoted into is made anew', async () => {
  const group = await makeGroup(app);
  const project = await makeProject(app, { namespace_id: group.id });
  const label = { name: 'shared', color: '#112233' };
  bodyOf(await app.root(`POST /projects/${project.id}/labels`, { body: label }), 201);
  const { sql } = app.app.services.database;
  await sql`insert into labels (namespace_id, name, color, created_at, updated_at)
    values (${group.id}, 'shared', '#445566', now(), now())`;
  const response = await whileItGoes('labels', `namespace_id = ${group.id}`, () =>
    app.root(`PUT /projects/${project.id}/labels/shared/promote`),
  );
  expect(bodyOf(response, 200)).toMatchObject(label);
});

test.each<[string, string, (project: { id: number }, id: number) => Promise<Called>]>([
  [
    'a milestone',
    'milestones',
    ({ id: project }, id) => app.root(`PUT /projects/${project}/milestones/${id}`, { body: { title: 'x' } }),
  ],
  [
    'a label',
    'labels',
    ({ id: project }, id) => app.root(`PUT /projects/${project}/labels/${id}`, { body: { new_name: 'x' } }),
  ],
])('%s that is changed is not there any more', async (what, table, change) => {
  const project = await makeProject(app);
  const kind = what === 'a label' ? 'labels' : 'milestones';
  const body = { name: 'one', title: 'one', color: '#112233' };
  const { id } = bodyOf(await app.root(`POST /projects/${project.id}/${kind}`, { body }), 201);
  const response = await whileItGoes(table, `id = ${id}`, () => change(project, id));
  expect(response.status).toBe(404);
});

test('the account itself, of a request that is under way', async () => {
  const user = await makeUser(app);
  const { id } = bodyOf(
    await app.as(user.token)('POST /user/emails', { body: { email: 'second@vanishing.test' } }),
    201,
  );
  const response = await overtake(
    app,
    (tx) => tx`select from users where id = ${user.id} for update`,
    () => app.as(user.token)(`DELETE /user/emails/${id}`),
    async (tx) => {
      await tx`delete from namespaces where owner_id = ${user.id}`;
      await tx`delete from users where id = ${user.id}`;
    },
  );
  expect(response.status).toBe(404);
});
