/** Projects and groups, as hooks of the instance and of groups are told of them. */
import { beforeEach, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { bodyOf, makeGroup, makeProject, makeUser } from '../../../test/support/factories.ts';
import { useHookReceiver } from '../../../test/support/hooks.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'premium' } });
const receiver = useHookReceiver(ashlar);
let group: { id: number; full_path: string };

beforeEach(async () => {
  group = await makeGroup(ashlar);
});
const listen = async (flags: object) => {
  await receiver.listen(ashlar, '', {});
  await receiver.listen(ashlar, `/groups/${group.id}`, flags);
  receiver.clear();
};
const namesOf = (kind: string) => receiver.payloads(kind).map(({ event_name }) => event_name);
const put = async (path: string, body: object) => bodyOf(await ashlar.root(`PUT ${path}`, { body }), 200);
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

test('a project is told when it is made, changed, renamed, transferred and destroyed', async () => {
  await listen({ project_events: true });
  const other = await makeGroup(ashlar);
  const { id, path_with_namespace: path } = await makeProject(ashlar, { namespace_id: group.id });
  const one = `/projects/${id}`;
  const owners = [{ name: expect.any(String), email: '[REDACTED]' }];
  const fields = {
    created_at: time,
    updated_at: time,
    name: path.split('/')[1],
    path: path.split('/')[1],
    path_with_namespace: path,
    project_id: id,
    project_namespace_id: group.id,
    owners,
    project_visibility: 'private',
  };
  const [made] = await receiver.heard('System Hook', 'project_create');
  expect(made).toEqual({
    event_name: 'project_create',
    ...fields,
    owner_name: group.full_path,
    owner_email: '',
  });
  const [madeInside] = await receiver.heard('Project Hook', 'project_create');
  expect(madeInside).toEqual({ event_name: 'project_create', ...fields });
  await put(one, { description: 'Of stone' });
  await receiver.heard('System Hook', 'project_update');
  await put(one, { path: 'arch' });
  expect((await receiver.heard('System Hook', 'project_rename'))[0]).toMatchObject({
    path_with_namespace: `${group.full_path}/arch`,
    old_path_with_namespace: path,
  });
  await put(`${one}/transfer`, { namespace: other.id });
  expect((await receiver.heard('System Hook', 'project_transfer'))[0]).toMatchObject({
    project_namespace_id: other.id,
    path_with_namespace: `${other.full_path}/arch`,
    old_path_with_namespace: `${group.full_path}/arch`,
  });
  await put(`${one}/transfer`, { namespace: group.id });
  bodyOf(await ashlar.root(`DELETE ${one}`), 202);
  const full_path = `${group.full_path}/arch-deletion_scheduled-${id}`;
  // Its payload shows the project, which must still be there; that of the transfer may be made as late, and show the same path.
  await expect.poll(() => namesOf('System Hook').filter((name) => name === 'project_rename')).toHaveLength(2);
  bodyOf(
    await ashlar.root(`DELETE ${one}`, { query: `permanently_remove=true&full_path=${full_path}` }),
    202,
  );
  const gone = { project_id: id, path_with_namespace: full_path, owners, project_namespace_id: group.id };
  expect((await receiver.heard('System Hook', 'project_destroy'))[0]).toMatchObject(gone);
  expect((await receiver.heard('Project Hook', 'project_destroy'))[0]).toMatchObject(gone);
  expect(namesOf('Project Hook')).toEqual(['project_create', 'project_destroy']);
  expect(namesOf('System Hook').filter((name) => name.startsWith('project_'))).toEqual([
    'project_create',
    'project_update',
    'project_rename',
    'project_transfer',
    'project_transfer',
    'project_rename',
    'project_destroy',
  ]);
});

test('the owner of a personal project is told by name, and by a public address alone', async () => {
  await listen({});
  const mason = await makeUser(ashlar);
  const make = async (path: string) =>
    bodyOf(await ashlar.as(mason.token)('POST /projects', { body: { path } }), 201);
  const last = async (path: string) => {
    await expect.poll(() => receiver.payloads().some((told) => told.path === path)).toBe(true);
    return receiver.payloads().find((told) => told.path === path);
  };
  await make('hut');
  const name = expect.any(String);
  expect(await last('hut')).toMatchObject({
    owner_name: name,
    owner_email: '[REDACTED]',
    owners: [{ name, email: '[REDACTED]' }],
  });
  const body = { public_email: mason.email };
  bodyOf(await ashlar.root(`PUT /users/${mason.id}`, { body }), 200);
  await make('house');
  expect(await last('house')).toMatchObject({
    owner_email: mason.email,
    owners: [{ email: mason.email }],
  });
});

test('a group is told when it is made, renamed and destroyed, a subgroup to the groups around', async () => {
  await listen({ subgroup_events: true, project_events: true });
  const inner = await makeGroup(ashlar, { parent_id: group.id, path: 'inner', name: 'Inner' });
  const innermost = await makeGroup(ashlar, { parent_id: inner.id });
  const { id: projectId } = await makeProject(ashlar, { namespace_id: innermost.id });
  await receiver.heard('Project Hook', 'project_create');
  const fields = { name: 'Inner', path: 'inner', full_path: `${group.full_path}/inner`, group_id: inner.id };
  const parent = {
    parent_group_id: group.id,
    parent_name: group.full_path,
    parent_path: group.full_path,
    parent_full_path: group.full_path,
  };
  const of = (kind: string, name: string, id: number) =>
    receiver.payloads(kind).find(({ event_name, group_id }) => event_name === name && group_id === id);
  await expect.poll(() => namesOf('Subgroup Hook')).toEqual(['subgroup_create', 'subgroup_create']);
  expect(of('Subgroup Hook', 'subgroup_create', inner.id)).toEqual({
    event_name: 'subgroup_create',
    created_at: time,
    updated_at: time,
    ...fields,
    ...parent,
  });
  expect(of('System Hook', 'group_create', inner.id)).toEqual({
    event_name: 'group_create',
    created_at: time,
    updated_at: time,
    ...fields,
  });
  await put(`/groups/${inner.id}`, { name: 'Nave' });
  await put(`/groups/${inner.id}`, { path: 'nave' });
  expect((await receiver.heard('System Hook', 'group_rename'))[0]).toMatchObject({
    full_path: `${group.full_path}/nave`,
    old_path: 'inner',
    old_full_path: `${group.full_path}/inner`,
  });
  const one = `DELETE /groups/${inner.id}`;
  bodyOf(await ashlar.root(one), 202);
  const full_path = `${group.full_path}/nave-deletion_scheduled-${inner.id}`;
  bodyOf(await ashlar.root(one, { query: `permanently_remove=true&full_path=${full_path}` }), 202);
  await expect.poll(() => of('Subgroup Hook', 'subgroup_destroy', inner.id)).toMatchObject(parent);
  await expect.poll(() => of('System Hook', 'group_destroy', innermost.id)).toBeDefined();
  await expect.poll(() => of('System Hook', 'group_destroy', inner.id)).toMatchObject({ full_path });
  for (const kind of ['System Hook', 'Project Hook'])
    expect((await receiver.heard(kind, 'project_destroy'))[0]).toMatchObject({ project_id: projectId });
});
