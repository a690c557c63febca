/** Protected branches in a tier without users in rules and without unprotect access. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { addMember, bodyOf, makeProject, makeUser } from '../../../../test/support/factories.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'free' } });

test('fields of higher tiers are neither taken nor shown', async () => {
  const project = await makeProject(ashlar);
  const user = await makeUser(ashlar);
  await addMember(ashlar, `projects/${project.id}`, user, 40);
  const branches = `/projects/${project.id}/protected_branches`;
  const body = { name: 'main', allowed_to_push: [{ user_id: user.id }], unprotect_access_level: 60 };
  expect(bodyOf(await ashlar.root(`POST ${branches}`, { body }), 201)).toEqual({
    id: expect.any(Number),
    name: 'main',
    push_access_levels: [
      {
        id: expect.any(Number),
        access_level: 40,
        access_level_description: 'Maintainers',
        deploy_key_id: null,
      },
    ],
    merge_access_levels: [
      {
        id: expect.any(Number),
        access_level: 40,
        access_level_description: 'Maintainers',
        deploy_key_id: null,
      },
    ],
    allow_force_push: false,
  });
  expect((await ashlar.as(user.token)(`DELETE ${branches}/main`)).status).toBe(204);
});
