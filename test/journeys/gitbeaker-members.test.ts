/** An independent JavaScript client, @gitbeaker/rest, over members, access requests and invitations. */
import { expect, test } from 'vitest';
import { ids, inDays, refusal, useGitbeaker } from './gitbeaker-client.ts';

const gitbeaker = useGitbeaker();

test('members of groups and projects, direct and inherited', async () => {
  const { root } = gitbeaker;
  const { id, api } = await gitbeaker.makeUser('member');
  const other = await gitbeaker.makeUser('other-member');
  const group = await gitbeaker.makeGroup('members');
  const project = await root.Projects.create({ name: 'Shed', namespaceId: group.id });
  expect(await refusal(api.Projects.show(project.id))).toEqual([404, '404 Project Not Found']);
  expect(await root.GroupMembers.add(group.id, 10, { userId: id, expiresAt: inDays(5) })).toMatchObject({
    username: 'member',
    access_level: 10,
    expires_at: inDays(5),
  });
  expect(await refusal(root.GroupMembers.add(group.id, 10, { userId: id }))).toEqual([
    409,
    'Member already exists',
  ]);
  expect(await root.GroupMembers.edit(group.id, id, 30)).toMatchObject({ access_level: 30 });
  expect(await api.Projects.show(project.id)).toMatchObject({
    permissions: { project_access: null, group_access: { access_level: 30 } },
  });
  expect(await root.ProjectMembers.add(project.id, 20, { userId: other.id })).toMatchObject({
    access_level: 20,
  });
  expect(ids(await root.ProjectMembers.all(project.id))).toEqual([other.id]);
  expect(ids(await root.ProjectMembers.all(project.id, { includeInherited: true }))).toEqual([
    1,
    id,
    other.id,
  ]);
  expect(await root.ProjectMembers.show(project.id, id, { includeInherited: true })).toMatchObject({
    access_level: 30,
  });
  expect((await refusal(root.ProjectMembers.show(project.id, id)))[0]).toBe(404);
  expect((await refusal(api.ProjectMembers.add(project.id, 20, { userId: 1 })))[0]).toBe(403);
  expect(await root.Users.allMemberships(id)).toMatchObject([
    { source_type: 'Namespace', source_id: group.id, access_level: 30 },
  ]);

  const target = await root.Projects.create({ name: 'Barn', namespaceId: group.id });
  expect(await root.Projects.importProjectMembers(target.id, project.id)).toMatchObject({
    status: 'success',
  });
  expect(ids(await root.ProjectMembers.all(target.id))).toEqual([other.id]);
  await root.ProjectMembers.remove(project.id, other.id);
  expect(await root.ProjectMembers.all(project.id)).toEqual([]);
  await api.GroupMembers.remove(group.id, id);
  expect((await refusal(api.Groups.show(group.id)))[0]).toBe(404);
});

test('access requests and invitations', async () => {
  const { root } = gitbeaker;
  const { id, api } = await gitbeaker.makeUser('outsider');
  const group = await gitbeaker.makeGroup('open-route', { visibility: 'public' });
  const project = await root.Projects.create({
    name: 'Open',
    namespaceId: group.id,
    visibility: 'public',
  });
  expect(await api.GroupAccessRequests.request(group.id)).toMatchObject({
    username: 'outsider',
    requested_at: expect.stringMatching(/Z$/),
  });
  expect(await root.GroupAccessRequests.all(group.id)).toMatchObject([{ id }]);
  await root.GroupAccessRequests.deny(group.id, id);
  expect(await root.GroupAccessRequests.all(group.id)).toEqual([]);
  await api.ProjectAccessRequests.request(project.id);
  expect(await root.ProjectAccessRequests.approve(project.id, id, { accessLevel: 20 })).toMatchObject({
    id,
    access_level: 20,
  });
  expect(ids(await root.ProjectMembers.all(project.id))).toEqual([id]);

  expect(await root.GroupInvitations.add(group.id, 30, { email: 'a@example.com,b@example.com' })).toEqual({
    status: 'success',
  });
  expect((await root.GroupInvitations.all(group.id)).map((each) => each.invite_email)).toEqual([
    'a@example.com',
    'b@example.com',
  ]);
  expect(await root.GroupInvitations.edit(group.id, 'a@example.com', { accessLevel: 40 })).toMatchObject({
    access_level: 40,
  });
  await root.GroupInvitations.remove(group.id, 'b@example.com');
  expect(await root.GroupInvitations.all(group.id)).toMatchObject([
    { invite_email: 'a@example.com', access_level: 40 },
  ]);
  expect(await root.ProjectInvitations.add(project.id, 20, { email: 'outsider@example.com' })).toMatchObject({
    status: 'error',
  });
});
