/** Notes on what issues name, and who sees them, over HTTP. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../../test/support/app.ts';
import { bodyOf, makeGroup, makeMembers, makeUser } from '../../../../../test/support/factories.ts';
import {
  commitTo,
  makeMergeRequest,
  makeReviewedProject,
  waitForFollowing,
} from '../../../../../test/support/merge-requests.ts';
import { makeIssue } from '../../../../../test/support/planning.ts';

const ashlar = useApp();

type Call = typeof ashlar.root;
const pathOf = ({ project_id, iid }: { project_id: number; iid: number }) =>
  `/projects/${project_id}/issues/${iid}`;
const mentionsAt = async (path: string, call: Call = ashlar.root): Promise<string[]> =>
  bodyOf(await call(`GET ${path}/discussions`), 200)
    .flatMap(({ notes }: { notes: { body: string }[] }) => notes.map(({ body }) => body))
    .filter((body: string) => body.startsWith('mentioned in'));

test('what texts and comments name is told once each, in the project and elsewhere', async () => {
  const group = await makeGroup(ashlar);
  const project = await makeReviewedProject(ashlar, { namespace_id: group.id });
  const other = await makeReviewedProject(ashlar);
  const [titled, described, commented, edited] = [
    await makeIssue(ashlar, project),
    await makeIssue(ashlar, project),
    await makeIssue(ashlar, project),
    await makeIssue(ashlar, project),
  ];
  const elsewhere = await makeIssue(ashlar, other);
  const epic = bodyOf(await ashlar.root(`POST /groups/${group.id}/epics`, { body: { title: 'Epic' } }), 201);
  const merge = await makeMergeRequest(ashlar, project.id, 'topic');
  const sha = await commitTo(ashlar, project.id, 'main', { 'c.txt': 'c\n' }, { message: 'Named' });
  const made = await makeIssue(ashlar, project, {
    title: `After #${titled.iid}`,
    description: [
      `#${described.iid} and #${described.iid}, ${other.path_with_namespace}#${elsewhere.iid}`,
      `&${epic.iid}, !${merge.iid}, ${sha}, #99, \`#${edited.iid}\``,
    ].join('\n'),
  });
  const path = pathOf(made);
  const body = `As #${commented.iid} and #${titled.iid} and #${made.iid}`;
  const note = bodyOf(await ashlar.root(`POST ${path}/notes`, { body: { body } }), 201);
  await waitForFollowing(ashlar);
  const short = `mentioned in issue #${made.iid}`;
  const full = `mentioned in issue ${project.path_with_namespace}#${made.iid}`;
  for (const issue of [titled, described, commented])
    expect(await mentionsAt(pathOf(issue))).toEqual([short]);
  expect(await mentionsAt(pathOf(edited))).toEqual([]);
  expect(await mentionsAt(pathOf(elsewhere))).toEqual([full]);
  expect(await mentionsAt(`/groups/${group.id}/epics/${epic.id}`)).toEqual([full]);
  expect(await mentionsAt(`/projects/${project.id}/merge_requests/${merge.iid}`)).toEqual([short]);
  expect(await mentionsAt(`/projects/${project.id}/repository/commits/${sha}`)).toEqual([short]);
  expect(await mentionsAt(path)).toEqual([]);

  const change = { body: `#${commented.iid} #${edited.iid}` };
  bodyOf(await ashlar.root(`PUT ${path}/notes/${note.id}`, { body: change }), 200);
  bodyOf(await ashlar.root(`PUT ${path}`, { body: { description: `#${commented.iid}` } }), 200);
  await waitForFollowing(ashlar);
  for (const issue of [commented, edited]) expect(await mentionsAt(pathOf(issue))).toEqual([short]);
  expect(bodyOf(await ashlar.root(`GET ${pathOf(edited)}`), 200).user_notes_count).toBe(0);
  bodyOf(await ashlar.root(`DELETE ${path}`), 204);
  expect(await mentionsAt(pathOf(edited))).toEqual([]);
});

test('a mention in a confidential issue is for those who read that', async () => {
  const project = await makeReviewedProject(ashlar, { visibility: 'public' });
  const { guest, reporter } = await makeMembers(ashlar, `projects/${project.id}`, 'guest', 'reporter');
  const [stranger, assignee] = [await makeUser(ashlar), guest];
  const named = await makeIssue(ashlar, project);
  const secret = await makeIssue(ashlar, project, { confidential: true, description: `#${named.iid}` });
  await waitForFollowing(ashlar);
  const told = [`mentioned in issue #${secret.iid}`];
  const seenBy = (user: { token: string }) => mentionsAt(pathOf(named), ashlar.as(user.token));
  expect([await seenBy(stranger), await seenBy(guest), await seenBy(reporter)]).toEqual([[], [], told]);
  expect(await mentionsAt(pathOf(named), ashlar.call)).toEqual([]);
  bodyOf(await ashlar.root(`PUT ${pathOf(secret)}`, { body: { assignee_ids: [assignee.id] } }), 200);
  expect(await seenBy(assignee)).toEqual(told);
  bodyOf(await ashlar.root(`PUT ${pathOf(secret)}`, { body: { confidential: false } }), 200);
  expect(await seenBy(stranger)).toEqual(told);
  bodyOf(await ashlar.root(`PUT /projects/${project.id}`, { body: { issues_access_level: 'private' } }), 200);
  expect((await ashlar.as(stranger.token)(`GET ${pathOf(named)}/discussions`)).status).toBe(403);
});

test('nothing is told by internal comments, nor where the writer could not comment', async () => {
  const project = await makeReviewedProject(ashlar, { visibility: 'public' });
  const closed = await makeReviewedProject(ashlar, { visibility: 'private' });
  const { developer } = await makeMembers(ashlar, `projects/${project.id}`, 'developer');
  const [from, whispered] = [await makeIssue(ashlar, project), await makeIssue(ashlar, project)];
  const hidden = await makeIssue(ashlar, closed);
  const locked = await makeIssue(ashlar, project);
  bodyOf(await ashlar.root(`PUT ${pathOf(locked)}`, { body: { discussion_locked: true } }), 200);
  const outsider = await makeUser(ashlar);
  const note = (call: Call, body: object) => call(`POST ${pathOf(from)}/notes`, { body });
  bodyOf(await note(ashlar.root, { body: `#${whispered.iid}`, internal: true }), 201);
  bodyOf(
    await note(ashlar.as(developer.token), { body: `${closed.path_with_namespace}#${hidden.iid}` }),
    201,
  );
  bodyOf(await note(ashlar.as(outsider.token), { body: `#${locked.iid}` }), 201);
  await waitForFollowing(ashlar);
  for (const issue of [whispered, hidden, locked]) expect(await mentionsAt(pathOf(issue))).toEqual([]);
});

test('a moved issue keeps what it was mentioned in', async () => {
  const project = await makeReviewedProject(ashlar);
  const to = await makeReviewedProject(ashlar);
  const moved = await makeIssue(ashlar, project);
  const made = await makeIssue(ashlar, project, { description: `#${moved.iid}` });
  await waitForFollowing(ashlar);
  const copy = bodyOf(
    await ashlar.root(`POST ${pathOf(moved)}/move`, { body: { to_project_id: to.id } }),
    201,
  );
  const full = `${project.path_with_namespace}#${made.iid}`;
  expect(await mentionsAt(pathOf(copy))).toEqual([`mentioned in issue ${full}`]);
});
