/** Feature flags, as hooks are told of them. */
import { expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { bodyOf, makeProject } from '../../../test/support/factories.ts';
import { useHookReceiver } from '../../../test/support/hooks.ts';

const ashlar = useApp();
const receiver = useHookReceiver(ashlar);
const reach = async (count: number) => {
  await expect.poll(() => receiver.payloads('Feature Flag Hook').length).toBe(count);
  return receiver.payloads('Feature Flag Hook');
};

test('a feature flag is told when it is turned on or off, and of no other change', async () => {
  const { id } = await makeProject(ashlar);
  const project = `/projects/${id}`;
  const hook = await receiver.listen(ashlar, project, { feature_flag_events: true });
  const sample = () => ashlar.root(`POST ${project}/hooks/${hook.id}/test/feature_flag_events`);
  expect(bodyOf(await sample(), 422).message).toBe('Ensure the project has feature flags.');
  const flag = { name: 'crane', description: 'Lifts', active: true, version: 'new_version_flag' };
  bodyOf(await ashlar.root(`POST ${project}/feature_flags`, { body: flag }), 201);
  const change = async (body: object) =>
    bodyOf(await ashlar.root(`PUT ${project}/feature_flags/crane`, { body }), 200);
  await change({ description: 'Lifts stones' });
  await change({ active: false });
  const [told] = await reach(1);
  expect(told).toEqual({
    object_kind: 'feature_flag',
    project: expect.objectContaining({ id }),
    user: expect.objectContaining({ id: 1, username: 'root', email: '[REDACTED]' }),
    user_url: `${ashlar.url}/root`,
    object_attributes: {
      id: expect.any(Number),
      name: 'crane',
      description: 'Lifts stones',
      active: false,
    },
  });
  await change({ active: true });
  expect((await reach(2))[1].object_attributes.active).toBe(true);
  bodyOf(await sample(), 201);
  await reach(3);
});
