/** CI variables in Free: those of groups are for all environments. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeGroup, makeProject } from '../../../../test/support/factories.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'free' } });

test.each(['groups', 'projects'] as const)('the scope of a variable of %s', async (of) => {
  const { id } = await (of === 'groups' ? makeGroup(ashlar) : makeProject(ashlar));
  const path = `/${of}/${id}/variables`;
  const body = { key: 'STONE', value: 'granite', environment_scope: 'production' };
  const expected = of === 'groups' ? '*' : 'production';
  const made = bodyOf(await ashlar.root(`POST ${path}`, { body }), 201);
  expect(made.environment_scope).toBe(expected);
  const change = { environment_scope: 'test', value: 'marble' };
  const changed = bodyOf(await ashlar.root(`PUT ${path}/STONE`, { body: change }), 200);
  expect(changed).toMatchObject({ value: 'marble', environment_scope: of === 'groups' ? '*' : 'test' });
});
