/** Spam checks of notes: only notes that anonymous callers can read are sent to a service. */
import { beforeEach, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { makeEpic } from '../../../../test/support/epics.ts';
import { addMember, type MadeGroup, makeGroup, makeUser } from '../../../../test/support/factories.ts';
import { useSpamServices } from '../../../../test/support/spam-services.ts';

const ashlar = useApp();
const services = useSpamServices(ashlar);
beforeEach(() => services.reset({ recaptcha_enabled: false }));

test('a note on an epic of a public group is refused, on others nobody is asked', async () => {
  const planner = await makeUser(ashlar);
  const note = async (group: MadeGroup, attributes: object, more: object = {}) => {
    const epic = await makeEpic(ashlar, group, { ...attributes });
    const body = { body: 'this is spam', ...more };
    return (await ashlar.as(planner.token)(`POST /groups/${group.id}/epics/${epic.id}/notes`, { body }))
      .status;
  };
  const [open, hidden] = [await makeGroup(ashlar, { visibility: 'public' }), await makeGroup(ashlar)];
  for (const group of [open, hidden]) await addMember(ashlar, `groups/${group.id}`, planner, 15);
  expect(await note(hidden, {})).toBe(201);
  expect(await note(open, { confidential: true })).toBe(201);
  expect(await note(open, {}, { internal: true })).toBe(201);
  expect(services.asked()).toEqual([]);
  expect(await note(open, {})).toBe(400);
});
