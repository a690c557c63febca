/** A project with everything in it, exported and imported into a fresh instance, is the same through the API, and in git. */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT_TOKEN, type Site, type TestApp, useApp } from '../../../test/support/app.ts';
import { addMember, bodyOf, makeUser, snippetFiles } from '../../../test/support/factories.ts';
import { addressOf, makeHome, mustGit } from '../../../test/support/git.ts';
import { commitTo, makeReviewedProject } from '../../../test/support/merge-requests.ts';
import { exported, importOver, sendArchive } from '../../../test/support/transfers.ts';
import { until } from '../../../test/support/waiting.ts';

const source = useApp();
const target = useApp();
const home = makeHome();
afterAll(() => rmSync(home, { recursive: true, force: true }));

const people = ['maria', 'devon'] as const;
type People = Record<(typeof people)[number], { id: number; token: string }>;

/** The same people with other ids. */
async function makePeople(app: TestApp, first: number): Promise<People> {
  for (let index = 0; index < first; index++) await makeUser(app);
  await app.app.services.database
    .sql`update users set public_email = 'root@public.example' where username = 'root'`;
  const made: [string, { id: number; token: string }][] = [];
  // One after the other: lists are in the order of ids.
  for (const username of people)
    made.push([
      username,
      await makeUser(app, {
        username,
        name: `Person ${username}`,
        public_email: `${username}@public.example`,
      }),
    ]);
  return Object.fromEntries(made) as People;
}

async function makeEverything(site: TestApp, { maria, devon }: People): Promise<number> {
  const { id } = await makeReviewedProject(site, {
    description: 'Has everything',
    topics: ['one', 'two'],
    merge_method: 'ff',
  });
  const path = `/projects/${id}`;
  const root = (request: string, body?: unknown, status = 201) =>
    site
      .root(request.replace(' ', ` ${path}`), body === undefined ? {} : { body })
      .then((called) => bodyOf(called, status));
  const as = (token: string, request: string, body: unknown, status = 201) =>
    site
      .as(token)(request.replace(' ', ` ${path}`), { body })
      .then((called) => bodyOf(called, status));
  await addMember(site, `projects/${id}`, maria, 40);
  await addMember(site, `projects/${id}`, devon, 30);
  await root('POST /labels', { name: 'bug', color: '#ff0000', description: 'Wrong', priority: 3 });
  await root('POST /labels', { name: 'idea', color: '#00ff00' });
  const milestone = await root('POST /milestones', {
    title: 'v1',
    description: 'First',
    due_date: '2027-01-31',
  });
  await root('POST /badges', {
    name: 'ci',
    link_url: 'https://example.org',
    image_url: 'https://example.org/a.svg',
  });
  const upload = new FormData();
  upload.append('file', new Blob(['of a text']), 'notes.txt');
  const kept = await fetch(`${site.url}/api/v4${path}/uploads`, {
    method: 'POST',
    headers: { 'private-token': ROOT_TOKEN },
    body: upload,
  });
  const { markdown } = (await kept.json()) as { markdown: string };
  await as(devon.token, 'POST /issues', {
    title: 'First',
    description: `See ${markdown} and #2`,
    labels: 'bug,idea',
    assignee_ids: [maria.id],
    milestone_id: milestone.id,
    due_date: '2027-01-01',
  });
  await as(maria.token, 'POST /issues', { title: 'Secret', confidential: true, issue_type: 'incident' });
  await root('POST /issues', { title: 'Gone' });
  await root('DELETE /issues/3', undefined, 204);
  await root('POST /issues', { title: 'Fourth', weight: 3 });
  const note = await as(maria.token, 'POST /issues/1/notes', { body: 'A comment **here**' });
  await root('POST /issues/1/notes', { body: 'Only for us', internal: true });
  const { notes } = await as(devon.token, 'POST /issues/1/discussions', { body: 'A thread' });
  const discussions = await root('GET /issues/1/discussions', undefined, 200);
  const thread = discussions.find((each: { notes: { id: number }[] }) => each.notes[0]?.id === notes[0].id);
  await as(maria.token, `POST /issues/1/discussions/${thread.id}/notes`, { body: 'An answer' });
  await as(devon.token, `POST /issues/1/notes/${note.id}/award_emoji`, { name: 'tada' });
  await as(maria.token, 'POST /issues/1/award_emoji', { name: 'thumbsup' });
  await root('POST /issues/1/links', { target_project_id: id, target_issue_iid: 4, link_type: 'blocks' });
  await root('POST /issues/1/time_estimate', { duration: '3h' });
  await root('POST /issues/1/add_spent_time', { duration: '1h', summary: 'Looked' });
  await root('PUT /issues/4', { state_event: 'close' }, 200);
  await commitTo(site, id, 'topic', { 'topic.txt': 'topic\n', 'a.txt': 'one\ntwo\n' });
  await as(devon.token, 'POST /merge_requests', {
    title: 'Draft: Topic',
    source_branch: 'topic',
    target_branch: 'main',
    labels: 'bug',
    reviewer_ids: [maria.id],
    assignee_ids: [devon.id],
    milestone_id: milestone.id,
    description: 'Closes #1',
  });
  const opened = await root('GET /merge_requests/1', undefined, 200);
  const position = {
    ...opened.diff_refs,
    position_type: 'text',
    old_path: 'a.txt',
    new_path: 'a.txt',
    new_line: 2,
  };
  await as(maria.token, 'POST /merge_requests/1/discussions', { body: 'Why two?', position });
  await as(maria.token, 'POST /merge_requests/1/approve', {});
  await commitTo(site, id, 'other', { 'other.txt': 'other\n' });
  await root('POST /merge_requests', { title: 'Other', source_branch: 'other', target_branch: 'main' });
  await root('PUT /merge_requests/2', { state_event: 'close' }, 200);
  await root('POST /repository/tags', { tag_name: 'v1.0', ref: 'main' });
  await root('POST /releases', {
    tag_name: 'v1.0',
    name: 'One',
    description: 'It **is**',
    milestones: ['v1'],
    assets: { links: [{ name: 'site', url: 'https://example.org/v1' }] },
  });
  await root('POST /protected_branches', { name: 'stable-*', push_access_level: 40, merge_access_level: 30 });
  await root('POST /protected_tags', { name: 'v*', create_access_level: 40 });
  await root('POST /pipeline_schedules', { description: 'Nightly', ref: 'main', cron: '0 1 * * *' });
  await root(`POST /statuses/${opened.sha}`, { state: 'success', name: 'lint', ref: 'topic' });
  const snippet = await root('POST /snippets', {
    title: 'A snippet',
    visibility: 'private',
    files: snippetFiles('a.txt', 'b.txt'),
  });
  await root(`POST /snippets/${snippet.id}/notes`, {
    body: 'On it',
  });
  await root('POST /wikis', { title: 'Home', content: 'Welcome' });
  await until(
    async () => (await root('GET /merge_requests/1', undefined, 200)).merge_status === 'can_be_merged',
    'the merge request is not checked',
  );
  return id;
}

/** What is another one by nature: ids, addresses with them, times at which rows were written or counted. */
const own = new Set([
  ...[
    'id',
    'project_id',
    'source_project_id',
    'target_project_id',
    'noteable_id',
    'web_url',
    '_links',
    'references',
    'author_id',
  ],
  ...[
    'snippets_enabled',
    'full_path',
    'avatar_url',
    'updated_at',
    'next_run_at',
    'resource_id',
    'issue_link_id',
  ],
  ...[
    'raw_url',
    'ssh_url_to_repo',
    'http_url_to_repo',
    'pipeline_id',
    'link_created_at',
    'link_updated_at',
    'evidences',
    'url',
  ],
  ...[
    'commit_path',
    'tag_path',
    'assets',
    'labels_id',
    'last_pipeline',
    'discussion_id',
    'latest_build_started_at',
    'prepared_at',
  ],
  ...[
    'created_by',
    'expanded_name',
    'spent_at',
    'award_id',
    'email',
    'locked',
    'head_pipeline',
    'pipeline',
    'user',
  ],
]);

function shown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value !== 'object' || value === null) return value;
  const record = value as Record<string, unknown>;
  // People are who they are by their names.
  if (typeof record.username === 'string') return record.username;
  return Object.fromEntries(
    Object.entries(record).flatMap(([name, each]) => (own.has(name) ? [] : [[name, shown(each)]])),
  );
}

const compared = [
  'labels?with_counts=true',
  'milestones',
  'members',
  'badges',
  'issues?scope=all&order_by=created_at&sort=asc&with_labels_details=true',
  'issues/1/notes?sort=asc&order_by=created_at',
  'issues/1/discussions',
  'issues/1/award_emoji',
  'issues/1/links',
  'issues/1/resource_label_events',
  'issues/1/resource_milestone_events',
  'issues/1/time_stats',
  'issues/4/resource_state_events',
  'issues/1/participants',
  'merge_requests?scope=all&state=all&order_by=created_at&sort=asc',
  'merge_requests/1',
  'merge_requests/1/notes?sort=asc&order_by=created_at',
  'merge_requests/1/discussions',
  'merge_requests/1/commits',
  'merge_requests/1/diffs',
  'merge_requests/1/approvals',
  'merge_requests/1/reviewers',
  'merge_requests/1/versions',
  'merge_requests/1/closes_issues',
  'merge_requests/2',
  'pipelines',
  'releases',
  'protected_branches',
  'protected_tags',
  'snippets',
  'wikis?with_content=true',
  'repository/branches',
  'repository/tags',
] as const;

async function readAll(site: Site, id: number): Promise<Record<string, unknown>> {
  const read = compared.map(async (path) => {
    const [place = '', query = ''] = path.split('?');
    return [path, shown(bodyOf(await site.root(`GET /projects/${id}/${place}`, { query }), 200))];
  });
  return Object.fromEntries(await Promise.all(read));
}

async function refsOf(site: Site, path: string, wiki = ''): Promise<string> {
  return mustGit(home, ['ls-remote', addressOf(site.url, `${path}${wiki}`, ROOT_TOKEN)]);
}

const moved: { from: number; to: number; status: Record<string, unknown> } = { from: 0, to: 0, status: {} };

beforeAll(async () => {
  const there = await makePeople(source, 2);
  await makePeople(target, 5);
  moved.from = await makeEverything(source, there);
  const archive = await exported(source, `/projects/${moved.from}`);
  const { status, body, text } = await sendArchive(target, '/projects/import', archive, { path: 'moved' });
  if (status !== 201) throw new Error(text);
  moved.to = body.id;
  moved.status = await importOver(target, moved.to);
  await until(
    async () =>
      (await target.root(`GET /projects/${moved.to}/merge_requests/1`)).body.merge_status === 'can_be_merged',
    'the imported merge request is not checked',
  );
}, 120_000);

test('all of it is imported, and nothing failed', () => {
  expect(moved.status).toMatchObject({ import_status: 'finished', import_error: null, failed_relations: [] });
});

test.each(compared.map((path) => [path]))('%s is the same', async (path) => {
  const [there, here] = await Promise.all([readAll(source, moved.from), readAll(target, moved.to)]);
  expect(here[path]).toEqual(there[path]);
});

test('git has the same objects under the same names', async () => {
  const [there, here] = await Promise.all([
    source.root(`GET /projects/${moved.from}`),
    target.root(`GET /projects/${moved.to}`),
  ]);
  for (const wiki of ['', '.wiki'])
    expect(await refsOf(target, here.body.path_with_namespace, wiki)).toBe(
      (await refsOf(source, there.body.path_with_namespace, wiki)).replaceAll(/^.*\/merge\n/gm, ''),
    );
  const folder = mkdtempSync(join(home, 'clone-'));
  await mustGit(home, [
    'clone',
    '--quiet',
    '--bare',
    addressOf(target.url, here.body.path_with_namespace, ROOT_TOKEN),
    folder,
  ]);
  await mustGit(folder, ['fsck', '--strict']);
});

test('settings, topics and texts of the project are the same', async () => {
  const there = bodyOf(await source.root(`GET /projects/${moved.from}`), 200);
  const here = bodyOf(await target.root(`GET /projects/${moved.to}`), 200);
  for (const name of [
    'description',
    'topics',
    'merge_method',
    'default_branch',
    'visibility',
    'issues_access_level',
    'open_issues_count',
  ])
    expect([name, here[name]]).toEqual([name, there[name]]);
});

test('numbers go on behind the last one', async () => {
  const issue = bodyOf(
    await target.root(`POST /projects/${moved.to}/issues`, { body: { title: 'Next' } }),
    201,
  );
  expect(issue.iid).toBe(5);
  const milestone = bodyOf(
    await target.root(`POST /projects/${moved.to}/milestones`, { body: { title: 'v2' } }),
    201,
  );
  expect(milestone.iid).toBe(2);
});

test('the upload of a text is there', async () => {
  const { description } = bodyOf(await target.root(`GET /projects/${moved.to}/issues/1`), 200);
  const [, address] = /\((\/uploads\/[^)]+)\)/.exec(description) ?? [];
  const { status, text } = await target.root(`GET /projects/${moved.to}${address}`);
  expect([status, text]).toEqual([200, 'of a text']);
});

test('a schedule is there, and does not run', async () => {
  const [schedule] = bodyOf(await target.root(`GET /projects/${moved.to}/pipeline_schedules`), 200);
  expect(schedule).toMatchObject({ description: 'Nightly', cron: '0 1 * * *', active: false });
});
