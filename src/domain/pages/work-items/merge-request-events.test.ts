/** Changes of labels, milestones and states on the page of a merge request, among what was said. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { openBrowser } from '../../../../test/support/browser.ts';
import { bodyOf } from '../../../../test/support/factories.ts';
import { makeMergeRequest, makeReviewedProject } from '../../../../test/support/merge-requests.ts';

const ashlar = useApp();

test('they stand in their order between the comments', async () => {
  const { id, path_with_namespace } = await makeReviewedProject(ashlar, { visibility: 'public' });
  await makeMergeRequest(ashlar, id, 'topic');
  const path = `/projects/${id}/merge_requests/1`;
  const change = async (body: Record<string, unknown>) =>
    bodyOf(await ashlar.root(`PUT ${path}`, { body }), 200);
  const say = async (body: string) =>
    bodyOf(await ashlar.root(`POST ${path}/notes`, { body: { body } }), 201);
  const milestone = bodyOf(
    await ashlar.root(`POST /projects/${id}/milestones`, { body: { title: 'First <course>' } }),
    201,
  );
  await change({ labels: 'heavy,gone' });
  await say('One');
  await change({ labels: 'light', milestone_id: milestone.id });
  await say('Two');
  await change({ state_event: 'close' });
  await change({ state_event: 'reopen', milestone_id: 0 });
  bodyOf(await ashlar.root(`DELETE /projects/${id}/labels/gone`), 204);
  const { text } = await openBrowser(ashlar).get(`/${path_with_namespace}/-/merge_requests/1`);
  const activity = text
    .slice(text.indexOf('<h2>Activity</h2>'))
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/\s+/g, ' ');
  const parts = [
    'added heavy label',
    'One',
    'added light label and removed heavy label',
    'Two',
    'closed',
    'reopened',
  ];
  const places = parts.map((part) => activity.indexOf(part));
  expect(places.every((place) => place >= 0)).toBe(true);
  expect(places).toEqual(places.toSorted((one, two) => one - two));
  const other = ['changed milestone to %First &lt;course&gt;', 'removed milestone'];
  for (const part of other) expect(activity).toContain(part);
  expect(text).not.toContain('gone');
  // The browser would refuse it.
  expect(text).not.toContain(' style=');
});
