/** An independent JavaScript client, @gitbeaker/rest, over planning, issues, epics, conversation and search. */
import { expect, test } from 'vitest';
import { ids, inDays, picture, refusal, useGitbeaker } from './gitbeaker-client.ts';

const gitbeaker = useGitbeaker();

async function makeProject(path: string) {
  const group = await gitbeaker.makeGroup(`${path}-group`);
  const project = await gitbeaker.root.Projects.create({ name: path, path, namespaceId: group.id });
  return { group: group.id, id: project.id };
}

test('labels and milestones', async () => {
  const { root } = gitbeaker;
  const { group, id } = await makeProject('plans');
  const bug = await root.ProjectLabels.create(id, 'bug', '#FF0000', { description: 'Broken', priority: 1 });
  expect(bug).toMatchObject({ name: 'bug', color: '#FF0000', priority: 1, is_project_label: true });
  expect(await root.ProjectLabels.edit(id, 'bug', { newName: 'a defect' })).toMatchObject({ id: bug.id });
  expect(await root.ProjectLabels.show(id, 'a defect')).toMatchObject({ description: 'Broken' });
  expect(await root.ProjectLabels.all(id, { withCounts: true })).toMatchObject([{ open_issues_count: 0 }]);
  expect(await root.ProjectLabels.promote(id, 'a defect')).toMatchObject({ name: 'a defect' });
  const { id: labelId } = await root.GroupLabels.create(group, 'ours', 'green');
  expect(await root.GroupLabels.show(group, labelId)).toMatchObject({ color: '#008000' });
  expect(await root.GroupLabels.edit(group, 'ours', { color: '#00FF00' })).toMatchObject({
    color: '#00FF00',
  });
  expect((await root.GroupLabels.all(group)).map(({ name }) => name)).toEqual(['a defect', 'ours']);
  await root.GroupLabels.remove(group, 'ours');
  expect((await root.ProjectLabels.all(id)).map(({ name }) => name)).toEqual(['a defect']);
  expect((await refusal(root.ProjectLabels.show(id, 'ours')))[0]).toBe(404);

  const milestone = await root.ProjectMilestones.create(id, '1.0', {
    dueDate: inDays(9),
    startDate: inDays(1),
  });
  expect(milestone).toMatchObject({ title: '1.0', state: 'active', due_date: inDays(9), project_id: id });
  await root.ProjectMilestones.edit(id, milestone.id, { stateEvent: 'close' });
  expect(await root.ProjectMilestones.show(id, milestone.id)).toMatchObject({ state: 'closed' });
  expect(ids(await root.ProjectMilestones.all(id, { state: 'closed' }))).toEqual([milestone.id]);
  const issue = await root.Issues.create(id, 'Planned', { milestoneId: milestone.id });
  expect(ids(await root.ProjectMilestones.allAssignedIssues(id, milestone.id))).toEqual([issue.id]);
  await root.ProjectMilestones.promote(id, milestone.id);
  const [promoted] = await root.GroupMilestones.all(group);
  expect(promoted).toMatchObject({ title: '1.0', group_id: group });
  const { id: other } = await root.GroupMilestones.create(group, '2.0');
  expect(await root.GroupMilestones.edit(group, other, { title: '2.1' })).toMatchObject({ title: '2.1' });
  expect(await root.GroupMilestones.show(group, other)).toMatchObject({ id: other });
  expect(ids(await root.GroupMilestones.allAssignedIssues(group, promoted?.id ?? 0))).toEqual([issue.id]);
  await root.GroupMilestones.remove(group, other);
  const { id: gone } = await root.ProjectMilestones.create(id, 'short');
  await root.ProjectMilestones.remove(id, gone);
  expect((await refusal(root.ProjectMilestones.show(id, gone)))[0]).toBe(404);
});

test('issues: written, found, linked, moved and timed', async () => {
  const { root } = gitbeaker;
  const { group, id } = await makeProject('bugs');
  const elsewhere = await makeProject('features');
  const solver = await gitbeaker.makeUser('solver');
  await root.ProjectMembers.add(id, 30, { userId: solver.id });
  const first = await root.Issues.create(id, 'First', {
    description: 'It *breaks*',
    labels: 'bug,urgent',
    assigneeIds: [solver.id],
    dueDate: inDays(2),
    weight: 3,
  });
  expect(first).toMatchObject({
    iid: 1,
    labels: ['bug', 'urgent'],
    weight: 3,
    assignees: [{ id: solver.id }],
  });
  const second = await root.Issues.create(id, 'Second', { confidential: true, issueType: 'incident' });
  expect(second).toMatchObject({ iid: 2, confidential: true, issue_type: 'incident' });
  await root.Issues.edit(id, 1, { addLabels: 'later', removeLabels: 'urgent', stateEvent: 'close' });
  expect(await root.Issues.edit(id, 1, { stateEvent: 'reopen', title: 'The first' })).toMatchObject({
    title: 'The first',
    labels: ['bug', 'later'],
    state: 'opened',
  });
  expect(await root.Issues.show(1, { projectId: id })).toMatchObject({ id: first.id, subscribed: true });
  expect(await root.Issues.show(first.id)).toMatchObject({ iid: 1 });
  expect(
    (await root.Issues.all({ projectId: id, orderBy: 'title', sort: 'asc' })).map(({ iid }) => iid),
  ).toEqual([2, 1]);
  const detailed = await root.Issues.all({ groupId: group, labels: 'bug', withLabelsDetails: true });
  expect(detailed).toMatchObject([{ labels: [{ name: 'bug' }, { name: 'later' }] }]);
  expect(ids(await solver.api.Issues.all({ scope: 'assigned_to_me' }))).toEqual([first.id]);
  expect(await root.IssuesStatistics.all({ projectId: id })).toMatchObject({
    statistics: { counts: { all: 2, opened: 2, closed: 0 } },
  });
  expect(await root.IssuesStatistics.all({ groupId: group, confidential: true })).toMatchObject({
    statistics: { counts: { all: 1 } },
  });
  expect(await root.IssuesStatistics.all({ search: 'The first' })).toMatchObject({
    statistics: { counts: { all: 1 } },
  });

  expect((await root.IssueStateEvents.all(id, 1)).map(({ state }) => state)).toEqual(['closed', 'reopened']);
  const [event] = await root.IssueLabelEvents.all(id, 1);
  expect(await root.IssueLabelEvents.show(id, 1, event?.id ?? 0)).toMatchObject({ id: event?.id });
  expect(await root.IssueMilestoneEvents.all(id, 1)).toEqual([]);
  expect(await root.IssueIterationEvents.all(id, 1)).toEqual([]);

  await root.Issues.unsubscribe(id, 1);
  expect(await root.Issues.subscribe(id, 1)).toMatchObject({ subscribed: true });
  expect(await root.Issues.addTimeEstimate(id, 1, '1d')).toMatchObject({ time_estimate: 28_800 });
  expect(await root.Issues.addSpentTime(id, 1, '2h', { summary: 'Looked' })).toMatchObject({
    human_total_time_spent: '2h',
  });
  expect(await root.Issues.showTimeStats(id, 1)).toMatchObject({ total_time_spent: 7_200 });
  expect(await root.Issues.resetSpentTime(id, 1)).toMatchObject({ total_time_spent: 0 });
  expect(await root.Issues.resetTimeEstimate(id, 1)).toMatchObject({ time_estimate: 0 });
  expect(ids(await root.Issues.allParticipants(id, 1)).sort()).toEqual([1, solver.id]);
  expect(await root.Issues.allRelatedMergeRequests(id, 1)).toEqual([]);
  expect(await root.Issues.allClosedByMergeRequestst(id, 1)).toEqual([]);
  await root.Issues.reorder(id, 1, { moveAfterId: second.id });

  const linked = await root.IssueLinks.create(id, 1, id, 2, { linkType: 'blocks' });
  expect(linked).toMatchObject({ source_issue: { iid: 1 }, target_issue: { iid: 2 }, link_type: 'blocks' });
  const [link] = await root.IssueLinks.all(id, 1);
  expect(link).toMatchObject({ iid: 2, link_type: 'blocks' });
  await root.IssueLinks.remove(id, 1, link?.issue_link_id ?? 0);
  expect(await root.IssueLinks.all(id, 1)).toEqual([]);

  expect(await root.Issues.clone(id, 1, elsewhere.id, { withNotes: true })).toMatchObject({
    project_id: elsewhere.id,
    title: 'The first',
  });
  const moved = await root.Issues.move(id, 2, elsewhere.id);
  expect(moved).toMatchObject({ project_id: elsewhere.id, iid: 2 });
  expect(await root.Issues.show(2, { projectId: id })).toMatchObject({
    state: 'closed',
    moved_to_id: moved.id,
  });
  expect((await refusal(solver.api.Issues.remove(id, 1)))[0]).toBe(403);
  expect((await refusal(root.Issues.create(id, '')))[0]).toBe(400);
  await root.Issues.remove(id, 1);
  expect((await refusal(root.Issues.show(1, { projectId: id })))[0]).toBe(404);
});

test('notes, threads and awards on issues, snippets and commits', async () => {
  const { root } = gitbeaker;
  const { id } = await makeProject('talks');
  await root.Issues.create(id, 'Talk');
  const note = await root.IssueNotes.create(id, 1, 'Hello');
  expect(await root.IssueNotes.edit(id, 1, note.id, { body: 'Hello you' })).toMatchObject({
    body: 'Hello you',
  });
  expect(await root.IssueNotes.create(id, 1, 'Quietly', { internal: true })).toMatchObject({
    internal: true,
  });
  expect(await root.IssueNotes.show(id, 1, note.id)).toMatchObject({ noteable_type: 'Issue' });
  expect(ids(await root.IssueNotes.all(id, 1, { sort: 'asc' }))).toContain(note.id);
  const thread = await root.IssueDiscussions.create(id, 1, 'A thread');
  const response = await root.IssueDiscussions.addNote(id, 1, thread.id, 'An answer');
  await root.IssueDiscussions.editNote(id, 1, thread.id, response.id, { body: 'A better answer' });
  expect((await root.IssueDiscussions.show(id, 1, thread.id)).notes?.map(({ body }) => body)).toEqual([
    'A thread',
    'A better answer',
  ]);
  expect((await root.IssueDiscussions.all(id, 1)).map((each) => each.id)).toContain(thread.id);
  await root.IssueDiscussions.removeNote(id, 1, thread.id, response.id);
  const award = await root.IssueAwardEmojis.award(id, 1, 'thumbsup');
  expect(award).toMatchObject({ name: 'thumbsup', awardable_type: 'Issue' });
  expect(await root.IssueAwardEmojis.show(id, 1, award.id)).toMatchObject({ id: award.id });
  expect(ids(await root.IssueAwardEmojis.all(id, 1))).toEqual([award.id]);
  expect(await root.Issues.show(1, { projectId: id })).toMatchObject({ upvotes: 1 });
  await root.IssueAwardEmojis.remove(id, 1, award.id);
  const smile = await root.IssueNoteAwardEmojis.award(id, 1, note.id, 'smile');
  expect(await root.IssueNoteAwardEmojis.show(id, 1, note.id, smile.id)).toMatchObject({ name: 'smile' });
  expect(ids(await root.IssueNoteAwardEmojis.all(id, 1, note.id))).toEqual([smile.id]);
  await root.IssueNoteAwardEmojis.remove(id, 1, note.id, smile.id);
  await root.IssueNotes.remove(id, 1, note.id);
  expect((await refusal(root.IssueNotes.show(id, 1, note.id)))[0]).toBe(404);

  const files = [{ content: 'one', filePath: 'one.txt' }];
  const snippet = await root.ProjectSnippets.create(id, 'Inside', { visibility: 'private', files });
  const said = await root.ProjectSnippetNotes.create(id, snippet.id, 'Nice');
  await root.ProjectSnippetNotes.edit(id, snippet.id, said.id, { body: 'Very nice' });
  expect(await root.ProjectSnippetNotes.show(id, snippet.id, said.id)).toMatchObject({ body: 'Very nice' });
  const why = await root.ProjectSnippetDiscussions.create(id, snippet.id, 'Why?');
  await root.ProjectSnippetDiscussions.addNote(id, snippet.id, why.id, 'Because');
  expect((await root.ProjectSnippetDiscussions.all(id, snippet.id)).length).toBe(2);
  const star = await root.ProjectSnippetAwardEmojis.award(id, snippet.id, 'star');
  expect(ids(await root.ProjectSnippetAwardEmojis.all(id, snippet.id))).toEqual([star.id]);
  await root.ProjectSnippetAwardEmojis.remove(id, snippet.id, star.id);
  await root.ProjectSnippetNotes.remove(id, snippet.id, said.id);

  await root.RepositoryFiles.create(id, 'a', 'main', 'a', 'A');
  const [commit] = await root.Commits.all(id);
  const sha = commit?.id ?? '';
  const requested = await root.CommitDiscussions.create(id, sha, 'Really?');
  const reply = await root.CommitDiscussions.addNote(id, sha, requested.id, 'Yes');
  await root.CommitDiscussions.editNote(id, sha, requested.id, reply.id, { body: 'Yes!' });
  expect((await root.CommitDiscussions.show(id, sha, requested.id)).notes?.map(({ body }) => body)).toEqual([
    'Really?',
    'Yes!',
  ]);
  expect((await root.CommitDiscussions.all(id, sha)).length).toBe(1);
  await root.CommitDiscussions.removeNote(id, sha, requested.id, reply.id);
});

test('epics, what is in them and what is said of them', async () => {
  const { root } = gitbeaker;
  const { group, id } = await makeProject('large');
  const epic = await root.Epics.create(group, 'Everything', { labels: 'big', description: 'All of it' });
  expect(epic).toMatchObject({ iid: 1, title: 'Everything', labels: ['big'], group_id: group });
  expect(await root.Epics.edit(group, 1, { title: 'All', stateEvent: 'close' })).toMatchObject({
    state: 'closed',
  });
  expect(await root.Epics.show(group, 1)).toMatchObject({ title: 'All' });
  expect(ids(await root.Epics.all(group, { state: 'closed' }))).toEqual([epic.id]);
  const [one, two] = [await root.Issues.create(id, 'One'), await root.Issues.create(id, 'Two')];
  const assigned = await root.EpicIssues.assign(group, 1, one.id);
  expect(assigned).toMatchObject({ epic: { iid: 1 }, issue: { id: one.id } });
  await root.EpicIssues.assign(group, 1, two.id);
  const inside = await root.EpicIssues.all(group, 1);
  expect(ids(inside).sort()).toEqual([one.id, two.id].sort());
  const places = new Map(inside.map((each) => [each.id, each.epic_issue_id]));
  await root.EpicIssues.edit(group, 1, places.get(one.id) ?? 0, { moveAfterId: places.get(two.id) ?? 0 });
  await root.EpicIssues.remove(group, 1, places.get(one.id) ?? 0);
  expect(ids(await root.EpicIssues.all(group, 1))).toEqual([two.id]);
  const other = await root.Epics.create(group, 'Other');
  await root.LinkedEpics.create(group, 1, other.iid, group, { linkType: 'blocks' });
  const [related] = await root.LinkedEpics.all(group, 1);
  expect(related).toMatchObject({ iid: other.iid, link_type: 'blocks' });
  await root.LinkedEpics.remove(group, 1, related?.related_epic_link_id ?? 0);
  expect(await root.LinkedEpics.all(group, 1)).toEqual([]);
  // Notes, threads and events are under the epic's id, not its number. (The client requests its awards below no group.)
  const note = await root.EpicNotes.create(group, epic.id, 'Go on');
  expect(await root.EpicNotes.edit(group, epic.id, note.id, { body: 'Stop' })).toMatchObject({
    body: 'Stop',
  });
  expect(ids(await root.EpicNotes.all(group, epic.id))).toContain(note.id);
  await root.EpicNotes.remove(group, epic.id, note.id);
  const thread = await root.EpicDiscussions.create(group, epic.id, 'A thread');
  await root.EpicDiscussions.addNote(group, epic.id, thread.id, 'An answer');
  expect((await root.EpicDiscussions.show(group, epic.id, thread.id)).notes?.length).toBe(2);
  expect((await root.EpicLabelEvents.all(group, epic.id)).map(({ action }) => action)).toEqual(['add']);
  expect((await root.EpicStateEvents.all(group, epic.id)).map(({ state }) => state)).toEqual(['closed']);
  await root.Epics.remove(group, 1);
  expect((await refusal(root.Epics.show(group, 1)))[0]).toBe(404);
});

test('to-do items, uploads and Markdown', async () => {
  const { root } = gitbeaker;
  const { id } = await makeProject('busy');
  const worker = await gitbeaker.makeUser('worker');
  await root.ProjectMembers.add(id, 30, { userId: worker.id });
  await root.Issues.create(id, 'Do it', { assigneeIds: [worker.id] });
  await root.Issues.create(id, 'Look', { description: 'See, @worker' });
  const todos = await worker.api.TodoLists.all();
  expect(todos.map(({ action_name }) => action_name).sort()).toEqual(['assigned', 'mentioned']);
  const [assigned] = await worker.api.TodoLists.all({ action: 'assigned' });
  expect(await worker.api.TodoLists.done({ todoId: assigned?.id ?? 0 })).toMatchObject({ state: 'done' });
  expect(await worker.api.Issues.createTodo(id, 1)).toMatchObject({ state: 'pending' });
  expect((await refusal(worker.api.Issues.createTodo(id, 1)))[0]).toBe(304);
  await worker.api.TodoLists.done();
  expect(await worker.api.TodoLists.all()).toEqual([]);
  expect((await worker.api.TodoLists.all({ state: 'done', type: 'Issue' })).length).toBe(3);

  const uploaded = await root.Projects.uploadForReference(id, { content: picture, filename: 'dot.png' });
  expect(uploaded).toMatchObject({ alt: 'dot', markdown: `![dot](${uploaded.url})` });
  const [listed] = await root.ProjectMarkdownUploads.all(id);
  expect(listed).toMatchObject({ filename: 'dot.png', size: picture.size });
  expect((await root.ProjectMarkdownUploads.download(id, listed?.id ?? 0)).size).toBe(picture.size);
  const [, secret = ''] = /\/uploads\/(\w+)\//.exec(uploaded.url) ?? [];
  expect((await root.ProjectMarkdownUploads.download(id, secret, 'dot.png')).size).toBe(picture.size);
  await root.ProjectMarkdownUploads.remove(id, secret, 'dot.png');
  expect(await root.ProjectMarkdownUploads.all(id)).toEqual([]);
  const { html } = await root.Markdown.render('**bold** #1', { gfm: 'true', project: 'busy-group/busy' });
  expect(html).toContain('<strong>bold</strong>');
  expect(html).toContain('/busy-group/busy/-/issues/1"');
});

test('search', async () => {
  const { root } = gitbeaker;
  const { group, id } = await makeProject('wombats');
  const finder = await gitbeaker.makeUser('wombat-finder');
  await root.ProjectMembers.add(id, 10, { userId: finder.id });
  const issue = await root.Issues.create(id, 'The wombat is lost');
  const note = await root.IssueNotes.create(id, 1, 'Which wombat?');
  const milestone = await root.ProjectMilestones.create(id, 'wombat week');
  const files = [{ content: 'one', filePath: 'one.txt' }];
  const snippet = await root.Snippets.create('A wombat', { visibility: 'private', files });
  await root.RepositoryFiles.create(id, 'wombat.md', 'main', '# A wombat\n', 'Add the wombat');
  await root.ProjectWikis.create(id, 'All about the wombat', 'Home');
  expect(ids(await root.Search.all('projects', 'wombats'))).toEqual([id]);
  expect(ids(await root.Search.all('projects', 'wombats', { groupId: group }))).toEqual([id]);
  for (const place of [{}, { groupId: group }, { projectId: id }]) {
    expect(ids(await root.Search.all('issues', 'wombat', place))).toEqual([issue.id]);
    expect(ids(await root.Search.all('milestones', 'wombat', place))).toEqual([milestone.id]);
    expect(await root.Search.all('merge_requests', 'wombat', place)).toEqual([]);
  }
  expect(ids(await root.Search.all('users', 'wombat'))).toEqual([finder.id]);
  expect(ids(await root.Search.all('users', 'wombat', { projectId: id }))).toEqual([finder.id]);
  expect(ids(await root.Search.all('snippet_titles', 'wombat'))).toEqual([snippet.id]);
  expect(ids(await finder.api.Search.all('snippet_titles', 'wombat'))).toEqual([]);
  expect(ids(await root.Search.all('notes', 'wombat', { projectId: id }))).toEqual([note.id]);
  expect(await root.Search.all('blobs', 'wombat', { projectId: id })).toMatchObject([
    { path: 'wombat.md', data: '# A wombat\n', startline: 1, ref: 'main' },
  ]);
  expect(await root.Search.all('commits', 'wombat', { projectId: id })).toMatchObject([
    { title: 'Add the wombat' },
  ]);
  expect(await root.Search.all('wiki_blobs', 'wombat', { projectId: id })).toMatchObject([
    { path: 'Home.md' },
  ]);
  expect((await refusal(root.Search.all('blobs', 'wombat')))[0]).toBe(400);
});
