/** Merging over HTTP: methods, squashing, messages, refusals, and once however many ask. */

import { describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers } from '../../../../test/support/factories.ts';
import { gitRunsDuring } from '../../../../test/support/git-runs.ts';
import {
  commitTo,
  makeMergeRequest,
  makeReviewedProject,
  waitForFollowing,
} from '../../../../test/support/merge-requests.ts';

const ashlar = useApp();

const merge = (id: number, body: Record<string, unknown> = {}, iid = 1) =>
  ashlar.root(`PUT /projects/${id}/merge_requests/${iid}/merge`, { body });
const commitOf = async (id: number, ref: string) =>
  bodyOf(await ashlar.root(`GET /projects/${id}/repository/commits/${encodeURIComponent(ref)}`), 200);

describe('by the project’s method', () => {
  test('a merge commit has both heads as parents, and the default message', async () => {
    const project = await makeReviewedProject(ashlar);
    const { id } = project;
    const made = await makeMergeRequest(ashlar, id, 'topic', { title: 'Topic' });
    const before = await commitOf(id, 'main');
    const merged = bodyOf(await merge(id, { sha: made.sha }), 200);
    expect(merged).toMatchObject({
      state: 'merged',
      detailed_merge_status: 'not_open',
      merged_by: { username: 'root' },
      merge_user: { username: 'root' },
      squash_commit_sha: null,
      sha: made.sha,
    });
    const commit = await commitOf(id, 'main');
    expect(commit).toMatchObject({
      id: merged.merge_commit_sha,
      parent_ids: [before.id, made.sha],
      message: `Merge branch 'topic' into 'main'\n\nTopic\n\nSee merge request ${project.path_with_namespace}!1`,
      author_name: 'Administrator',
    });
    expect(await merge(id)).toMatchObject({ status: 405, body: { message: '405 Method Not Allowed' } });
    // The commit's message names the merge request; nothing else says that it was merged.
    await waitForFollowing(ashlar);
    const notes = bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/1/notes`), 200);
    expect(notes.map(({ body }: { body: string }) => body)).toEqual([`mentioned in commit ${commit.id}`]);
  });

  test('fast-forward moves the branch, if the source has all of it', async () => {
    const { id } = await makeReviewedProject(ashlar, { merge_method: 'ff' });
    const made = await makeMergeRequest(ashlar, id, 'topic');
    const other = await makeMergeRequest(ashlar, id, 'other');
    expect(other.detailed_merge_status).toBe('mergeable');
    expect(bodyOf(await merge(id), 200)).toMatchObject({ merge_commit_sha: null, squash_commit_sha: null });
    expect((await commitOf(id, 'main')).id).toBe(made.sha);
    expect(await merge(id, {}, 2)).toMatchObject({
      status: 422,
      body: { message: 'Branch cannot be merged' },
    });
    await waitForFollowing(ashlar);
    const shown = bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/2`), 200);
    expect(shown).toMatchObject({ state: 'opened', detailed_merge_status: 'need_rebase' });
  });

  test('squashed into one commit of the author', async () => {
    const { id } = await makeReviewedProject(ashlar);
    const { maintainer } = await makeMembers(ashlar, `projects/${id}`, 'maintainer');
    await makeMergeRequest(ashlar, id, 'topic', { title: 'Topic', squash: true });
    await commitTo(ashlar, id, 'topic', { 'more.txt': 'more\n' });
    const merged = bodyOf(
      await ashlar.as(maintainer.token)(`PUT /projects/${id}/merge_requests/1/merge`, {
        body: { squash_commit_message: 'All of it', merge_commit_message: 'Merged' },
      }),
      200,
    );
    const squashed = await commitOf(id, merged.squash_commit_sha);
    expect(squashed).toMatchObject({ message: 'All of it', author_name: 'Administrator' });
    expect(squashed.committer_name).not.toBe('Administrator');
    expect(await commitOf(id, 'main')).toMatchObject({
      id: merged.merge_commit_sha,
      message: 'Merged',
      parent_ids: [squashed.parent_ids[0], squashed.id],
    });
    const files = bodyOf(await ashlar.root(`GET /projects/${id}/repository/tree`), 200);
    expect(files.map(({ name }: { name: string }) => name)).toEqual(['a.txt', 'more.txt', 'topic.txt']);
  });
});

test('a template names who reviewed, approved and wrote it', async () => {
  const lines = ['%{title}', '', '%{issues}', '', '%{reviewed_by}', '%{approved_by}', '%{co_authored_by}'];
  const { id } = await makeReviewedProject(ashlar, { merge_commit_template: lines.join('\r\n') });
  const { developer, maintainer } = await makeMembers(ashlar, `projects/${id}`, 'developer', 'maintainer');
  await makeMergeRequest(ashlar, id, 'topic', { title: 'Topic' });
  const path = `/projects/${id}/merge_requests/1`;
  const asDeveloper = ashlar.as(developer.token);
  for (let reviews = 0; reviews < 2; reviews++) {
    const note = { body: { note: `Review ${reviews}` } };
    bodyOf(await asDeveloper(`POST ${path}/draft_notes`, note), 201);
    bodyOf(await asDeveloper(`POST ${path}/draft_notes/bulk_publish`), 204);
  }
  // A note by itself is no review.
  bodyOf(await ashlar.root(`POST ${path}/notes`, { body: { body: 'Well' } }), 201);
  bodyOf(await asDeveloper(`POST ${path}/approve`), 201);
  bodyOf(await ashlar.as(maintainer.token)(`PUT ${path}/merge`), 200);
  const identity = async (userId: number) => {
    const { name, email } = bodyOf(await ashlar.root(`GET /users/${userId}`), 200);
    return `${name} <${email}>`;
  };
  const [reviewer, author] = [await identity(developer.id), await identity(1)];
  expect((await commitOf(id, 'main')).message).toBe(
    `Topic\n\nReviewed-by: ${reviewer}\nApproved-by: ${reviewer}\nCo-authored-by: ${author}`,
  );
});

test('its own choice removes the source branch, and is no wish of who merged', async () => {
  const { id } = await makeReviewedProject(ashlar);
  const branch = async (name: string) =>
    (await ashlar.root(`GET /projects/${id}/repository/branches/${name}`)).status;
  await makeMergeRequest(ashlar, id, 'goes', { remove_source_branch: true });
  await makeMergeRequest(ashlar, id, 'stays', { remove_source_branch: true });
  await makeMergeRequest(ashlar, id, 'kept');
  const choices = { force_remove_source_branch: true, should_remove_source_branch: null };
  expect(bodyOf(await merge(id), 200)).toMatchObject(choices);
  expect(bodyOf(await merge(id, { should_remove_source_branch: false }, 2), 200)).toMatchObject({
    ...choices,
    should_remove_source_branch: false,
  });
  bodyOf(await merge(id, {}, 3), 200);
  await waitForFollowing(ashlar);
  expect(await Promise.all(['goes', 'stays', 'kept'].map(branch))).toEqual([404, 200, 200]);
});

describe('refused', () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>, number, string]>([
    ['a draft', { title: 'Draft: Topic' }, {}, 405, '405 Method Not Allowed'],
    ['another head', {}, { sha: 'f'.repeat(40) }, 409, 'SHA does not match HEAD of source branch: HEAD'],
  ])('is %s', async (_what, attributes, body, status, message) => {
    const { id } = await makeReviewedProject(ashlar);
    const { sha } = await makeMergeRequest(ashlar, id, 'topic', attributes);
    const refused = await merge(id, body);
    expect(refused).toMatchObject({
      status,
      body: { message: message.replace('HEAD', 'HEAD').replace(/HEAD$/, sha) },
    });
    expect(bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/1`), 200).state).toBe('opened');
  });

  test('is a conflict, with 422', async () => {
    const { id } = await makeReviewedProject(ashlar);
    await commitTo(ashlar, id, 'topic', { 'a.txt': 'two\n' });
    const body = { title: 'Conflict', source_branch: 'topic', target_branch: 'main' };
    bodyOf(await ashlar.root(`POST /projects/${id}/merge_requests`, { body }), 201);
    await commitTo(ashlar, id, 'main', { 'a.txt': 'three\n' });
    expect(await merge(id)).toMatchObject({ status: 422, body: { message: 'Branch cannot be merged' } });
    await waitForFollowing(ashlar);
    expect(bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/1`), 200)).toMatchObject({
      state: 'opened',
      has_conflicts: true,
    });
  });

  test('is who may not merge, with 401; a missing one is 404', async () => {
    const { id } = await makeReviewedProject(ashlar);
    await makeMergeRequest(ashlar, id, 'topic');
    const { developer, reporter } = await makeMembers(ashlar, `projects/${id}`, 'developer', 'reporter');
    for (const { token } of [developer, reporter]) {
      const refused = await ashlar.as(token)(`PUT /projects/${id}/merge_requests/1/merge`);
      expect(refused).toMatchObject({ status: 401, body: { message: '401 Unauthorized' } });
    }
    expect((await merge(id, {}, 2)).status).toBe(404);
  });
});

test('it is merged once, however many ask at the same moment', async () => {
  const { id } = await makeReviewedProject(ashlar);
  await makeMergeRequest(ashlar, id, 'topic');
  const asked = await Promise.all(Array.from({ length: 8 }, () => merge(id)));
  expect(asked.map(({ status }) => status).sort()).toEqual([200, 405, 405, 405, 405, 405, 405, 405]);
  const commits = bodyOf(await ashlar.root(`GET /projects/${id}/repository/commits`), 200);
  expect(commits).toHaveLength(3);
});

test('many into one branch at the same moment are all merged', async () => {
  const { id } = await makeReviewedProject(ashlar);
  for (let number = 1; number <= 4; number++) await makeMergeRequest(ashlar, id, `topic-${number}`);
  const asked = await Promise.all([1, 2, 3, 4].map((iid) => merge(id, {}, iid)));
  expect(asked.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const files = bodyOf(await ashlar.root(`GET /projects/${id}/repository/tree`), 200);
  expect(files).toHaveLength(5);
});

test.each([
  ['that was judged', true],
  ['whose target has moved', false],
])('one %s is merged, and followed, by three runs of git', async (_, isJudged) => {
  const { id } = await makeReviewedProject(ashlar);
  for (const branch of ['topic', 'other']) await makeMergeRequest(ashlar, id, branch);
  await waitForFollowing(ashlar);
  bodyOf(await merge(id), 200);
  await waitForFollowing(ashlar);
  if (!isJudged)
    await ashlar.app.services.database
      .sql`update merge_requests set merge_status = 'unchecked' where project_id = ${id} and state = 'opened'`;
  const { 'cat-file': _reader, ...runs } = await gitRunsDuring(async () => {
    bodyOf(await merge(id, {}, 2), 200);
    await waitForFollowing(ashlar);
  });
  expect(runs).toEqual({ 'merge-tree': 1, 'update-ref': 1, 'rev-list': 1 });
});

test('a draft waits for its checks when that is asked, until it is cancelled', async () => {
  const { id } = await makeReviewedProject(ashlar);
  await makeMergeRequest(ashlar, id, 'topic', { title: 'Draft: Topic' });
  const waiting = bodyOf(await merge(id, { auto_merge: true }), 200);
  expect(waiting).toMatchObject({
    state: 'opened',
    merge_when_pipeline_succeeds: true,
    merge_user: { username: 'root' },
    merged_by: null,
  });
  const cancel = () =>
    ashlar.root(`POST /projects/${id}/merge_requests/1/cancel_merge_when_pipeline_succeeds`);
  expect(bodyOf(await cancel(), 201)).toMatchObject({
    merge_when_pipeline_succeeds: false,
    merge_user: null,
  });
  expect((await cancel()).status).toBe(406);
});

test('ready again, a waiting draft is merged, and its source branch removed as it was asked', async () => {
  const { id } = await makeReviewedProject(ashlar);
  await makeMergeRequest(ashlar, id, 'topic', { title: 'Draft: Topic' });
  bodyOf(await merge(id, { auto_merge: true, should_remove_source_branch: true }), 200);
  bodyOf(await ashlar.root(`PUT /projects/${id}/merge_requests/1`, { body: { title: 'Topic' } }), 200);
  const state = async () => bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/1`), 200).state;
  await expect.poll(state, { timeout: 20_000 }).toBe('merged');
  const branch = async () => (await ashlar.root(`GET /projects/${id}/repository/branches/topic`)).status;
  await expect.poll(branch, { timeout: 20_000 }).toBe(404);
});

describe('from a fork', () => {
  test('it is opened, followed and merged; nothing of the target comes to the fork', async () => {
    const project = await makeReviewedProject(ashlar, { visibility: 'public' });
    const { developer } = await makeMembers(ashlar, `projects/${project.id}`, 'developer');
    const fork = bodyOf(
      await ashlar.root(`POST /projects/${project.id}/fork`, {
        body: { name: `fork-${project.id}`, path: `fork-${project.id}` },
      }),
      201,
    );
    const ready = async () => bodyOf(await ashlar.root(`GET /projects/${fork.id}`), 200).import_status;
    await expect.poll(ready, { timeout: 20_000 }).toBe('finished');
    const hidden = await commitTo(ashlar, project.id, 'hidden', { 'h.txt': 'h\n' });
    await commitTo(ashlar, fork.id, 'topic', { 'fork.txt': 'fork\n' });
    const body = { title: 'From afar', source_branch: 'topic', target_branch: 'main' };
    const made = bodyOf(
      await ashlar.root(`POST /projects/${fork.id}/merge_requests`, {
        body: { ...body, target_project_id: project.id, allow_collaboration: true },
      }),
      201,
    );
    expect(made).toMatchObject({
      project_id: project.id,
      source_project_id: fork.id,
      allow_collaboration: true,
      merge_status: 'can_be_merged',
    });
    const head = await commitTo(ashlar, fork.id, 'topic', { 'fork.txt': 'fork two\n' });
    const sha = async () =>
      bodyOf(await ashlar.root(`GET /projects/${project.id}/merge_requests/1`), 200).sha;
    await expect.poll(sha, { timeout: 20_000 }).toBe(head);
    expect(
      (await ashlar.as(developer.token)(`PUT /projects/${project.id}/merge_requests/1/merge`)).status,
    ).toBe(401);
    expect(bodyOf(await merge(project.id), 200).state).toBe('merged');
    const there = await ashlar.root(`GET /projects/${fork.id}/repository/commits/${hidden}`);
    expect(there.status).toBe(404);
  });
});

describe('rebased', () => {
  test('the source has the target’s commits, and can be moved forward', async () => {
    const { id } = await makeReviewedProject(ashlar, { merge_method: 'ff' });
    await makeMergeRequest(ashlar, id, 'topic');
    const main = await commitTo(ashlar, id, 'main', { 'b.txt': 'b\n' });
    const rebased = await ashlar.root(`PUT /projects/${id}/merge_requests/1/rebase`);
    expect(rebased).toMatchObject({ status: 202, body: { rebase_in_progress: true } });
    expect((await commitOf(id, 'topic')).parent_ids).toEqual([main]);
    expect(bodyOf(await merge(id), 200)).toMatchObject({ state: 'merged', merge_commit_sha: null });
    expect((await ashlar.root(`PUT /projects/${id}/merge_requests/1/rebase`)).status).toBe(409);
  });

  test('a conflict is told', async () => {
    const { id } = await makeReviewedProject(ashlar);
    await commitTo(ashlar, id, 'topic', { 'a.txt': 'two\n' });
    const body = { title: 'Conflict', source_branch: 'topic', target_branch: 'main' };
    const { sha } = bodyOf(await ashlar.root(`POST /projects/${id}/merge_requests`, { body }), 201);
    await commitTo(ashlar, id, 'main', { 'a.txt': 'three\n' });
    expect((await ashlar.root(`PUT /projects/${id}/merge_requests/1/rebase`)).status).toBe(202);
    expect(bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/1`), 200)).toMatchObject({
      sha,
      merge_error: 'Rebase failed: Rebase locally, resolve all conflicts, then push the branch.',
    });
  });

  test('not by who does not see the source', async () => {
    const { id } = await makeReviewedProject(ashlar, { visibility: 'public' });
    const { maintainer } = await makeMembers(ashlar, `projects/${id}`, 'maintainer');
    const body = { name: `hidden-${id}`, path: `hidden-${id}` };
    const fork = bodyOf(await ashlar.root(`POST /projects/${id}/fork`, { body }), 201);
    const ready = async () => bodyOf(await ashlar.root(`GET /projects/${fork.id}`), 200).import_status;
    await expect.poll(ready, { timeout: 20_000 }).toBe('finished');
    await commitTo(ashlar, fork.id, 'topic', { 'f.txt': 'f\n' });
    const opened = { title: 'T', source_branch: 'topic', target_branch: 'main', target_project_id: id };
    bodyOf(await ashlar.root(`POST /projects/${fork.id}/merge_requests`, { body: opened }), 201);
    bodyOf(await ashlar.root(`PUT /projects/${fork.id}`, { body: { visibility: 'private' } }), 200);
    expect(await ashlar.as(maintainer.token)(`PUT /projects/${id}/merge_requests/1/rebase`)).toMatchObject({
      status: 403,
      body: { message: '403 Forbidden - Cannot push to source branch' },
    });
  });

  test('not by who may not push', async () => {
    const { id } = await makeReviewedProject(ashlar);
    await makeMergeRequest(ashlar, id, 'topic');
    const { reporter } = await makeMembers(ashlar, `projects/${id}`, 'reporter');
    const refused = await ashlar.as(reporter.token)(`PUT /projects/${id}/merge_requests/1/rebase`);
    expect(refused).toMatchObject({
      status: 403,
      body: { message: '403 Forbidden - Cannot push to source branch' },
    });
  });
});
