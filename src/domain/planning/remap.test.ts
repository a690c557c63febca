/** Labels and milestones of a project that has moved. */
import { expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { bodyOf, makeGroup, makeProject } from '../../../test/support/factories.ts';
import { makeIssue, makeLabel, makeMilestone } from '../../../test/support/planning.ts';
import { inTransaction } from '../../platform/db/database.ts';
import { remapPlanning } from './remap-actions.ts';

const ashlar = useApp();

test('what was of the old groups becomes what the new ones have, or the project’s own', async () => {
  const [from, to] = [await makeGroup(ashlar), await makeGroup(ashlar)];
  const project = await makeProject(ashlar, { namespace_id: from.id });
  const left = await makeProject(ashlar, { namespace_id: from.id });
  const names = { there: 'there', gone: 'gone', own: 'own' };
  const gone = await makeLabel(ashlar, `groups/${from.id}`, { name: names.gone, color: '#123456' });
  await makeLabel(ashlar, `groups/${from.id}`, { name: names.there });
  const there = await makeLabel(ashlar, `groups/${to.id}`, { name: names.there });
  const own = await makeLabel(ashlar, `projects/${project.id}`, { name: names.own });
  const milestone = await makeMilestone(ashlar, `groups/${from.id}`, { title: 'v1', due_date: '2026-01-01' });
  const labels = Object.values(names).join(',');
  const moved = await makeIssue(ashlar, project, { labels, milestone_id: milestone.id });
  const stayed = await makeIssue(ashlar, left, { labels: names.gone, milestone_id: milestone.id });
  bodyOf(await ashlar.root(`POST /projects/${project.id}/labels/${gone.id}/subscribe`), 201);

  const { services } = ashlar.app;
  bodyOf(await ashlar.root(`PUT /projects/${project.id}/transfer`, { body: { namespace: to.id } }), 200);
  // A second run changes nothing.
  await inTransaction(services.database.db, (tx) => remapPlanning(tx, services, [project.id]));

  const show = async (issue: { project_id: number; iid: number }) =>
    bodyOf(
      await ashlar.root(`GET /projects/${issue.project_id}/issues`, {
        query: `iids[]=${issue.iid}&with_labels_details=true`,
      }),
      200,
    )[0];
  const after = await show(moved);
  const ids = after.labels.map(({ id, name }: { id: number; name: string }) => [name, id]);
  expect(Object.fromEntries(ids)).toEqual({ own: own.id, there: there.id, gone: expect.any(Number) });
  expect(after.milestone).toMatchObject({
    project_id: project.id,
    iid: 1,
    title: 'v1',
    due_date: '2026-01-01',
  });
  const copy = bodyOf(await ashlar.root(`GET /projects/${project.id}/labels/gone`), 200);
  expect(copy).toMatchObject({ color: '#123456', is_project_label: true, subscribed: true });
  const before = await show(stayed);
  expect(before.labels.map(({ id }: { id: number }) => id)).toEqual([gone.id]);
  expect(before.milestone.id).toBe(milestone.id);
});

test('what was of the groups around a group that moves goes with its projects', async () => {
  const [from, to] = [await makeGroup(ashlar), await makeGroup(ashlar)];
  const inner = await makeGroup(ashlar, { parent_id: from.id });
  const project = await makeProject(ashlar, { namespace_id: inner.id });
  await makeLabel(ashlar, `groups/${from.id}`, { name: 'outer' });
  const kept = await makeLabel(ashlar, `groups/${inner.id}`, { name: 'inner' });
  const issue = await makeIssue(ashlar, project, { labels: 'inner,outer' });
  bodyOf(await ashlar.root(`POST /groups/${inner.id}/transfer`, { body: { group_id: to.id } }), 201);
  const shown = bodyOf(await ashlar.root(`GET /projects/${project.id}/issues/${issue.iid}`), 200);
  expect(shown.labels).toEqual(['inner', 'outer']);
  const labels: { name: string; id: number; is_project_label: boolean }[] = bodyOf(
    await ashlar.root(`GET /projects/${project.id}/labels`),
    200,
  );
  expect(labels.map(({ name, is_project_label }) => [name, is_project_label])).toEqual([
    ['inner', false],
    ['outer', true],
  ]);
  expect(labels[0]?.id).toBe(kept.id);
});
