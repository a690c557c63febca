/** Pages in the free tier: paid features have no page and no tab, and all addresses still lead somewhere. */
import { expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { openBrowser, signInAs } from '../../../test/support/browser.ts';
import { addressesIn, follow, makeReadable, OWNER_PASSWORD } from '../../../test/support/readable.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'free' } });

test('every address leads to something, and none to what the tier leaves out', async () => {
  const world = await makeReadable(ashlar, false);
  const owner = openBrowser(ashlar);
  await signInAs(owner, world.owner.username, OWNER_PASSWORD);
  const lost: unknown[] = [];
  for (const [address, from] of await addressesIn(ashlar, world)) {
    const { status } = await follow(ashlar, owner, address);
    if (status !== 200 || address.includes('/epics/')) lost.push([address, from, status]);
  }
  expect(lost).toEqual([]);
  const group = `/groups/${world.group.full_path}`;
  const { text } = await owner.get(group);
  expect(text).toContain(`${group}/-/milestones`);
  expect(text).not.toContain(`${group}/-/epics`);
  expect(text).not.toContain(`${group}/-/wikis`);
  for (const path of ['/-/epics', '/-/epics/1', '/-/wikis', '/-/wikis/home'])
    expect([path, (await owner.get(`${group}${path}`)).status]).toEqual([path, 404]);
});
