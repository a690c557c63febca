/** Free has no epics. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { makeGroup } from '../../../../test/support/factories.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'free' } });

test('every endpoint refuses', async () => {
  const { id } = await makeGroup(ashlar);
  const paths = ['epics', '-/epics', 'epics/1', 'epics/1/epics', 'epics/1/issues', 'epics/1/related_epics'];
  for (const path of [...paths, 'related_epic_links', 'epics/1/resource_label_events'])
    expect([path, (await ashlar.root(`GET /groups/${id}/${path}`)).status]).toEqual([path, 403]);
  const body = { title: 'x' };
  expect((await ashlar.root(`POST /groups/${id}/epics`, { body })).status).toBe(403);
});
