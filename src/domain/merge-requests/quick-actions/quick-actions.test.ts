/** Quick actions about merge requests: in notes, drafts and descriptions, with the rights of who writes them. */
import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';
import {
  commitTo,
  makeMergeRequest,
  makeReviewedProject,
  waitForFollowing,
} from '../../../../test/support/merge-requests.ts';

const ashlar = useApp();
let project: MadeProject;
let people: Record<'guest' | 'reporter' | 'developer' | 'maintainer', MadeUser>;
let branches = 0;

beforeAll(async () => {
  project = await makeReviewedProject(ashlar, { visibility: 'public' });
  people = await makeMembers(
    ashlar,
    `projects/${project.id}`,
    'guest',
    'reporter',
    'developer',
    'maintainer',
  );
  await commitTo(ashlar, project.id, 'stable', { 'b.txt': 'two\n' });
});

type Row = { iid: number; path: string; branch: string };

/** A merge request of root's from a branch of its own. */
async function open(attributes: Record<string, unknown> = {}, inside = project): Promise<Row> {
  branches += 1;
  const branch = `topic-${branches}`;
  const { iid } = await makeMergeRequest(ashlar, inside.id, branch, attributes);
  return { iid, branch, path: `/projects/${inside.id}/merge_requests/${iid}` };
}

const show = async ({ path }: Row) => bodyOf(await ashlar.root(`GET ${path}`), 200);
const write = ({ path }: Row, body: string, of: { token: string } = people.developer) =>
  ashlar.as(of.token)(`POST ${path}/notes`, { body: { body } });
const commandsOnly = async (row: Row, body: string, of?: { token: string }) =>
  bodyOf(await write(row, body, of), 202);

test('a note of commands alone changes the merge request, and is no note', async () => {
  const row = await open();
  const { developer, reporter } = people;
  const text = `/title Better\n/draft\n/assign @${reporter.username}\n/reviewer me\n/lock\n/target_branch stable\n/estimate 2h\n/spend 1h`;
  const done = await commandsOnly(row, text);
  expect(done).toEqual({
    commands_changes: {
      title: 'Draft: Better',
      assignee_ids: [reporter.id],
      reviewer_ids: [developer.id],
      discussion_locked: true,
      target_branch: 'stable',
      time_estimate: 7_200,
    },
    summary: [
      'Changed the title to "Better".',
      'Marked this merge request as a draft.',
      `Assigned @${reporter.username}.`,
      'Assigned me as reviewer.',
      'Locked the discussion.',
      'Set target branch to stable.',
      'Set time estimate to 2h.',
      'Added 1h spent time.',
    ],
  });
  expect(await show(row)).toMatchObject({
    title: 'Draft: Better',
    draft: true,
    target_branch: 'stable',
    discussion_locked: true,
    assignees: [{ id: reporter.id }],
    reviewers: [{ id: developer.id }],
    time_stats: { time_estimate: 7_200, total_time_spent: 3_600 },
    user_notes_count: 0,
  });
  const notes = bodyOf(await ashlar.root(`GET ${row.path}/notes`, { query: 'per_page=50' }), 200);
  expect(notes.map(({ body }: { body: string }) => body)).toEqual(
    expect.arrayContaining([
      'marked this merge request as **draft**',
      'changed target branch from `main` to `stable`',
      `requested review from @${developer.username}`,
    ]),
  );
});

test('of a note with other text that text stays', async () => {
  const row = await open({ title: 'Draft: Topic' });
  const note = bodyOf(await write(row, 'Fine by me.\n/ready\n/close'), 201);
  expect(note).toMatchObject({
    body: 'Fine by me.',
    commands_changes: { title: 'Topic', state_event: 'close' },
  });
  expect(await show(row)).toMatchObject({ title: 'Topic', draft: false, state: 'closed' });
});

test('a command that comes to nothing is 400 where there is nothing else', async () => {
  const row = await open();
  const refused = await write(row, '/target_branch none\n/ready');
  expect([refused.status, refused.body.message]).toEqual([
    400,
    '400 Bad request - Could not apply target_branch, ready commands.',
  ]);
  expect(await show(row)).toMatchObject({ title: `Merge ${row.branch}`, target_branch: 'main' });
});

test('each has their own rights', async () => {
  const row = await open();
  const text =
    '/label ~bug\n/title Mine\n/reviewer me\n/target_branch stable\n/close\n/lock\n/merge\n/rebase';
  bodyOf(
    await ashlar.root(`POST /projects/${project.id}/labels`, { body: { name: 'bug', color: '#fff' } }),
    201,
  );
  const before = await show(row);
  const stranger = await makeUser(ashlar);
  for (const other of [stranger, people.guest]) expect((await write(row, text, other)).status).toBe(400);
  expect(await show(row)).toEqual(before);
  const reporter = await commandsOnly(row, text, people.reporter);
  expect(reporter.commands_changes).toEqual({
    add_labels: ['bug'],
    reviewer_ids: [people.reporter.id],
  });
  // The default branch is protected: developers merge into others only.
  const developer = await commandsOnly(row, '/merge\n/title Theirs');
  expect(developer.summary).toEqual(['Changed the title to "Theirs".']);
  expect(await show(row)).toMatchObject({ title: 'Theirs', labels: ['bug'], state: 'opened' });
});

test('an author who is no member changes what authors may', async () => {
  const stranger = await makeUser(ashlar);
  const row = await open();
  const { sql } = ashlar.app.services.database;
  await sql`update merge_requests set author_id = ${stranger.id} where project_id = ${project.id} and iid = ${row.iid}`;
  const done = await commandsOnly(row, '/draft\n/close\n/assign me\n/spend 1h\n/lock', stranger);
  expect(done.commands_changes).toEqual({ title: `Draft: Merge ${row.branch}`, state_event: 'close' });
  expect(await show(row)).toMatchObject({ draft: true, state: 'closed', assignees: [] });
});

test('/merge merges what can be merged, and lets a draft wait until it is ready', async () => {
  const [ready, draft] = [await open(), await open({ title: 'Draft: Later' })];
  for (const row of [ready, draft])
    expect((await commandsOnly(row, '/merge', people.maintainer)).summary).toHaveLength(1);
  await waitForFollowing(ashlar);
  expect(await show(ready)).toMatchObject({ state: 'merged', merged_by: { id: people.maintainer.id } });
  expect(await show(draft)).toMatchObject({ state: 'opened', merge_when_pipeline_succeeds: true });
  await commandsOnly(draft, '/ready');
  await waitForFollowing(ashlar);
  expect(await show(draft)).toMatchObject({ state: 'merged', merged_by: { id: people.maintainer.id } });
});

test('/merge is for what is open and without conflict', async () => {
  const { id } = await makeReviewedProject(ashlar);
  await commitTo(ashlar, id, 'topic', { 'a.txt': 'theirs\n' });
  await commitTo(ashlar, id, 'main', { 'a.txt': 'ours\n' });
  const body = { title: 'Conflict', source_branch: 'topic', target_branch: 'main' };
  const { iid } = bodyOf(await ashlar.root(`POST /projects/${id}/merge_requests`, { body }), 201);
  const path = `/projects/${id}/merge_requests/${iid}/notes`;
  expect((await ashlar.root(`POST ${path}`, { body: { body: '/merge' } })).status).toBe(400);
  const closed = await open();
  await commandsOnly(closed, '/close');
  expect((await write(closed, '/merge', people.maintainer)).status).toBe(400);
});

test('/rebase writes the source anew, for who may push to it', async () => {
  const row = await open();
  const { sha } = await show(row);
  const main = await commitTo(ashlar, project.id, 'main', { [`${row.branch}.md`]: 'new\n' });
  await waitForFollowing(ashlar);
  expect((await write(row, '/rebase', people.reporter)).status).toBe(400);
  const done = await commandsOnly(row, '/rebase');
  expect(done.summary).toEqual([`Scheduled a rebase of branch ${row.branch}.`]);
  await waitForFollowing(ashlar);
  const head = bodyOf(await ashlar.root(`GET /projects/${project.id}/repository/commits/${row.branch}`), 200);
  expect(head.id).not.toBe(sha);
  expect(head.parent_ids).toEqual([main]);
  expect(await show(row)).toMatchObject({ sha: head.id, merge_error: null });
});

test('/request_review asks who has reviewed to look again', async () => {
  const row = await open({ reviewer_ids: [people.developer.id] });
  const { sql } = ashlar.app.services.database;
  await sql`update merge_request_reviewers set state = 'requested_changes'`;
  await sql`update todos set state = 'done' where user_id = ${people.developer.id}`;
  const { developer, maintainer } = people;
  await commandsOnly(row, `/request_review @${developer.username} @${maintainer.username}`, maintainer);
  const reviewers = bodyOf(await ashlar.root(`GET ${row.path}/reviewers`), 200);
  const states = reviewers.map(({ user, state }: { user: MadeUser; state: string }) => [user.id, state]);
  expect(new Map(states)).toEqual(
    new Map([
      [developer.id, 'unreviewed'],
      [maintainer.id, 'unreviewed'],
    ]),
  );
  const notes = bodyOf(await ashlar.root(`GET ${row.path}/notes`), 200);
  expect(notes.map(({ body }: { body: string }) => body).toSorted()).toEqual(
    [
      `requested review from @${developer.username}`,
      `requested review from @${maintainer.username}`,
    ].toSorted(),
  );
  const todos = bodyOf(await ashlar.as(developer.token)('GET /todos'), 200);
  expect(todos).toMatchObject([{ action_name: 'review_requested', target: { iid: row.iid } }]);
});

test('a description is read when a merge request is opened, and when it is changed', async () => {
  await commitTo(ashlar, project.id, 'described', { 'd.txt': 'd\n' });
  const { developer } = people;
  const made = bodyOf(
    await ashlar.as(developer.token)(`POST /projects/${project.id}/merge_requests`, {
      body: {
        title: 'Described',
        source_branch: 'described',
        target_branch: 'main',
        labels: 'stone',
        description:
          'Why.\n/draft\n/assign me\n/label ~bug\n/target_branch stable\n/estimate 1h\n/spend 30m\n/award :thumbsup:\n/close\n/merge\n/lock',
      },
    }),
    201,
  );
  expect(made).toMatchObject({
    title: 'Draft: Described',
    description: 'Why.',
    target_branch: 'stable',
    state: 'opened',
    draft: true,
    discussion_locked: null,
    labels: expect.arrayContaining(['stone']),
    assignees: [{ id: developer.id }],
    time_stats: { time_estimate: 3_600, total_time_spent: 1_800 },
    upvotes: 1,
  });
  const path = `/projects/${project.id}/merge_requests/${made.iid}`;
  const description = 'Why not.\n/ready\n/remove_time_spent\n/close';
  const changed = bodyOf(await ashlar.as(developer.token)(`PUT ${path}`, { body: { description } }), 200);
  expect(changed).toMatchObject({
    title: 'Described',
    description: 'Why not.',
    state: 'closed',
    time_stats: { total_time_spent: 0 },
  });
});

test('a draft note does nothing until it is published', async () => {
  const row = await open();
  const as = ashlar.as(people.developer.token);
  for (const note of ['/draft', 'Text\n/target_branch stable', '/close'])
    bodyOf(await as(`POST ${row.path}/draft_notes`, { body: { note } }), 201);
  expect(await show(row)).toMatchObject({ draft: false, state: 'opened', target_branch: 'main' });
  expect((await as(`POST ${row.path}/draft_notes/bulk_publish`)).status).toBe(204);
  expect(await show(row)).toMatchObject({
    draft: true,
    state: 'closed',
    target_branch: 'stable',
    user_notes_count: 1,
  });
});

test('what is refused leaves nothing of the note, the change or the merge request', async () => {
  const row = await open();
  const before = await show(row);
  // More time than was spent cannot be removed: it is found out when the rest is written already.
  const description = 'Text\n/draft\n/award :tada:\n/spend -1h';
  const requests: [string, Record<string, unknown>][] = [
    [`POST ${row.path}/notes`, { body: description }],
    [`PUT ${row.path}`, { title: 'Other', description }],
    [
      `POST /projects/${project.id}/merge_requests`,
      { title: 'New', source_branch: row.branch, target_branch: 'stable', description },
    ],
  ];
  for (const [line, body] of requests) {
    const { status, text } = await ashlar.root(line, { body });
    expect([line, status, text]).toEqual([line, 400, expect.stringContaining('exceeds the total')]);
  }
  expect(await show(row)).toEqual(before);
  const query = { query: `source_branch=${row.branch}` };
  expect(bodyOf(await ashlar.root(`GET /projects/${project.id}/merge_requests`, query), 200)).toHaveLength(1);
});

test('two are not open between the same branches by a command', async () => {
  const row = await open();
  await commandsOnly(row, '/close');
  const body = { title: 'Second', source_branch: row.branch, target_branch: 'main' };
  const second = bodyOf(await ashlar.root(`POST /projects/${project.id}/merge_requests`, { body }), 201);
  const refused = await write(row, 'Again\n/reopen');
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining(`!${second.iid}`)]);
  expect(await show(row)).toMatchObject({ state: 'closed', user_notes_count: 0 });
});

test('members of another project have no part in it', async () => {
  const { id } = await makeProject(ashlar, { visibility: 'private' });
  const { maintainer } = await makeMembers(ashlar, `projects/${id}`, 'maintainer');
  const row = await open();
  const text = '/close\n/merge\n/rebase\n/draft\n/label ~bug';
  expect((await write(row, text, maintainer)).status).toBe(400);
  expect(await show(row)).toMatchObject({ state: 'opened', draft: false });
});

test('labels and milestone are copied from what its author reads in the project', async () => {
  const path = `/projects/${project.id}`;
  const { id: milestone_id } = bodyOf(
    await ashlar.root(`POST ${path}/milestones`, { body: { title: 'v9' } }),
    201,
  );
  const fields = { labels: 'copied,twice', milestone_id };
  const issue = async (of: MadeProject, more: Record<string, unknown> = {}) =>
    bodyOf(
      await ashlar.root(`POST /projects/${of.id}/issues`, { body: { title: 'From', ...fields, ...more } }),
      201,
    );
  const { iid } = await issue(project);
  const secret = await issue(project, { confidential: true, labels: 'secret' });
  const row = await open();
  const copied = [`Copied labels and milestone from #${iid}.`];
  expect((await commandsOnly(row, `/copy_metadata #${iid}`)).summary).toEqual(copied);
  expect(await show(row)).toMatchObject({ labels: ['copied', 'twice'], milestone: { id: milestone_id } });
  // Into an issue from a merge request, in a description too.
  const { labels, milestone } = await issue(project, {
    labels: 'own',
    milestone_id: null,
    description: `/copy_metadata !${row.iid}`,
  });
  expect([labels, milestone.id]).toEqual([['copied', 'own', 'twice'], milestone_id]);
  const other = await makeReviewedProject(ashlar);
  const { iid: foreign } = await issue(other, { milestone_id: null });
  for (const [argument, by] of [
    [`#${secret.iid}`, people.guest],
    [`#${iid}`, people.guest],
    [`${other.path_with_namespace}#${foreign}`, people.developer],
    ['#99999', people.developer],
    ['', people.developer],
  ] as const) {
    const refused = await write(row, `/copy_metadata ${argument}`, by);
    expect([argument, refused.status]).toEqual([argument, 400]);
  }
  bodyOf(await ashlar.root(`PUT ${path}`, { body: { issues_access_level: 'disabled' } }), 200);
  expect((await write(row, `/copy_metadata #${iid}`)).status).toBe(400);
  bodyOf(await ashlar.root(`PUT ${path}`, { body: { issues_access_level: 'enabled' } }), 200);
});

test('another head than the author of a note saw is not merged', async () => {
  const row = await open();
  const { sha } = await show(row);
  const merge = (head: unknown) =>
    ashlar.as(people.maintainer.token)(`POST ${row.path}/notes`, {
      body: { body: '/merge', merge_request_diff_head_sha: head },
    });
  expect((await merge('1'.repeat(40))).status).toBe(400);
  bodyOf(await merge(sha), 202);
  await expect.poll(async () => (await show(row)).state, { timeout: 30_000 }).toBe('merged');
});
