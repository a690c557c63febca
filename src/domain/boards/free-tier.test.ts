/** Boards in a tier without scopes, and with one board of a group. */
import { expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { bodyOf, makeGroup, makeProject } from '../../../test/support/factories.ts';

const app = useApp({ env: { ASHLAR_TIER: 'free' } });

test('a group has one board, a project several', async () => {
  const group = await makeGroup(app);
  const project = await makeProject(app, { namespace_id: group.id });
  const body = { name: 'One' };
  const made = await Promise.all([1, 2].map(() => app.root(`POST /groups/${group.id}/boards`, { body })));
  expect(made.map(({ status }) => status).sort()).toEqual([201, 403]);
  for (const _ of [1, 2]) bodyOf(await app.root(`POST /projects/${project.id}/boards`, { body }), 201);
});

test('what belongs to higher tiers is passed over on boards, and refused as a list', async () => {
  const { id } = await makeProject(app);
  const path = `/projects/${id}/boards`;
  const label = { name: 'a', color: '#ff0000' };
  const { id: label_id } = bodyOf(await app.root(`POST /projects/${id}/labels`, { body: label }), 201);
  const board = bodyOf(await app.root(`POST ${path}`, { body: { name: 'One' } }), 201);
  const body = { name: 'Two', weight: 3, labels: 'a,b', assignee_id: 1, milestone_id: 1 };
  const changed = bodyOf(await app.root(`PUT ${path}/${board.id}`, { body }), 200);
  expect(changed).toEqual({ ...board, name: 'Two' });
  expect(Object.keys(changed)).not.toEqual(expect.arrayContaining(['weight']));
  const add = (what: object) => app.root(`POST ${path}/${board.id}/lists`, { body: what });
  expect((await add({ assignee_id: 1 })).body).toEqual({
    message: { error: ['Assignee lists not available with your current license'] },
  });
  expect(bodyOf(await add({ label_id }), 201)).toEqual({
    id: expect.any(Number),
    label: expect.objectContaining({ id: label_id }),
    position: 0,
  });
});
