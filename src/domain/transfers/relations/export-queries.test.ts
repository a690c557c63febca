/** What lines name is what they name where they are imported: numbers of other projects and groups are not written. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeGroup, makeProject } from '../../../../test/support/factories.ts';
import { makeReviewedProject } from '../../../../test/support/merge-requests.ts';
import { linesOf, type Owner } from './export-queries.ts';
import { groupRelations } from './group-relations.ts';
import { projectRelations } from './project-relations.ts';

const ashlar = useApp({ still: true });

async function written(name: string, owner: Owner): Promise<Record<string, unknown>[]> {
  const relation = [...groupRelations, ...projectRelations].find((each) => each.name === name);
  if (!relation) throw new Error(`no relation ${name}`);
  const lines: Record<string, unknown>[] = [];
  for await (const page of linesOf(ashlar.app.services.database.background, relation, owner))
    lines.push(...page.map((line) => JSON.parse(line)));
  return lines;
}

test('an epic names a parent in its group, and none in another', async () => {
  const group = await makeGroup(ashlar);
  const inner = await makeGroup(ashlar, { parent_id: group.id });
  const make = async (id: number, body: Record<string, unknown>) =>
    bodyOf(await ashlar.root(`POST /groups/${id}/epics`, { body }), 201);
  const parent = await make(group.id, { title: 'Parent' });
  await make(group.id, { title: 'Beside', parent_id: parent.id });
  await make(inner.id, { title: 'Below', parent_id: parent.id });
  const parents = async (id: number) =>
    (await written('epics', { column: 'namespace_id', id })).map((line) => line.parent);
  expect(await parents(group.id)).toEqual([null, { iid: parent.iid }]);
  expect(await parents(inner.id)).toEqual([null]);
});

test('a pipeline names a merge request of its project, and none of another', async () => {
  const { sql } = ashlar.app.services.database;
  const { id } = await makeReviewedProject(ashlar);
  const other = await makeProject(ashlar);
  const branch = { branch: 'feature', ref: 'main' };
  bodyOf(await ashlar.root(`POST /projects/${id}/repository/branches`, { body: branch }), 201);
  const body = { source_branch: 'feature', target_branch: 'main', title: 'One' };
  const own = bodyOf(await ashlar.root(`POST /projects/${id}/merge_requests`, { body }), 201);
  const sha = 'a'.repeat(40);
  for (const project of [id, other.id])
    await sql`insert into pipelines (project_id, iid, sha, before_sha, ref, tag, protected, source, status, merge_request_id, created_at, updated_at)
      values (${project}, 1, ${sha}, ${sha}, 'feature', false, false, 'push', 'success', ${own.id}, now(), now())`;
  const named = async (project: number) =>
    (await written('ci_pipelines', { column: 'project_id', id: project })).map((line) => line.merge_request);
  expect(await named(id)).toEqual([{ iid: 1 }]);
  expect(await named(other.id)).toEqual([null]);
});
