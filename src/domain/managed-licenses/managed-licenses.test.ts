/** Managed licences over HTTP. */
import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../test/support/factories.ts';

const app = useApp();
let project: MadeProject;
let members: Record<'guest' | 'reporter' | 'maintainer', MadeUser>;
beforeAll(async () => {
  project = await makeProject(app);
  members = await makeMembers(app, `projects/${project.id}`, 'guest', 'reporter', 'maintainer');
});
const path = () => `/projects/${project.id}/managed_licenses`;
const as = (who: keyof typeof members) => app.as(members[who].token);

test('a licence is allowed, shown by its id and its name, denied and removed', async () => {
  const body = { name: 'MIT', approval_status: 'approved' };
  const made = bodyOf(await as('maintainer')(`POST ${path()}`, { body }), 201);
  expect(made).toEqual({ id: expect.any(Number), name: 'MIT', approval_status: 'allowed' });
  for (const named of [made.id, 'MIT'])
    expect(bodyOf(await as('reporter')(`GET ${path()}/${named}`), 200)).toEqual(made);
  expect(bodyOf(await as('reporter')(`GET ${path()}`), 200)).toEqual([made]);
  const change = { body: { approval_status: 'blacklisted' } };
  const denied = { ...made, approval_status: 'denied' };
  expect(bodyOf(await as('maintainer')(`PATCH ${path()}/MIT`, change), 200)).toEqual(denied);
  const again = await as('maintainer')(`POST ${path()}`, { body });
  expect([again.status, again.body]).toEqual([400, { message: { name: ['has already been taken'] } }]);
  const removed = await Promise.all([1, 2].map(() => as('maintainer')(`DELETE ${path()}/${made.id}`)));
  expect(removed.map(({ status }) => status).sort()).toEqual([204, 404]);
  expect((await as('reporter')(`GET ${path()}/MIT`)).status).toBe(404);
});

test('a name that is a number stands behind an id', async () => {
  const add = async (name: string) =>
    bodyOf(await as('maintainer')(`POST ${path()}`, { body: { name, approval_status: 'denied' } }), 201);
  const one = await add('One');
  const other = await add(String(one.id));
  expect(bodyOf(await as('reporter')(`GET ${path()}/${one.id}`), 200)).toEqual(one);
  await as('maintainer')(`DELETE ${path()}/${one.id}`);
  expect(bodyOf(await as('reporter')(`GET ${path()}/${one.id}`), 200)).toEqual(other);
});

test('Reporters read, Maintainers write, and nobody elsewhere', async () => {
  const body = { name: 'GPL', approval_status: 'denied' };
  const { id } = bodyOf(await as('maintainer')(`POST ${path()}`, { body }), 201);
  const stranger = await makeUser(app);
  const statuses = async (call: typeof app.root) =>
    (
      await Promise.all([
        call(`GET ${path()}`),
        call(`GET ${path()}/${id}`),
        call(`POST ${path()}`, { body: { ...body, name: 'Other' } }),
        call(`PATCH ${path()}/${id}`, { body: { name: 'x' } }),
      ])
    ).map(({ status }) => status);
  expect(await statuses(app.as(stranger.token))).toEqual([404, 404, 404, 404]);
  expect(await statuses(as('guest'))).toEqual([403, 403, 403, 403]);
  expect(await statuses(as('reporter'))).toEqual([200, 200, 403, 403]);
  const other = await makeProject(app);
  for (const method of ['GET', 'PATCH', 'DELETE'])
    expect((await app.root(`${method} /projects/${other.id}/managed_licenses/${id}`)).status).toBe(404);
  for (const wrong of [{ ...body, name: ' ' }, { name: 'x' }, { ...body, approval_status: 'maybe' }])
    expect((await as('maintainer')(`POST ${path()}`, { body: wrong })).status).toBe(400);
});
