/** Notes on what merge requests and pushed commits name, and who sees them, over HTTP. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeUser,
  makeGroup,
  makeMembers,
  makeUser,
} from '../../../../test/support/factories.ts';
import {
  commitTo,
  makeMergeRequest,
  makeReaderWorld,
  makeReviewedProject,
  readersBySettings,
  readersWho,
  waitForFollowing,
} from '../../../../test/support/merge-requests.ts';
import { makeIssue } from '../../../../test/support/planning.ts';

const ashlar = useApp();

type Call = typeof ashlar.root;
type Note = { id: number; body: string; system: boolean; author: { username: string } };

const notesAt = async (path: string, call: Call = ashlar.root): Promise<Note[]> =>
  bodyOf(await call(`GET ${path}/notes`, { query: 'sort=asc' }), 200);
/** The mentions told there. */
const mentionsAt = async (path: string, call: Call = ashlar.root): Promise<string[]> =>
  (await notesAt(path, call)).map(({ body }) => body).filter((body) => body.startsWith('mentioned in'));
const issuePath = ({ project_id, iid }: { project_id: number; iid: number }) =>
  `/projects/${project_id}/issues/${iid}`;

test('what its texts and commits name is told once each, in its project and elsewhere', async () => {
  const group = await makeGroup(ashlar);
  const project = await makeReviewedProject(ashlar, { namespace_id: group.id });
  const other = await makeReviewedProject(ashlar);
  const { id } = project;
  const [titled, described, committed, commented, coded] = [
    await makeIssue(ashlar, project),
    await makeIssue(ashlar, project),
    await makeIssue(ashlar, project),
    await makeIssue(ashlar, project),
    await makeIssue(ashlar, project),
  ];
  const elsewhere = await makeIssue(ashlar, other);
  const epic = bodyOf(await ashlar.root(`POST /groups/${group.id}/epics`, { body: { title: 'Epic' } }), 201);
  const earlier = await makeMergeRequest(ashlar, id, 'earlier');
  const sha = await commitTo(ashlar, id, 'main', { 'c.txt': 'c\n' }, { message: 'Named' });
  const own = await commitTo(
    ashlar,
    id,
    'topic',
    { 'b.txt': 'b\n' },
    { message: `Change\n\nSee #${committed.iid}` },
  );
  const made = bodyOf(
    await ashlar.root(`POST /projects/${id}/merge_requests`, {
      body: {
        title: `After #${titled.iid}`,
        description: [
          `#${described.iid} and #${described.iid} again, ${other.path_with_namespace}#${elsewhere.iid}`,
          `&${epic.iid}, !${earlier.iid}, ${sha}, ${own}, !2, #99, \`#${coded.iid}\``,
        ].join('\n'),
        source_branch: 'topic',
        target_branch: 'main',
      },
    }),
    201,
  );
  const path = `/projects/${id}/merge_requests/${made.iid}`;
  bodyOf(
    await ashlar.root(`POST ${path}/notes`, { body: { body: `As #${commented.iid} and #${titled.iid}` } }),
    201,
  );
  await waitForFollowing(ashlar);
  const short = `mentioned in merge request !${made.iid}`;
  const full = `mentioned in merge request ${made.references.full}`;
  expect(await mentionsAt(issuePath(titled))).toEqual([short]);
  expect(await mentionsAt(issuePath(described))).toEqual([short]);
  expect((await mentionsAt(issuePath(committed))).toSorted()).toEqual([`mentioned in commit ${own}`, short]);
  expect(await mentionsAt(issuePath(commented))).toEqual([short]);
  expect(await mentionsAt(issuePath(coded))).toEqual([]);
  expect(await mentionsAt(issuePath(elsewhere))).toEqual([full]);
  expect(await mentionsAt(`/projects/${id}/merge_requests/${earlier.iid}`)).toEqual([short]);
  expect(await mentionsAt(path)).toEqual([]);
  const threadsAt = async (at: string): Promise<string[]> =>
    bodyOf(await ashlar.root(`GET ${at}/discussions`), 200).flatMap(({ notes }: { notes: Note[] }) =>
      notes.map(({ body }) => body),
    );
  expect(await threadsAt(`/groups/${group.id}/epics/${epic.id}`)).toEqual([full]);
  expect(await threadsAt(`/projects/${id}/repository/commits/${sha}`)).toEqual([short]);
  expect(await threadsAt(`/projects/${id}/repository/commits/${own}`)).toEqual([]);
  const related = await ashlar.root(`GET ${issuePath(elsewhere)}/related_merge_requests`);
  expect(bodyOf(related, 200).map(({ iid }: { iid: number }) => iid)).toEqual([made.iid]);
  // Neither an edit nor another push tells it again, but what is named then is told.
  bodyOf(await ashlar.root(`PUT ${path}`, { body: { description: `#${described.iid} #${coded.iid}` } }), 200);
  await commitTo(ashlar, id, 'topic', { 'd.txt': 'd\n' });
  await waitForFollowing(ashlar);
  expect(await mentionsAt(issuePath(described))).toEqual([short]);
  expect(await mentionsAt(issuePath(coded))).toEqual([short]);
  expect(bodyOf(await ashlar.root(`GET ${issuePath(described)}`), 200).user_notes_count).toBe(0);
});

test('internal notes tell nothing, and nothing is told where the writer could not', async () => {
  const project = await makeReviewedProject(ashlar, { visibility: 'public' });
  const { developer } = await makeMembers(ashlar, `projects/${project.id}`, 'developer');
  const closed = await makeReviewedProject(ashlar, { visibility: 'private' });
  const open = await makeReviewedProject(ashlar, { visibility: 'public' });
  const [whispered, said] = [await makeIssue(ashlar, project), await makeIssue(ashlar, project)];
  const hidden = await makeIssue(ashlar, closed);
  const [secret, locked] = [
    await makeIssue(ashlar, open, { confidential: true }),
    await makeIssue(ashlar, open, { discussion_locked: true }),
  ];
  bodyOf(await ashlar.root(`PUT ${issuePath(locked)}`, { body: { discussion_locked: true } }), 200);
  const made = await makeMergeRequest(ashlar, project.id, 'topic');
  const call = ashlar.as(developer.token);
  const path = `/projects/${project.id}/merge_requests/${made.iid}`;
  const note = { body: `#${whispered.iid}`, internal: true };
  bodyOf(await ashlar.root(`POST ${path}/notes`, { body: note }), 201);
  const named = [
    `#${said.iid}`,
    `${closed.path_with_namespace}#${hidden.iid}`,
    ...[secret, locked].map(({ iid }) => `${open.path_with_namespace}#${iid}`),
  ];
  bodyOf(await call(`POST ${path}/notes`, { body: { body: named.join(' ') } }), 201);
  await waitForFollowing(ashlar);
  for (const issue of [whispered, hidden, secret, locked])
    expect(await mentionsAt(issuePath(issue))).toEqual([]);
  const [told] = await notesAt(issuePath(said));
  expect(told).toMatchObject({ system: true, author: { username: developer.username } });
});

test.each(readersBySettings)('with %j a mention elsewhere is for %j alone', async (settings, names) => {
  const world = await makeReaderWorld(ashlar, settings);
  const { project, mergeRequest } = world;
  const open = await makeReviewedProject(ashlar, { visibility: 'public' });
  const issue = await makeIssue(ashlar, open);
  const path = issuePath(issue);
  const body = { body: `See ${open.path_with_namespace}#${issue.iid}` };
  bodyOf(
    await ashlar.root(`POST /projects/${project.id}/merge_requests/${mergeRequest.iid}/notes`, { body }),
    201,
  );
  await waitForFollowing(ashlar);
  const [note] = await notesAt(path);
  const [thread] = bodyOf(await ashlar.root(`GET ${path}/discussions`), 200);
  await world.configure();
  const single = `GET ${path}/notes/${note?.id}`;
  const ofThread = `GET ${path}/discussions/${thread.id}`;
  const sees = async (user: MadeUser): Promise<boolean> => {
    const call = ashlar.as(user.token);
    const list = await call(`GET ${path}/notes`);
    const threads = await call(`GET ${path}/discussions`);
    const answers = [list, threads].map(({ headers, body: listed }) => [
      headers.get('x-total'),
      listed.length,
    ]);
    const found = (await call(single)).status === 200;
    expect(answers).toEqual(
      found
        ? [
            ['1', 1],
            ['1', 1],
          ]
        : [
            ['0', 0],
            ['0', 0],
          ],
    );
    const award = await call(`GET ${path}/notes/${note?.id}/award_emoji`);
    expect(award.body.message).toBe(found ? '404 Award Emoji Not Found' : '404 Note Not Found');
    for (const request of [ofThread, `${ofThread}/notes/${note?.id}`, `${ofThread}/notes`])
      expect((await call(request)).status).toBe(found ? 200 : 404);
    return found;
  };
  expect(await readersWho(world, sees)).toEqual(names);
});

test('pushed commits tell it in the project and elsewhere, to those who read the code', async () => {
  const project = await makeReviewedProject(ashlar, { visibility: 'public' });
  const open = await makeReviewedProject(ashlar, { visibility: 'public' });
  const [issue, elsewhere] = [await makeIssue(ashlar, project), await makeIssue(ashlar, open)];
  const message = `Change\n\nSee #${issue.iid} and ${open.path_with_namespace}#${elsewhere.iid}`;
  const sha = await commitTo(ashlar, project.id, 'topic', { 'b.txt': 'b\n' }, { message });
  await waitForFollowing(ashlar);
  // The commit is in another branch too, which tells nothing new.
  const body = { branch: 'copy', ref: 'topic' };
  bodyOf(await ashlar.root(`POST /projects/${project.id}/repository/branches`, { body }), 201);
  await waitForFollowing(ashlar);
  expect(await mentionsAt(issuePath(issue))).toEqual([`mentioned in commit ${sha}`]);
  const full = `mentioned in commit ${project.path_with_namespace}@${sha}`;
  expect(await mentionsAt(issuePath(elsewhere))).toEqual([full]);
  const settings = { repository_access_level: 'private' };
  bodyOf(await ashlar.root(`PUT /projects/${project.id}`, { body: settings }), 200);
  const stranger = ashlar.as((await makeUser(ashlar)).token);
  expect(await mentionsAt(issuePath(elsewhere), stranger)).toEqual([]);
  expect(await mentionsAt(issuePath(elsewhere))).toEqual([full]);
});

test('a moved issue keeps what it was mentioned in, and a deleted merge request takes its mentions along', async () => {
  const project = await makeReviewedProject(ashlar);
  const to = await makeReviewedProject(ashlar);
  const [moved, stays] = [await makeIssue(ashlar, project), await makeIssue(ashlar, project)];
  const description = `#${moved.iid} #${stays.iid}`;
  const made = await makeMergeRequest(ashlar, project.id, 'topic', { description });
  await waitForFollowing(ashlar);
  const move = { body: { to_project_id: to.id } };
  const copy = bodyOf(await ashlar.root(`POST ${issuePath(moved)}/move`, move), 201);
  expect(await mentionsAt(issuePath(copy))).toEqual([`mentioned in merge request ${made.references.full}`]);
  bodyOf(await ashlar.root(`DELETE /projects/${project.id}/merge_requests/${made.iid}`), 204);
  expect(await mentionsAt(issuePath(stays))).toEqual([]);
});

test('who edits a title tells what the title names, and not what others wrote in the description', async () => {
  const project = await makeReviewedProject(ashlar, { visibility: 'public' });
  const closed = await makeReviewedProject(ashlar, { visibility: 'private' });
  const { developer } = await makeMembers(ashlar, `projects/${project.id}`, 'developer');
  const [hidden, titled] = [await makeIssue(ashlar, closed), await makeIssue(ashlar, closed)];
  const full = ({ iid }: { iid: number }) => `${closed.path_with_namespace}#${iid}`;
  const message = `Change\n\nSee ${full(hidden)}`;
  const call = ashlar.as(developer.token);
  await commitTo({ root: call }, project.id, 'topic', { 'b.txt': 'b\n' }, { message });
  const body = {
    title: 'Topic',
    description: full(hidden),
    source_branch: 'topic',
    target_branch: 'main',
  };
  const made = bodyOf(await call(`POST /projects/${project.id}/merge_requests`, { body }), 201);
  const issue = bodyOf(
    await call(`POST /projects/${project.id}/issues`, {
      body: { title: 'Issue', description: full(hidden) },
    }),
    201,
  );
  await waitForFollowing(ashlar);
  const title = { title: `Not ${full(titled)}`, state_event: 'close' };
  bodyOf(await ashlar.root(`PUT /projects/${project.id}/merge_requests/${made.iid}`, { body: title }), 200);
  bodyOf(await ashlar.root(`PUT ${issuePath(issue)}`, { body: title }), 200);
  await waitForFollowing(ashlar);
  expect(await mentionsAt(issuePath(hidden))).toEqual([]);
  expect((await mentionsAt(issuePath(titled))).toSorted()).toEqual([
    `mentioned in issue ${issue.references.full}`,
    `mentioned in merge request ${made.references.full}`,
  ]);
});
