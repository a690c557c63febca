/** An independent JavaScript client, @gitbeaker/rest, over merge requests: opened, listed, reviewed on lines, rebased and merged. */
import { expect, test } from 'vitest';
import { type Client, ids, refusal, useGitbeaker } from './gitbeaker-client.ts';

const gitbeaker = useGitbeaker();

const textOf = (changed: Record<number, string> = {}): string =>
  Array.from({ length: 9 }, (_, at) => `${changed[at + 1] ?? `line ${at + 1}`}\n`).join('');

/** A project in a group of its own, with the branches `main` and `topic`, which changes line 5 of `a.txt` and adds `b.txt`. */
async function makeProject(path: string) {
  const { root } = gitbeaker;
  const group = await gitbeaker.makeGroup(`${path}-group`);
  const { id } = await root.Projects.create({ name: path, path, namespaceId: group.id });
  await root.RepositoryFiles.create(id, 'a.txt', 'main', textOf(), 'First');
  const head = await commit(id, 'topic', { 'a.txt': textOf({ 5: 'five' }) });
  return { group: group.id, id, head, path: `${path}-group/${path}` };
}

/** Commits files to a branch of main's; the commit's id. */
async function commit(
  id: number,
  branch: string,
  files: Record<string, string>,
  isNew = true,
): Promise<string> {
  const { root } = gitbeaker;
  const actions = Object.entries(files).map(([filePath, content]) => ({
    action: filePath === 'a.txt' ? ('update' as const) : ('create' as const),
    filePath,
    content,
  }));
  const made = await root.Commits.create(id, branch, `Change ${Object.keys(files)}`, actions, {
    ...(isNew && { startBranch: 'main' }),
  });
  return made.id;
}

/** The record once it tells of this head: what follows a push is done soon. */
async function shown(id: number, iid: number, sha: string) {
  const show = () => gitbeaker.root.MergeRequests.show(id, iid);
  await expect.poll(async () => (await show()).sha, { timeout: 20_000 }).toBe(sha);
  return show();
}

const iids = (records: readonly { iid: number }[]): number[] => records.map(({ iid }) => iid);

test('opened, changed, closed, reopened, and found by filters', async () => {
  const { root } = gitbeaker;
  const { id, group, head, path } = await makeProject('filters');
  const reviewer = await gitbeaker.makeUser('reviewer');
  await root.ProjectMembers.add(id, 30, { userId: reviewer.id });
  const milestone = await root.ProjectMilestones.create(id, '1.0');
  const opened = await root.MergeRequests.create(id, 'topic', 'main', 'Five in words', {
    description: 'See, @reviewer',
    labels: 'bug,urgent',
    assigneeIds: [1],
    reviewerIds: [reviewer.id],
    milestoneId: milestone.id,
    removeSourceBranch: true,
    squash: true,
  });
  expect(opened).toMatchObject({
    iid: 1,
    project_id: id,
    title: 'Five in words',
    state: 'opened',
    sha: head,
    labels: ['bug', 'urgent'],
    assignees: [{ id: 1 }],
    reviewers: [{ username: 'reviewer' }],
    milestone: { title: '1.0' },
    force_remove_source_branch: true,
    squash: true,
    merge_status: 'can_be_merged',
    detailed_merge_status: 'mergeable',
    references: { short: '!1', relative: '!1', full: `${path}!1` },
    changes_count: '1',
    diff_refs: { head_sha: head },
    user: { can_merge: true },
  });
  expect(opened.web_url).toBe(`${gitbeaker.url}/${path}/-/merge_requests/1`);
  await commit(id, 'other', { 'c.txt': 'c\n' });
  const other = await root.MergeRequests.create(id, 'other', 'main', 'Draft: Other');
  expect(other).toMatchObject({ iid: 2, draft: true, detailed_merge_status: 'draft_status' });
  expect(await refusal(root.MergeRequests.create(id, 'topic', 'main', 'Again'))).toEqual([
    409,
    expect.stringContaining('Another open merge request already exists for this source branch: !1'),
  ]);
  expect((await refusal(root.MergeRequests.create(id, 'missing', 'main', 'None')))[0]).toBe(400);

  const found = async (options: Parameters<Client['MergeRequests']['all']>[0]) =>
    iids(await root.MergeRequests.all({ projectId: id, ...options } as never));
  expect(await found({})).toEqual([2, 1]);
  expect(await found({ orderBy: 'created_at', sort: 'asc' })).toEqual([1, 2]);
  expect(await found({ labels: 'bug,urgent' })).toEqual([1]);
  expect(await found({ labels: 'None' })).toEqual([2]);
  expect(await found({ not: { labels: 'bug' } })).toEqual([2]);
  expect(await found({ milestone: '1.0' })).toEqual([1]);
  expect(await found({ assigneeId: 'None' })).toEqual([2]);
  expect(await found({ reviewerUsername: 'reviewer' })).toEqual([1]);
  expect(await found({ sourceBranch: 'other', state: 'opened' })).toEqual([2]);
  expect(await found({ search: 'words' })).toEqual([1]);
  expect(await found({ wip: 'yes' })).toEqual([2]);
  expect(await found({ iids: [1, 2] })).toEqual([2, 1]);
  expect(await found({ iids: [1] })).toEqual([1]);
  expect(await found({ state: 'merged' })).toEqual([]);
  const detailed = await root.MergeRequests.all({ groupId: group, withLabelsDetails: true, labels: 'bug' });
  expect(detailed).toMatchObject([{ reference: `${path}!1`, labels: [{ name: 'bug' }, { name: 'urgent' }] }]);
  expect(ids(await reviewer.api.MergeRequests.all({ reviewerId: reviewer.id, scope: 'all' }))).toEqual([
    opened.id,
  ]);
  expect(ids(await root.MergeRequests.all({ scope: 'assigned_to_me' }))).toEqual([opened.id]);

  const changed = await root.MergeRequests.edit(id, 1, {
    title: 'Five',
    addLabels: 'later',
    removeLabels: 'urgent',
    assigneeIds: [reviewer.id],
    milestoneId: 0,
    discussionLocked: true,
  });
  expect(changed).toMatchObject({
    title: 'Five',
    labels: ['bug', 'later'],
    assignees: [{ id: reviewer.id }],
    milestone: null,
    discussion_locked: true,
  });
  expect(await root.MergeRequests.edit(id, 1, { stateEvent: 'close' })).toMatchObject({
    state: 'closed',
    closed_by: { id: 1 },
  });
  expect(await found({ state: 'closed' })).toEqual([1]);
  expect(await root.MergeRequests.edit(id, 1, { stateEvent: 'reopen' })).toMatchObject({
    state: 'opened',
    closed_by: null,
  });
  const states = await root.MergeRequestStateEvents.all(id, 1);
  expect(states.map(({ state }) => state)).toEqual(['closed', 'reopened']);
  const labels = await root.MergeRequestLabelEvents.all(id, 1);
  expect(labels.map(({ action, label }) => `${action} ${label.name}`)).toEqual([
    'add bug',
    'add urgent',
    'add later',
    'remove urgent',
  ]);
  const milestones = await root.MergeRequestMilestoneEvents.all(id, 1);
  expect(milestones.map(({ action }) => action)).toEqual(['add', 'remove']);
  expect((await refusal(reviewer.api.MergeRequests.remove(id, 2)))[0]).toBe(403);
  await root.MergeRequests.remove(id, 2);
  expect((await refusal(root.MergeRequests.show(id, 2)))[0]).toBe(404);
});

test('people: participants, reviewers, subscriptions, to-do items, time, awards', async () => {
  const { root } = gitbeaker;
  const { id } = await makeProject('people');
  const friend = await gitbeaker.makeUser('friend');
  await root.ProjectMembers.add(id, 30, { userId: friend.id });
  await root.MergeRequests.create(id, 'topic', 'main', 'Topic', { reviewerIds: [friend.id] });
  expect(ids(await root.MergeRequests.allParticipants(id, 1)).sort()).toEqual([1, friend.id]);
  expect(await root.MergeRequests.showReviewers(id, 1)).toMatchObject([
    { user: { username: 'friend' }, state: 'unreviewed' },
  ]);
  expect(await friend.api.TodoLists.all()).toMatchObject([
    { action_name: 'review_requested', target_type: 'MergeRequest', target: { iid: 1, title: 'Topic' } },
  ]);
  const { id: todo } = await root.MergeRequests.createTodo(id, 1);
  expect(ids(await root.TodoLists.all({ state: 'pending', projectId: id }))).toEqual([todo]);
  expect((await refusal(root.MergeRequests.createTodo(id, 1)))[0]).toBe(304);
  await root.TodoLists.done({ todoId: todo });
  expect(await root.TodoLists.all({ state: 'pending', projectId: id })).toEqual([]);

  expect(await root.MergeRequests.show(id, 1)).toMatchObject({ subscribed: true });
  expect(await root.MergeRequests.unsubscribe(id, 1)).toMatchObject({ subscribed: false });
  expect((await refusal(root.MergeRequests.unsubscribe(id, 1)))[0]).toBe(304);
  expect(await root.MergeRequests.subscribe(id, 1)).toMatchObject({ subscribed: true });

  expect(await root.MergeRequests.setTimeEstimate(id, 1, '1d')).toMatchObject({ time_estimate: 28_800 });
  expect(await root.MergeRequests.addSpentTime(id, 1, '2h')).toMatchObject({ human_total_time_spent: '2h' });
  expect(await root.MergeRequests.showTimeStats(id, 1)).toMatchObject({ total_time_spent: 7_200 });
  expect(await root.MergeRequests.resetSpentTime(id, 1)).toMatchObject({ total_time_spent: 0 });
  expect(await root.MergeRequests.resetTimeEstimate(id, 1)).toMatchObject({ time_estimate: 0 });

  const award = await root.MergeRequestAwardEmojis.award(id, 1, 'thumbsup');
  expect(award).toMatchObject({ name: 'thumbsup', awardable_type: 'MergeRequest' });
  expect(await root.MergeRequests.show(id, 1)).toMatchObject({ upvotes: 1 });
  await root.MergeRequestAwardEmojis.remove(id, 1, award.id);
  expect(await root.MergeRequestAwardEmojis.all(id, 1)).toEqual([]);
  const note = await root.MergeRequestNotes.create(id, 1, 'Hello');
  expect(await root.MergeRequestNotes.edit(id, 1, note.id, { body: 'Hello you' })).toMatchObject({
    body: 'Hello you',
    noteable_type: 'MergeRequest',
    noteable_iid: 1,
  });
  expect(ids(await root.MergeRequestNotes.all(id, 1, { sort: 'asc' }))).toContain(note.id);
  await root.MergeRequestNotes.remove(id, 1, note.id);
  expect((await refusal(root.MergeRequestNotes.show(id, 1, note.id)))[0]).toBe(404);
});

test('reviewed on its lines: diffs, versions, threads, drafts, context commits', async () => {
  const { root } = gitbeaker;
  const { id, head } = await makeProject('review');
  const reviewer = await gitbeaker.makeUser('critic');
  await root.ProjectMembers.add(id, 30, { userId: reviewer.id });
  const opened = await root.MergeRequests.create(id, 'topic', 'main', 'Topic');
  const { diff_refs } = opened;
  expect(await root.MergeRequests.allDiffs(id, 1)).toMatchObject([
    {
      old_path: 'a.txt',
      new_path: 'a.txt',
      new_file: false,
      diff: expect.stringContaining('-line 5\n+five\n'),
    },
  ]);
  expect(await root.MergeRequests.showChanges(id, 1)).toMatchObject({
    iid: 1,
    overflow: false,
    changes: [{ new_path: 'a.txt' }],
  });
  expect((await root.MergeRequests.allCommits(id, 1)).map((each) => each.id)).toEqual([head]);

  const position = {
    baseSha: diff_refs.base_sha,
    startSha: diff_refs.start_sha,
    headSha: diff_refs.head_sha,
    positionType: 'text' as const,
    oldPath: 'a.txt',
    newPath: 'a.txt',
  };
  const thread = await reviewer.api.MergeRequestDiscussions.create(id, 1, 'Why words?', {
    position: { ...position, newLine: '5' },
  });
  expect(thread.notes).toMatchObject([
    {
      type: 'DiffNote',
      body: 'Why words?',
      resolvable: true,
      resolved: false,
      position: { new_line: 5, old_line: null, new_path: 'a.txt', head_sha: head },
    },
  ]);
  const response = await root.MergeRequestDiscussions.addNote(id, 1, thread.id, 'They read better');
  await root.MergeRequestDiscussions.editNote(id, 1, thread.id, response.id, { body: 'They are clearer' });
  expect(
    (
      await refusal(
        reviewer.api.MergeRequestDiscussions.create(id, 1, 'Where?', {
          position: { ...position, newLine: '500' },
        }),
      )
    )[0],
  ).toBe(400);
  const resolved = await reviewer.api.MergeRequestDiscussions.resolve(id, 1, thread.id, true);
  expect(resolved.notes?.map(({ body, resolved: isResolved }) => [body, isResolved])).toEqual([
    ['Why words?', true],
    ['They are clearer', true],
  ]);
  await root.MergeRequestDiscussions.resolve(id, 1, thread.id, false);
  const again = await root.MergeRequestDiscussions.show(id, 1, thread.id);
  expect(again.notes?.[0]).toMatchObject({ resolved: false });

  const drafts = reviewer.api.MergeRequestDraftNotes;
  const draft = await drafts.create(id, 1, 'Also here', {
    position: { ...position, oldLine: '1', newLine: '1' } as never,
  });
  expect(draft).toMatchObject({ author_id: reviewer.id, note: 'Also here', position: { new_line: 1 } });
  // The client changes drafts by POST, which the API does not have.
  expect((await refusal(drafts.edit(id, 1, draft.id, { note: 'And here' })))[0]).toBe(405);
  expect(await drafts.show(id, 1, draft.id)).toMatchObject({ note: 'Also here' });
  expect(await root.MergeRequestDraftNotes.all(id, 1)).toEqual([]);
  await drafts.publish(id, 1, draft.id);
  await drafts.create(id, 1, 'Done with this', {
    inReplyToDiscussionId: thread.id as never,
    resolveDiscussion: true,
  });
  const { id: dropped } = await drafts.create(id, 1, 'Never mind');
  await drafts.remove(id, 1, dropped);
  expect(await drafts.all(id, 1)).toMatchObject([{ note: 'Done with this', resolve_discussion: true }]);
  await drafts.publishBulk(id, 1);
  expect(await drafts.all(id, 1)).toEqual([]);
  const threads = await root.MergeRequestDiscussions.all(id, 1);
  const said = threads.flatMap(({ notes = [] }) =>
    notes.filter(({ system }) => !system).map(({ body }) => body),
  );
  expect(said).toEqual(['Why words?', 'They are clearer', 'Done with this', 'Also here']);
  expect(threads.find((each) => each.id === thread.id)?.notes?.[0]).toMatchObject({
    resolved: true,
    resolved_by: { username: 'critic' },
  });

  const next = await commit(id, 'topic', { 'b.txt': 'b\n' }, false);
  expect(await shown(id, 1, next)).toMatchObject({ changes_count: '2', merge_status: 'can_be_merged' });
  const versions = await root.MergeRequests.allDiffVersions(id, 1);
  expect(versions.map((each) => each.head_commit_sha)).toEqual([next, head]);
  const newest = await root.MergeRequests.showDiffVersion(id, 1, versions[0]?.id ?? 0);
  expect(newest).toMatchObject({ state: 'collected', real_size: '2', commits: [{ id: next }, { id: head }] });
  expect(newest.diffs.map(({ new_path }) => new_path)).toEqual(['a.txt', 'b.txt']);

  const [first] = await root.Commits.all(id, { refName: 'main' });
  await root.MergeRequestContextCommits.create(id, [first?.id ?? ''], { mergerequestIId: 1 });
  expect(ids((await root.MergeRequestContextCommits.all(id, 1)) as never)).toEqual([first?.id]);
  expect(await root.MergeRequests.allPipelines(id, 1)).toEqual([]);
});

test('issues that it closes; rebased, squashed and merged, or as soon as its checks pass', async () => {
  const { root } = gitbeaker;
  const { id, head } = await makeProject('merged');
  const issue = await root.Issues.create(id, 'Numbers are hard to read');
  const { iid: seen } = await root.Issues.create(id, 'Only mentioned');
  await commit(id, 'topic', { 'b.txt': 'b\n' }, false);
  const description = `Closes #${issue.iid}, see #${seen}`;
  await root.MergeRequests.create(id, 'topic', 'main', 'Topic', { description });
  expect(ids(await root.MergeRequests.allIssuesClosed(id, 1))).toEqual([issue.id]);
  expect(iids(await root.MergeRequests.allIssuesRelated(id, 1)).sort()).toEqual([issue.iid, seen]);
  expect(iids(await root.Issues.allRelatedMergeRequests(id, issue.iid))).toEqual([1]);
  expect(iids(await root.Issues.allClosedByMergeRequestst(id, issue.iid))).toEqual([1]);

  const main = await commit(id, 'main', { 'd.txt': 'd\n' }, false);
  expect(await root.MergeRequests.rebase(id, 1)).toEqual({ rebase_in_progress: true });
  const rebased = (await root.Branches.show(id, 'topic')).commit.id;
  expect(rebased).not.toBe(head);
  const after = await shown(id, 1, String(rebased));
  expect(after).toMatchObject({ merge_error: null, diff_refs: { base_sha: main } });
  expect(await refusal(root.MergeRequests.merge(id, 1, { sha: head }))).toEqual([
    409,
    `SHA does not match HEAD of source branch: ${rebased}`,
  ]);
  const merged = await root.MergeRequests.merge(id, 1, {
    sha: String(rebased),
    squash: true,
    squashCommitMessage: 'Five, in words',
    shouldRemoveSourceBranch: true,
  });
  expect(merged).toMatchObject({ state: 'merged', merged_by: { id: 1 }, should_remove_source_branch: true });
  const joined = await root.Commits.show(id, 'main');
  expect(joined).toMatchObject({
    id: merged.merge_commit_sha,
    parent_ids: [main, merged.squash_commit_sha],
    title: "Merge branch 'topic' into 'main'",
  });
  expect(await root.Commits.show(id, String(merged.squash_commit_sha))).toMatchObject({
    title: 'Five, in words',
  });
  expect(ids(await root.Commits.allMergeRequests(id, String(merged.merge_commit_sha)))).toEqual([merged.id]);
  expect((await refusal(root.MergeRequests.merge(id, 1)))[0]).toBe(405);
  const state = async () => (await root.Issues.show(issue.iid, { projectId: id })).state;
  await expect.poll(state, { timeout: 20_000 }).toBe('closed');
  const branches = async () => (await root.Branches.all(id)).map(({ name }) => name);
  await expect.poll(branches, { timeout: 20_000 }).toEqual(['main']);

  await commit(id, 'later', { 'e.txt': 'e\n' });
  await root.MergeRequests.create(id, 'later', 'main', 'Draft: Later');
  expect((await refusal(root.MergeRequests.merge(id, 2)))[0]).toBe(405);
  const waiting = await root.MergeRequests.merge(id, 2, { mergeWhenPipelineSucceeds: true });
  expect(waiting).toMatchObject({ state: 'opened', merge_when_pipeline_succeeds: true });
  await root.MergeRequests.cancelOnPipelineSuccess(id, 2);
  expect(await root.MergeRequests.show(id, 2)).toMatchObject({ merge_when_pipeline_succeeds: false });
  await root.MergeRequests.merge(id, 2, { autoMerge: true });
  await root.MergeRequests.edit(id, 2, { title: 'Later' });
  const ready = async () => (await root.MergeRequests.show(id, 2)).state;
  await expect.poll(ready, { timeout: 20_000 }).toBe('merged');
});
