/** Users and their keys, as the hooks of the instance are told of them. */
import { expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { openBrowser, signInAs } from '../../../test/support/browser.ts';
import { addMember, bodyOf, createUser, makeGroup, makeProject } from '../../../test/support/factories.ts';
import { useHookReceiver } from '../../../test/support/hooks.ts';
import { sampleKeys } from '../../../test/support/sample-keys.ts';

const ashlar = useApp();
const receiver = useHookReceiver(ashlar);
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
const heard = (...names: string[]) => receiver.heard('System Hook', ...names);

test('a user is told when made, renamed, refused and deleted, with the address, to administrators alone', async () => {
  const { id: projectId } = await makeProject(ashlar);
  await receiver.listen(ashlar, `/projects/${projectId}`, { push_events: true, issues_events: true });
  await receiver.listen(ashlar, '', {});
  const user = await createUser(ashlar, { name: 'Ada' });
  const fields = {
    created_at: time,
    updated_at: time,
    name: 'Ada',
    email: user.email,
    user_id: user.id,
    username: user.username,
  };
  const [made] = await heard('user_create');
  expect(made).toEqual({ event_name: 'user_create', ...fields });
  const one = `/users/${user.id}`;
  const username = `${user.username}-renamed`;
  bodyOf(await ashlar.root(`PUT ${one}`, { body: { username } }), 200);
  const [renamed] = await heard('user_rename');
  expect(renamed).toEqual({
    event_name: 'user_rename',
    ...fields,
    username,
    old_username: user.username,
  });
  bodyOf(await ashlar.root(`POST ${one}/block`), 201);
  await signInAs(openBrowser(ashlar), username, 'wrong');
  const [refused] = await heard('user_failed_login');
  expect(refused).toEqual({ event_name: 'user_failed_login', ...fields, username, state: 'blocked' });
  bodyOf(await ashlar.root(`POST ${one}/unblock`), 201);
  const group = await makeGroup(ashlar);
  await addMember(ashlar, `groups/${group.id}`, user, 30);
  bodyOf(await ashlar.root(`DELETE ${one}`), 204);
  const [left, gone] = await heard('user_remove_from_group', 'user_destroy');
  expect(left).toMatchObject({ user_id: user.id, group_id: group.id, user_email: '[REDACTED]' });
  expect(gone).toEqual({ event_name: 'user_destroy', ...fields, username });
  expect(receiver.payloads()).toEqual(receiver.payloads('System Hook'));
});

test('a key is told when it is added and removed', async () => {
  await receiver.listen(ashlar, '', {});
  receiver.clear();
  const user = await createUser(ashlar, {});
  const { key } = sampleKeys.ed25519;
  const added = bodyOf(
    await ashlar.root(`POST /users/${user.id}/keys`, { body: { title: 'Chisel', key } }),
    201,
  );
  bodyOf(await ashlar.root(`DELETE /users/${user.id}/keys/${added.id}`), 204);
  const told = await heard('key_create', 'key_destroy');
  expect(told).toEqual(
    ['key_create', 'key_destroy'].map((event_name) => ({
      event_name,
      created_at: time,
      updated_at: time,
      username: user.username,
      key: added.key,
      id: added.id,
    })),
  );
});
