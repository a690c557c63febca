/** The lists of merge requests around milestones, issues and commits, and what labels and issues count, over HTTP. */
import { describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, type MadeUser, makeGroup, makeUser } from '../../../../test/support/factories.ts';
import {
  commitTo,
  makeMergeRequest,
  makeReaderWorld,
  makeReviewedProject,
  readersBySettings,
  readersWho,
} from '../../../../test/support/merge-requests.ts';
import { makeIssue, makeLabel, makeMilestone } from '../../../../test/support/planning.ts';

const ashlar = useApp();

const listOf = async (path: string, query = '', call = ashlar.root) =>
  bodyOf(await call(`GET ${path}`, { query }), 200);
const idsOf = async (path: string, query = '', call = ashlar.root): Promise<number[]> =>
  (await listOf(path, query, call)).map(({ id }: { id: number }) => id);

type Made = { id: number };

/** Says that the merge request closes the issue. */
const close = (mergeRequest: Made, issue: Made) => ashlar.app.services.database.sql`
  insert into merge_request_closing_issues (merge_request_id, issue_id) values (${mergeRequest.id}, ${issue.id})`;

/** Says on the issue that it was mentioned in the merge request. */
const mention = (issue: Made & { project_id: number }, mergeRequest: Made) =>
  ashlar.app.services.database.sql`
  insert into notes (project_id, issue_id, author_id, body, discussion_id, system_action, mentioned_in_merge_request_id,
    created_at, updated_at)
  values (${issue.project_id}, ${issue.id}, 1, 'mentioned', 'd', 'cross_reference', ${mergeRequest.id}, now(), now())`;

describe('of a milestone', () => {
  test('the most urgent label comes first, of a project and of a group', async () => {
    const group = await makeGroup(ashlar);
    const project = await makeReviewedProject(ashlar, { namespace_id: group.id });
    const at = `projects/${project.id}` as const;
    const urgent = await makeLabel(ashlar, at, { priority: 1 });
    for (const parent of [at, `groups/${group.id}` as const]) {
      const { id: milestone_id } = await makeMilestone(ashlar, parent);
      const made = async (branch: string, attributes: object) =>
        makeMergeRequest(ashlar, project.id, `${branch}-${milestone_id}`, { milestone_id, ...attributes });
      const plain = await made('plain', {});
      const first = await made('first', { labels: urgent.name });
      await makeMergeRequest(ashlar, project.id, `other-${milestone_id}`);
      const path = `/${parent}/milestones/${milestone_id}/merge_requests`;
      expect(await idsOf(path)).toEqual([first.id, plain.id]);
      expect(await idsOf(path, 'per_page=1&page=2')).toEqual([plain.id]);
      const [record] = await listOf(path);
      const { short, full } = first.references;
      expect(record.references.relative).toBe(parent === at ? short : full);
    }
    expect((await ashlar.root(`GET /${at}/milestones/999999/merge_requests`)).status).toBe(404);
  });

  test('what was of the group goes along when the project leaves it', async () => {
    const [from, to] = [await makeGroup(ashlar), await makeGroup(ashlar)];
    const project = await makeReviewedProject(ashlar, { namespace_id: from.id });
    const milestone = await makeMilestone(ashlar, `groups/${from.id}`);
    const label = await makeLabel(ashlar, `groups/${from.id}`);
    const attributes = { milestone_id: milestone.id, labels: label.name };
    const { iid } = await makeMergeRequest(ashlar, project.id, 'topic', attributes);
    const path = `PUT /projects/${project.id}/transfer`;
    bodyOf(await ashlar.root(path, { body: { namespace: to.id } }), 200);
    const query = 'with_labels_details=true';
    const [moved] = await listOf(`/projects/${project.id}/merge_requests`, query);
    expect(moved).toMatchObject({
      iid,
      milestone: { title: milestone.title, project_id: project.id },
      labels: [{ name: label.name }],
    });
    expect(moved.labels[0].id).not.toBe(label.id);
  });
});

describe('of an issue', () => {
  test('those are related that mention it, or close it', async () => {
    const project = await makeReviewedProject(ashlar);
    const other = await makeReviewedProject(ashlar);
    const issue = await makeIssue(ashlar, project);
    const path = `/projects/${project.id}/issues/${issue.iid}`;
    const made = (branch: string) => makeMergeRequest(ashlar, project.id, branch);
    const [closing, mentioning, both] = [await made('one'), await made('two'), await made('three')];
    const elsewhere = await makeMergeRequest(ashlar, other.id, 'four');
    await made('five');
    expect(await idsOf(`${path}/related_merge_requests`)).toEqual([]);
    await close(closing, issue);
    await close(both, issue);
    for (const each of [mentioning, both, elsewhere]) await mention(issue, each);
    const all = [closing.id, mentioning.id, both.id, elsewhere.id];
    expect(await idsOf(`${path}/related_merge_requests`)).toEqual(all);
    expect(await idsOf(`${path}/related_merge_requests`, 'per_page=3&page=2')).toEqual([elsewhere.id]);
    const page = await ashlar.root(`GET ${path}/related_merge_requests`, { query: 'per_page=2' });
    expect(page.headers.get('x-total')).toBe('4');
    expect(await idsOf(`${path}/closed_by`)).toEqual([closing.id, both.id]);
    const [first] = await listOf(`${path}/closed_by`);
    expect(first).toMatchObject({ state: 'opened', references: { relative: closing.references.full } });
    expect(bodyOf(await ashlar.root(`GET ${path}`), 200).merge_requests_count).toBe(2);
    const [listed] = await listOf(`/projects/${project.id}/issues`);
    expect(listed.merge_requests_count).toBe(2);
  });

  test('a user’s own note mentions nothing, and a hidden issue has no list', async () => {
    const project = await makeReviewedProject(ashlar, { visibility: 'public' });
    const issue = await makeIssue(ashlar, project, { confidential: true });
    await makeMergeRequest(ashlar, project.id, 'topic');
    const path = `/projects/${project.id}/issues/${issue.iid}`;
    const body = { body: 'mentioned in merge request !1' };
    bodyOf(await ashlar.root(`POST ${path}/notes`, { body }), 201);
    const stranger = ashlar.as((await makeUser(ashlar)).token);
    for (const list of ['related_merge_requests', 'closed_by']) {
      expect(await idsOf(`${path}/${list}`)).toEqual([]);
      expect((await stranger(`GET ${path}/${list}`)).status).toBe(404);
    }
  });
});

describe('of a commit', () => {
  test('those that brought it, and those that made it by merging', async () => {
    const project = await makeReviewedProject(ashlar);
    const commits = `/projects/${project.id}/repository/commits`;
    const first = await commitTo(ashlar, project.id, 'topic', { 'b.txt': 'b' });
    const made = await makeMergeRequest(ashlar, project.id, 'topic');
    const onTop = await makeMergeRequest(ashlar, project.id, 'next', { target_branch: 'topic' });
    await commitTo(ashlar, project.id, 'more', { 'c.txt': 'c' }, { start: 'topic' });
    const more = await makeMergeRequest(ashlar, project.id, 'more');
    const list = `${commits}/${first}/merge_requests`;
    expect(await idsOf(list)).toEqual([more.id, made.id]);
    expect(await idsOf(`${commits}/${onTop.sha}/merge_requests`)).toEqual([onTop.id]);
    expect(await idsOf(`${commits}/topic/merge_requests`)).toEqual([more.id, made.id]);
    const path = `PUT /projects/${project.id}/merge_requests/${made.iid}/merge`;
    const merged = bodyOf(await ashlar.root(path, { body: { squash: true } }), 200);
    for (const sha of [merged.merge_commit_sha, merged.squash_commit_sha])
      expect(await idsOf(`${commits}/${sha}/merge_requests`)).toEqual([made.id]);
    expect(await idsOf(list, 'state=merged')).toEqual([made.id]);
    expect(await idsOf(list, 'state=opened')).toEqual([more.id]);
    expect(await idsOf(list, 'state=all')).toEqual([more.id, made.id]);
    expect((await ashlar.root(`GET ${list}`, { query: 'state=odd' })).status).toBe(400);
    const missing = await ashlar.root(`GET ${commits}/${'0'.repeat(40)}/merge_requests`);
    expect([missing.status, missing.body.message]).toEqual([404, '404 Commit Not Found']);
    const none = await makeReviewedProject(ashlar);
    const [start] = await listOf(`/projects/${none.id}/repository/commits`);
    expect(await idsOf(`/projects/${none.id}/repository/commits/${start.id}/merge_requests`)).toEqual([]);
  });

  test('a fork’s are its own', async () => {
    const project = await makeReviewedProject(ashlar);
    const made = await makeMergeRequest(ashlar, project.id, 'topic');
    const body = { path: `fork-of-${project.id}`, name: `fork-of-${project.id}` };
    const fork = bodyOf(await ashlar.root(`POST /projects/${project.id}/fork`, { body }), 201);
    await expect
      .poll(async () => (await ashlar.root(`GET /projects/${fork.id}/repository/commits/${made.sha}`)).status)
      .toBe(200);
    expect(await idsOf(`/projects/${fork.id}/repository/commits/${made.sha}/merge_requests`)).toEqual([]);
  });
});

test.each(readersBySettings)('with %j they are listed and counted for %j alone', async (settings, names) => {
  const world = await makeReaderWorld(ashlar, settings);
  const { project, mergeRequest } = world;
  const open = await makeReviewedProject(ashlar, { visibility: 'public' });
  const issue = await makeIssue(ashlar, open);
  await close(mergeRequest, issue);
  await mention(issue, mergeRequest);
  const at = `projects/${project.id}` as const;
  const [label, milestone] = [await makeLabel(ashlar, at), await makeMilestone(ashlar, at)];
  const body = { labels: label.name, milestone_id: milestone.id };
  bodyOf(await ashlar.root(`PUT /${at}/merge_requests/${mergeRequest.iid}`, { body }), 200);
  await world.configure();
  const issues = `/projects/${open.id}/issues`;
  const lists = [
    `${issues}/${issue.iid}/related_merge_requests`,
    `${issues}/${issue.iid}/closed_by`,
    `/${at}/milestones/${milestone.id}/merge_requests`,
    `/${at}/repository/commits/${mergeRequest.sha}/merge_requests`,
  ];
  const refused = new Set<number>();
  for (const list of lists) {
    const isListed = async (user: MadeUser) => {
      const called = await ashlar.as(user.token)(`GET ${list}`);
      if (called.status !== 200) refused.add(called.status);
      return called.status === 200 && called.body.length === 1;
    };
    expect([list, await readersWho(world, isListed)]).toEqual([list, names]);
  }
  expect([...refused].filter((status) => status !== 403 && status !== 404)).toEqual([]);
  const isCounted = async (user: MadeUser) => {
    const [listed] = await listOf(issues, '', ashlar.as(user.token));
    return listed.merge_requests_count === 1;
  };
  expect(await readersWho(world, isCounted)).toEqual(names);
  const isLabelled = async (user: MadeUser) => {
    const called = await ashlar.as(user.token)(`GET /${at}/labels`, { query: 'with_counts=true' });
    return called.status === 200 && called.body[0].open_merge_requests_count === 1;
  };
  expect(await readersWho(world, isLabelled)).toEqual(names);
});
