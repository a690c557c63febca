/** Releases, as hooks are told of them. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeProject } from '../../../../test/support/factories.ts';
import { useHookReceiver } from '../../../../test/support/hooks.ts';
import { fillProject } from '../../../../test/support/repositories.ts';

const ashlar = useApp();
const receiver = useHookReceiver(ashlar);
const reach = async (count: number) => {
  await expect.poll(() => receiver.payloads('Release Hook').length).toBe(count);
  return receiver.payloads('Release Hook');
};

test('a release is told when it is made, changed and deleted, with its links', async () => {
  const { id, path_with_namespace } = await makeProject(ashlar);
  const project = `/projects/${id}`;
  const head = await fillProject(ashlar, id, [{ a: '1' }]);
  const hook = await receiver.listen(ashlar, project, { releases_events: true });
  const sample = () => ashlar.root(`POST ${project}/hooks/${hook.id}/test/releases_events`);
  expect(bodyOf(await sample(), 422).message).toBe('Ensure the project has releases.');
  const links = [{ name: 'Program', url: 'https://example.com/p', link_type: 'package' }];
  const body = { tag_name: 'v1', ref: 'main', name: 'The vault', description: 'Whole', assets: { links } };
  bodyOf(await ashlar.root(`POST ${project}/releases`, { body }), 201);
  const [told] = await reach(1);
  const url = `${ashlar.url}/${path_with_namespace}`;
  expect(told).toEqual({
    object_kind: 'release',
    id: expect.any(Number),
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/),
    released_at: expect.stringMatching(/ UTC$/),
    description: 'Whole',
    name: 'The vault',
    tag: 'v1',
    project: expect.objectContaining({ id, path_with_namespace }),
    url: `${url}/-/releases/v1`,
    action: 'create',
    assets: {
      count: 5,
      links: [{ id: expect.any(Number), ...links[0] }],
      sources: expect.arrayContaining([{ format: 'zip', url: expect.stringContaining('.zip') }]),
    },
    commit: expect.objectContaining({ id: head, title: 'Commit 1' }),
  });
  bodyOf(await ashlar.root(`PUT ${project}/releases/v1`, { body: { name: 'The crypt' } }), 200);
  await reach(2);
  bodyOf(await sample(), 201);
  await reach(3);
  bodyOf(await ashlar.root(`DELETE ${project}/releases/v1`), 200);
  const all = await reach(4);
  expect(all.map(({ action }) => action)).toEqual(['create', 'update', 'create', 'delete']);
  expect(all[3]).toEqual({ ...all[1], action: 'delete' });
});
