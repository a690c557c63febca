/** Members and requests for access, as hooks of the instance and of groups are told of them. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { addMember, bodyOf, makeGroup, makeProject, makeUser } from '../../../../test/support/factories.ts';
import { useHookReceiver } from '../../../../test/support/hooks.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'premium' } });
const receiver = useHookReceiver(ashlar);

const listen = async (group: { id: number }) => {
  await receiver.listen(ashlar, '', {});
  await receiver.listen(ashlar, `/groups/${group.id}`, { member_events: true });
  receiver.clear();
};
const namesOf = (kind: string) => receiver.payloads(kind).map(({ event_name }) => event_name);
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

test('members of a group are told when they come, change and go, those of projects to the instance', async () => {
  const group = await makeGroup(ashlar);
  await listen(group);
  const mason = await makeUser(ashlar);
  const project = await makeProject(ashlar, { namespace_id: group.id });
  const all = [
    [
      'Member Hook',
      `groups/${group.id}`,
      'user_add_to_group',
      'user_update_for_group',
      'user_remove_from_group',
    ],
    [
      'System Hook',
      `groups/${group.id}`,
      'user_add_to_group',
      'user_update_for_group',
      'user_remove_from_group',
    ],
    [
      'System Hook',
      `projects/${project.id}`,
      'user_add_to_team',
      'user_update_for_team',
      'user_remove_from_team',
    ],
  ] as const;
  const user = {
    user_id: mason.id,
    user_username: mason.username,
    user_name: expect.any(String),
    user_email: '[REDACTED]',
  };
  const inGroup = { group_id: group.id, group_name: group.full_path, group_path: group.full_path, ...user };
  const times = { created_at: time, updated_at: time };
  for (const [kind, source, ...names] of all) {
    receiver.clear();
    await addMember(ashlar, source as `groups/${number}`, mason, 30);
    const body = { access_level: 40, expires_at: '2099-01-31' };
    bodyOf(await ashlar.root(`PUT /${source}/members/${mason.id}`, { body }), 200);
    bodyOf(await ashlar.root(`DELETE /${source}/members/${mason.id}`), 204);
    const [added, changed, removed] = await receiver.heard(kind, ...names);
    if (kind === 'Member Hook') {
      const fields = { ...times, ...inGroup, group_plan: null };
      const event = { event_name: names[0], ...fields, group_access: 'Developer', expires_at: null };
      expect(added).toEqual(event);
      const expires_at = '2099-01-31T00:00:00Z';
      expect(changed).toMatchObject({ group_access: 'Maintainer', expires_at });
      expect(removed).toMatchObject({ group_access: 'Maintainer', expires_at, ...user });
    } else if (source.startsWith('groups')) {
      expect(added).toEqual({ event_name: names[0], ...times, ...inGroup, group_access: 'Developer' });
      expect(removed).toMatchObject({ group_access: 'Maintainer', ...user });
    } else {
      expect(added).toEqual({
        event_name: names[0],
        ...times,
        ...user,
        project_id: project.id,
        project_name: project.path_with_namespace.split('/')[1],
        project_path: project.path_with_namespace.split('/')[1],
        project_path_with_namespace: project.path_with_namespace,
        project_visibility: 'private',
        access_level: 'Developer',
      });
      expect(changed).toMatchObject({ access_level: 'Maintainer' });
      expect(removed).toMatchObject({ access_level: 'Maintainer', ...user });
    }
  }
  expect(namesOf('Member Hook')).toEqual([]);
});

test('a request for access is told, and that it is no more', async () => {
  const open = await makeGroup(ashlar, { visibility: 'public' });
  const project = await makeProject(ashlar, { namespace_id: open.id, visibility: 'public' });
  await listen(open);
  const mason = await makeUser(ashlar);
  for (const source of [`groups/${open.id}`, `projects/${project.id}`]) {
    bodyOf(await ashlar.as(mason.token)(`POST /${source}/access_requests`), 201);
    bodyOf(await ashlar.root(`DELETE /${source}/access_requests/${mason.id}`), 204);
  }
  const told = await receiver.heard(
    'System Hook',
    'user_access_request_to_group',
    'user_access_request_revoked_for_group',
    'user_access_request_to_project',
    'user_access_request_revoked_for_project',
  );
  for (const each of told) expect(each).toMatchObject({ user_id: mason.id, user_email: '[REDACTED]' });
  const inside = await receiver.heard(
    'Member Hook',
    'user_access_request_to_group',
    'user_access_request_denied_for_group',
  );
  for (const each of inside) expect(each).toMatchObject({ group_id: open.id, user_id: mason.id });
  expect(namesOf('Member Hook')).toHaveLength(2);
});
