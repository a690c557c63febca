/** Tokens that expire soon, as hooks are told of them. */
import { beforeEach, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeGroup, makeProject } from '../../../../test/support/factories.ts';
import { useHookReceiver } from '../../../../test/support/hooks.ts';
import { moveClock, now } from '../../../platform/clock.ts';
import { announceExpiring } from './expiry-actions.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'premium' } });
const receiver = useHookReceiver(ashlar);
const DAY = 86_400_000;

beforeEach(() => receiver.clear());
const dayIn = (days: number) => new Date(now().getTime() + days * DAY).toISOString().slice(0, 10);
const makeToken = async (home: string, expires_at: string) => {
  const body = { name: 'crane', scopes: ['api'], expires_at };
  return bodyOf(await ashlar.root(`POST ${home}/access_tokens`, { body }), 201);
};
const announce = () => announceExpiring(ashlar.app.services.database.background);
const payloads = () => receiver.payloads('Resource Access Token Hook');
const reach = async (count: number) => {
  await expect.poll(() => payloads().length).toBe(count);
  return payloads();
};

test('a token is told seven days before it expires and one, once each, and no other', async () => {
  const project = await makeProject(ashlar);
  const home = `/projects/${project.id}`;
  await receiver.listen(ashlar, home, { resource_access_token_events: true });
  await makeToken(home, dayIn(40));
  const revoked = await makeToken(home, dayIn(20));
  bodyOf(await ashlar.root(`DELETE ${home}/access_tokens/${revoked.id}`), 204);
  const expires_at = dayIn(20);
  const token = await makeToken(home, expires_at);
  await announce();
  const back: (() => void)[] = [];
  try {
    back.push(moveClock(14 * DAY));
    await Promise.all([announce(), announce()]);
    const [told] = await reach(1);
    expect(told).toEqual({
      object_kind: 'access_token',
      project: expect.objectContaining({ id: project.id }),
      object_attributes: {
        user_id: token.user_id,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/),
        id: token.id,
        name: 'crane',
        expires_at,
      },
      event_name: 'expiring_access_token',
    });
    back.push(moveClock(2 * DAY));
    await announce();
    back.push(moveClock(3 * DAY));
    await announce();
    await announce();
    await reach(2);
  } finally {
    for (const undo of back) undo();
  }
  expect(payloads()).toHaveLength(2);
});

test("a group's token is told with the group", async () => {
  const group = await makeGroup(ashlar);
  await receiver.listen(ashlar, `/groups/${group.id}`, { resource_access_token_events: true });
  const token = await makeToken(`/groups/${group.id}`, dayIn(3));
  await announce();
  const [told] = await reach(1);
  expect(told).toMatchObject({
    group: { group_id: group.id, group_name: group.full_path, full_path: group.full_path },
    object_attributes: { id: token.id },
  });
  expect(told.project).toBeUndefined();
});

test('a test sends the newest token, and says where there is none', async () => {
  const { id } = await makeProject(ashlar);
  const hook = await receiver.listen(ashlar, `/projects/${id}`, {});
  const sample = () => ashlar.root(`POST /projects/${id}/hooks/${hook.id}/test/resource_access_token_events`);
  expect(bodyOf(await sample(), 422).message).toBe('Ensure the project has access tokens.');
  const token = await makeToken(`/projects/${id}`, dayIn(90));
  bodyOf(await sample(), 201);
  expect((await reach(1))[0].object_attributes.id).toBe(token.id);
});
