/** Milestones, as hooks are told of them. */
import { beforeEach, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeGroup, makeProject } from '../../../../test/support/factories.ts';
import { useHookReceiver } from '../../../../test/support/hooks.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'premium' } });
const receiver = useHookReceiver(ashlar);
let group: { id: number; full_path: string };
let project: { id: number; path_with_namespace: string };

beforeEach(async () => {
  group = await makeGroup(ashlar);
  project = await makeProject(ashlar, { namespace_id: group.id });
  receiver.clear();
});
const reach = async (count: number) => {
  await expect.poll(() => receiver.payloads('Milestone Hook').length).toBe(count);
  return receiver.payloads('Milestone Hook');
};

test('a milestone is told when it is made, closed, opened again and deleted', async () => {
  await receiver.listen(ashlar, `/projects/${project.id}`, { milestone_events: true });
  const milestones = `/projects/${project.id}/milestones`;
  const fields = { title: 'The vault', description: 'Stone by stone', due_date: '2027-05-01' };
  const made = bodyOf(await ashlar.root(`POST ${milestones}`, { body: fields }), 201);
  const one = `${milestones}/${made.id}`;
  await reach(1);
  for (const body of [{ title: 'The roof' }, { state_event: 'close' }, { state_event: 'activate' }])
    bodyOf(await ashlar.root(`PUT ${one}`, { body }), 200);
  await reach(3);
  bodyOf(await ashlar.root(`DELETE ${one}`), 204);
  const told = await reach(4);
  expect(told[0]).toEqual({
    object_kind: 'milestone',
    event_type: 'milestone',
    project: expect.objectContaining({ id: project.id, path_with_namespace: project.path_with_namespace }),
    object_attributes: {
      id: made.id,
      iid: 1,
      ...fields,
      state: 'active',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/),
      updated_at: expect.stringMatching(/ UTC$/),
      start_date: null,
      group_id: null,
      project_id: project.id,
    },
    action: 'create',
  });
  expect(told.map(({ action }) => action)).toEqual(['create', 'close', 'reopen', 'delete']);
  expect(told[3].object_attributes).toMatchObject({ id: made.id, title: 'The roof' });
});

test("a group's milestone is told with the group, to the group's hooks alone", async () => {
  await receiver.listen(ashlar, `/groups/${group.id}`, { milestone_events: true });
  await receiver.listen(ashlar, `/projects/${project.id}`, { milestone_events: true });
  bodyOf(await ashlar.root(`POST /groups/${group.id}/milestones`, { body: { title: 'The spire' } }), 201);
  const [told] = await reach(1);
  expect(told.project).toBeUndefined();
  expect(told.group).toEqual({
    group_name: group.full_path,
    group_path: group.full_path,
    group_id: group.id,
    full_path: group.full_path,
  });
  expect(told.object_attributes).toMatchObject({ group_id: group.id, project_id: null });
});

test('a test sends the newest milestone, and says where there is none', async () => {
  const { id } = await receiver.listen(ashlar, `/projects/${project.id}`, {});
  const sample = () => ashlar.root(`POST /projects/${project.id}/hooks/${id}/test/milestone_events`);
  expect(bodyOf(await sample(), 422).message).toBe('Ensure the project has milestones.');
  bodyOf(await ashlar.root(`POST /projects/${project.id}/milestones`, { body: { title: 'The nave' } }), 201);
  bodyOf(await sample(), 201);
  const [told] = await reach(1);
  expect(told).toMatchObject({ action: 'create', object_attributes: { title: 'The nave' } });
});
