/** An independent JavaScript client, @gitbeaker/rest, over the public API's alerts and incidents. */
import { expect, test } from 'vitest';
import { ids, picture, refusal, useGitbeaker } from './gitbeaker-client.ts';
import { ROOT_TOKEN } from './support.ts';

const gitbeaker = useGitbeaker();

/** No client has the paths that are our own. */
async function send(path: string, body: unknown): Promise<unknown> {
  const response = await fetch(`${gitbeaker.url}/api/v4${path}`, {
    method: 'POST',
    headers: { 'private-token': ROOT_TOKEN, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect([path, response.ok]).toEqual([path, true]);
  return response.json();
}

test('pictures of graphs, with an alert and with its incident', async () => {
  const { root } = gitbeaker;
  const group = await gitbeaker.makeGroup('watched');
  const { id } = await root.Projects.create({ name: 'site', path: 'site', namespaceId: group.id });
  const path = `/projects/${id}/alert_management_integrations`;
  const made = await send(path, { name: 'Script', type: 'http' });
  expect(made).toMatchObject({ active: true, key: expect.stringMatching(/^[0-9a-f]{32}$/) });
  const { id: integration } = made as { id: number };
  expect(await send(`${path}/${integration}/test`, { payload: { title: 'Slow' } })).toEqual([
    { iid: 1, title: 'Slow' },
  ]);
  const image = { content: picture, filename: 'graph.png' };
  // In forms the client sends names of several words as it has them itself.
  const options = { url: 'https://graphs.example/1' };
  const added = await root.AlertManagement.uploadMetricImage(id, 1, image, options);
  expect(added).toMatchObject({ filename: 'graph.png', url: options.url, url_text: null });
  const file = await fetch(`${gitbeaker.url}${added.file_path}`, {
    headers: { 'private-token': ROOT_TOKEN },
  });
  expect([file.status, file.headers.get('content-type')]).toEqual([200, 'image/png']);
  await root.AlertManagement.editMetricImage(id, 1, added.id, { urlText: 'Slow' });
  expect(await root.AlertManagement.allMetricImages(id, 1)).toMatchObject([
    { id: added.id, url_text: 'Slow' },
  ]);
  await root.AlertManagement.removeMetricImage(id, 1, added.id);
  expect(await root.AlertManagement.allMetricImages(id, 1)).toEqual([]);
  expect((await refusal(root.AlertManagement.removeMetricImage(id, 1, added.id)))[0]).toBe(404);

  const { iid } = (await send(`/projects/${id}/alert_management_alerts/1/issue`, {})) as { iid: number };
  const shown = await root.Issues.uploadMetricImage(id, iid, image);
  expect(ids(await root.Issues.allMetricImages(id, iid))).toEqual([shown.id]);
  await root.Issues.edit(id, iid, { stateEvent: 'close' });
  await send(`/projects/${id}/alert_management_alerts/1/todo`, {});
  const [todo] = await root.TodoLists.all({ type: 'AlertManagement::Alert' });
  expect(todo?.target).toMatchObject({ iid: 1, status: 'resolved', issue_iid: iid });
});
