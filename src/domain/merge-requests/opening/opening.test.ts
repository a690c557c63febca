/** Opening merge requests over HTTP: the record, refusals, twins at once, and what the caller may not set. */
import { describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers } from '../../../../test/support/factories.ts';
import { commitTo, makeMergeRequest, makeReviewedProject } from '../../../../test/support/merge-requests.ts';

const ashlar = useApp();

test('one that is opened shows its heads, its size, and that it can be merged', async () => {
  const { id } = await makeReviewedProject(ashlar);
  const made = await makeMergeRequest(ashlar, id, 'topic', { title: 'Draft: Topic', description: '- [x] a' });
  expect(made).toMatchObject({
    iid: 1,
    project_id: id,
    source_project_id: id,
    state: 'opened',
    draft: true,
    work_in_progress: true,
    merge_status: 'can_be_merged',
    detailed_merge_status: 'draft_status',
    has_conflicts: false,
    changes_count: '1',
    merge_commit_sha: null,
    head_pipeline: null,
    reference: '!1',
    task_completion_status: { count: 1, completed_count: 1 },
    user: { can_merge: true },
    subscribed: true,
  });
  expect(made).not.toHaveProperty('first_contribution');
  expect(made).not.toHaveProperty('allow_collaboration');
  const { diff_refs, sha } = made;
  expect(diff_refs.head_sha).toBe(sha);
  expect(diff_refs.base_sha).toBe(diff_refs.start_sha);
  const shown = bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/1`), 200);
  expect(shown).toEqual({ ...made, first_contribution: true });
  const [listed] = bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests`), 200);
  expect(listed).not.toHaveProperty('diff_refs');
  expect(made).toMatchObject(listed);
  const head = await ashlar.root(`GET /projects/${id}/repository/commits/refs%2Fmerge-requests%2F1%2Fhead`);
  expect(bodyOf(head, 200).id).toBe(sha);
});

describe('refused', () => {
  test.each<[what: string, changes: Record<string, unknown>, status: number, message: unknown]>([
    ['without a title', { title: undefined }, 400, undefined],
    ['of a blank title', { title: ' ' }, 400, { title: ["can't be blank"] }],
    [
      'into itself',
      { target_branch: 'topic' },
      422,
      ["You can't use same project/branch for source and target"],
    ],
    ['from nowhere', { source_branch: 'none' }, 400, { source_branch: ['does not exist'] }],
    ['into nowhere', { target_branch: 'none' }, 400, { target_branch: ['does not exist'] }],
    ['from a wrong name', { source_branch: 'a..b' }, 400, { source_branch: ['is invalid'] }],
    ['of a missing milestone', { milestone_id: 999_999 }, 400, undefined],
    ['into an unknown project', { target_project_id: 999_999 }, 404, '404 Project Not Found'],
  ])('is one %s', async (_what, changes, status, message) => {
    const { id } = await makeReviewedProject(ashlar);
    await commitTo(ashlar, id, 'topic', { 'b.txt': 'b\n' });
    const body = { title: 'Title', source_branch: 'topic', target_branch: 'main', ...changes };
    const refused = await ashlar.root(`POST /projects/${id}/merge_requests`, { body });
    expect(refused.status, refused.text).toBe(status);
    if (message !== undefined) expect(refused.body.message).toEqual(message);
    expect(bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests`), 200)).toEqual([]);
  });

  test('is a project that is no relative', async () => {
    const [one, other] = [await makeReviewedProject(ashlar), await makeReviewedProject(ashlar)];
    const body = { title: 'T', source_branch: 'main', target_branch: 'main', target_project_id: other.id };
    const refused = await ashlar.root(`POST /projects/${one.id}/merge_requests`, { body });
    expect(refused).toMatchObject({
      status: 422,
      body: { message: ['Source project is not a fork of the target project'] },
    });
  });

  test('are twins, one of which is opened however many ask at once', async () => {
    const { id } = await makeReviewedProject(ashlar);
    await commitTo(ashlar, id, 'topic', { 'b.txt': 'b\n' });
    const body = { title: 'Title', source_branch: 'topic', target_branch: 'main' };
    const asked = await Promise.all(
      Array.from({ length: 6 }, () => ashlar.root(`POST /projects/${id}/merge_requests`, { body })),
    );
    expect(asked.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    expect(asked.find(({ status }) => status === 409)?.body.message).toEqual([
      'Another open merge request already exists for this source branch: !1',
    ]);
  });
});

test('branches without a difference make one that cannot be merged', async () => {
  const { id } = await makeReviewedProject(ashlar);
  bodyOf(
    await ashlar.root(`POST /projects/${id}/repository/branches`, { query: 'branch=same&ref=main' }),
    201,
  );
  const body = { title: 'Same', source_branch: 'same', target_branch: 'main' };
  const made = bodyOf(await ashlar.root(`POST /projects/${id}/merge_requests`, { body }), 201);
  expect(made).toMatchObject({
    merge_status: 'cannot_be_merged',
    detailed_merge_status: 'commits_status',
    changes_count: '0',
  });
});

test('conflicts show', async () => {
  const { id } = await makeReviewedProject(ashlar);
  await commitTo(ashlar, id, 'topic', { 'a.txt': 'two\n' });
  await commitTo(ashlar, id, 'main', { 'a.txt': 'three\n' });
  const body = { title: 'Conflict', source_branch: 'topic', target_branch: 'main' };
  const made = bodyOf(await ashlar.root(`POST /projects/${id}/merge_requests`, { body }), 201);
  expect(made).toMatchObject({ has_conflicts: true, detailed_merge_status: 'conflict' });
});

test('what a caller may not set is passed over, and who may not open is refused', async () => {
  const { id } = await makeReviewedProject(ashlar);
  const { developer, reporter, guest } = await makeMembers(
    ashlar,
    `projects/${id}`,
    'developer',
    'reporter',
    'guest',
  );
  await commitTo(ashlar, id, 'topic', { 'b.txt': 'b\n' });
  const body = {
    title: 'Title',
    source_branch: 'topic',
    target_branch: 'main',
    labels: 'new,labels',
    assignee_ids: [developer.id, 999_999],
    reviewer_ids: [reporter.id],
    remove_source_branch: true,
  };
  for (const { token } of [reporter, guest])
    expect((await ashlar.as(token)(`POST /projects/${id}/merge_requests`, { body })).status).toBe(403);
  const made = bodyOf(await ashlar.as(developer.token)(`POST /projects/${id}/merge_requests`, { body }), 201);
  expect(made).toMatchObject({
    labels: ['labels', 'new'],
    force_remove_source_branch: true,
    should_remove_source_branch: null,
    assignee: { id: developer.id },
  });
  expect(made.reviewers.map((each: { id: number }) => each.id)).toEqual([reporter.id]);
  expect((await ashlar.as(guest.token)(`GET /projects/${id}/merge_requests/1`)).status).toBe(403);
  const todos = bodyOf(await ashlar.as(reporter.token)('GET /todos'), 200);
  expect(todos).toMatchObject([{ action_name: 'review_requested', target_type: 'MergeRequest' }]);
});

describe('changed', () => {
  const notesOf = async (id: number) =>
    bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/1/notes`, { query: 'sort=asc' }), 200).map(
      (note: { body: string }) => note.body,
    );

  test('its title, people and tasks are told in notes, and labels and states in events', async () => {
    const { id } = await makeReviewedProject(ashlar);
    await makeMergeRequest(ashlar, id, 'topic', { title: 'Topic' });
    const { developer } = await makeMembers(ashlar, `projects/${id}`, 'developer');
    const change = (body: unknown) => ashlar.root(`PUT /projects/${id}/merge_requests/1`, { body });
    expect((await change({})).status).toBe(400);
    const changed = bodyOf(
      await change({ title: 'Draft: Other', reviewer_ids: [developer.id], labels: 'a', squash: true }),
      200,
    );
    expect(changed).toMatchObject({ draft: true, labels: ['a'], squash: true, squash_on_merge: true });
    expect(changed.reviewers).toMatchObject([{ id: developer.id }]);
    expect(bodyOf(await change({ title: 'Other' }), 200)).toMatchObject({ draft: false });
    expect(await notesOf(id)).toEqual([
      'marked this merge request as **draft**',
      'changed title from **{-Topic-}** to **{+Draft: Other+}**',
      `requested review from @${developer.username}`,
      'marked this merge request as **ready**',
    ]);
    bodyOf(await change({ description: '- [ ] one', state_event: 'close' }), 200);
    bodyOf(await change({ description: '- [x] one', state_event: 'reopen' }), 200);
    expect((await notesOf(id)).slice(4)).toEqual([
      'changed the description',
      'marked the checklist item **one** as completed',
    ]);
    const events = async (kind: string) =>
      bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/1/resource_${kind}_events`), 200);
    expect(await events('label')).toMatchObject([{ action: 'add', label: { name: 'a' } }]);
    expect(await events('state')).toMatchObject([{ state: 'closed' }, { state: 'reopened' }]);
  });

  test('it is closed and opened again, with what the source is then', async () => {
    const { id } = await makeReviewedProject(ashlar);
    await makeMergeRequest(ashlar, id, 'topic');
    const change = (state_event: string) =>
      ashlar.root(`PUT /projects/${id}/merge_requests/1`, { body: { state_event } });
    expect(bodyOf(await change('close'), 200)).toMatchObject({
      state: 'closed',
      detailed_merge_status: 'not_open',
      closed_by: { username: 'root' },
    });
    const again = await makeMergeRequest(ashlar, id, 'topic', { title: 'Again' });
    expect(again.iid).toBe(2);
    expect(await change('reopen')).toMatchObject({
      status: 409,
      body: { message: ['Another open merge request already exists for this source branch: !2'] },
    });
    await ashlar.root(`PUT /projects/${id}/merge_requests/2`, { body: { state_event: 'close' } });
    const head = await commitTo(ashlar, id, 'topic', { 'c.txt': 'c\n' });
    expect(bodyOf(await change('reopen'), 200)).toMatchObject({
      state: 'opened',
      sha: head,
      closed_at: null,
      closed_by: null,
      changes_count: '2',
    });
  });

  test('its target is another branch, and it is judged anew', async () => {
    const { id } = await makeReviewedProject(ashlar);
    await commitTo(ashlar, id, 'other', { 'topic.txt': 'another\n' });
    await makeMergeRequest(ashlar, id, 'topic');
    const change = (target_branch: string) =>
      ashlar.root(`PUT /projects/${id}/merge_requests/1`, { body: { target_branch } });
    expect((await change('none')).body.message).toEqual({ target_branch: ['does not exist'] });
    expect(bodyOf(await change('other'), 200)).toMatchObject({
      target_branch: 'other',
      has_conflicts: true,
      detailed_merge_status: 'conflict',
    });
    expect(await notesOf(id)).toEqual(['changed target branch from `main` to `other`']);
  });

  test.each(['opened', 'closed'])('its target is not its source, while it is %s', async (state) => {
    const { id } = await makeReviewedProject(ashlar);
    await makeMergeRequest(ashlar, id, 'topic');
    const change = (body: Record<string, unknown>) =>
      ashlar.root(`PUT /projects/${id}/merge_requests/1`, { body });
    if (state === 'closed') bodyOf(await change({ state_event: 'close' }), 200);
    expect(await change({ target_branch: 'topic' })).toMatchObject({
      status: 422,
      body: { message: ["You can't use same project/branch for source and target"] },
    });
    const shown = bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/1`), 200);
    expect(shown).toMatchObject({ state, target_branch: 'main', changes_count: '1' });
  });

  test('by its author the texts alone, by others nothing', async () => {
    const { id } = await makeReviewedProject(ashlar, { visibility: 'public' });
    const { developer, reporter } = await makeMembers(ashlar, `projects/${id}`, 'developer', 'reporter');
    await commitTo(ashlar, id, 'topic', { 'b.txt': 'b\n' });
    const body = { title: 'Title', source_branch: 'topic', target_branch: 'main' };
    bodyOf(await ashlar.as(developer.token)(`POST /projects/${id}/merge_requests`, { body }), 201);
    bodyOf(await ashlar.root(`DELETE /projects/${id}/members/${developer.id}`), 204);
    const change = (token: string) =>
      ashlar.as(token)(`PUT /projects/${id}/merge_requests/1`, { body: { title: 'New', labels: 'x' } });
    expect(bodyOf(await change(developer.token), 200)).toMatchObject({ title: 'New', labels: [] });
    expect((await change(reporter.token)).status).toBe(403);
    const remove = (token: string) => ashlar.as(token)(`DELETE /projects/${id}/merge_requests/1`);
    expect((await remove(developer.token)).status).toBe(403);
    expect((await ashlar.root(`DELETE /projects/${id}/merge_requests/1`)).status).toBe(204);
    expect((await ashlar.root(`GET /projects/${id}/merge_requests/1`)).status).toBe(404);
  });
});
