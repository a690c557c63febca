/** Notes on what epics name, and who sees them, over HTTP. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../../test/support/app.ts';
import { bodyOf, makeGroup, makeMembers, makeUser } from '../../../../../test/support/factories.ts';
import {
  makeMergeRequest,
  makeReviewedProject,
  waitForFollowing,
} from '../../../../../test/support/merge-requests.ts';
import { makeIssue } from '../../../../../test/support/planning.ts';

const ashlar = useApp();

type Call = typeof ashlar.root;
type Epic = { id: number; iid: number };
const issuePath = ({ project_id, iid }: { project_id: number; iid: number }) =>
  `/projects/${project_id}/issues/${iid}`;
const mentionsAt = async (path: string, call: Call = ashlar.root): Promise<string[]> =>
  bodyOf(await call(`GET ${path}/discussions`), 200)
    .flatMap(({ notes }: { notes: { body: string }[] }) => notes.map(({ body }) => body))
    .filter((body: string) => body.startsWith('mentioned in'));
const makeEpic = async (group: { id: number }, body: object, call: Call = ashlar.root): Promise<Epic> =>
  bodyOf(await call(`POST /groups/${group.id}/epics`, { body: { title: 'Epic', ...body } }), 201);

test('what texts and comments of an epic name is told once each, in the group and elsewhere', async () => {
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
  const merge = await makeMergeRequest(ashlar, project.id, 'topic');
  const beside = await makeEpic(group, {});
  const own = (iid: number) => `${project.path_with_namespace.split('/').at(-1)}#${iid}`;
  const full = `${other.path_with_namespace}#${elsewhere.iid}`;
  const made = await makeEpic(group, {
    title: `After ${own(titled.iid)}`,
    description: `${own(described.iid)}, ${full}, &${beside.iid}, ${project.path_with_namespace}!${merge.iid}, #${edited.iid}`,
  });
  const path = `/groups/${group.id}/epics/${made.id}`;
  const body = { body: `As ${own(commented.iid)}, ${own(titled.iid)} and &${made.iid}` };
  bodyOf(await ashlar.root(`POST ${path}/notes`, { body }), 201);
  await waitForFollowing(ashlar);
  const short = `mentioned in epic &${made.iid}`;
  for (const issue of [titled, described, commented])
    expect(await mentionsAt(issuePath(issue))).toEqual([short]);
  expect(await mentionsAt(issuePath(edited))).toEqual([]);
  expect(await mentionsAt(issuePath(elsewhere))).toEqual([
    `mentioned in epic ${group.full_path}&${made.iid}`,
  ]);
  expect(await mentionsAt(`/groups/${group.id}/epics/${beside.id}`)).toEqual([short]);
  expect(await mentionsAt(`/projects/${project.id}/merge_requests/${merge.iid}`)).toEqual([short]);
  expect(await mentionsAt(path)).toEqual([]);

  const change = { description: `${own(described.iid)} ${own(edited.iid)}` };
  bodyOf(await ashlar.root(`PUT /groups/${group.id}/epics/${made.iid}`, { body: change }), 200);
  await waitForFollowing(ashlar);
  for (const issue of [described, edited]) expect(await mentionsAt(issuePath(issue))).toEqual([short]);
  bodyOf(await ashlar.root(`DELETE /groups/${group.id}/epics/${made.iid}`), 204);
  expect(await mentionsAt(issuePath(edited))).toEqual([]);
});

test('a mention in a confidential epic, or in a private group, is for those who read that', async () => {
  const group = await makeGroup(ashlar, { visibility: 'public' });
  const closed = await makeGroup(ashlar, { visibility: 'private' });
  const project = await makeReviewedProject(ashlar, { namespace_id: group.id, visibility: 'public' });
  const { guest, planner } = await makeMembers(ashlar, `groups/${group.id}`, 'guest', 'planner');
  const { guest: insider } = await makeMembers(ashlar, `groups/${closed.id}`, 'guest');
  const stranger = await makeUser(ashlar);
  const [secret, hidden] = [await makeIssue(ashlar, project), await makeIssue(ashlar, project)];
  const reference = (iid: number) => `${project.path_with_namespace}#${iid}`;
  const epic = await makeEpic(group, { confidential: true, description: reference(secret.iid) });
  const far = await makeEpic(closed, { description: reference(hidden.iid) });
  await waitForFollowing(ashlar);
  const seenBy = (issue: typeof secret, user: { token: string }) =>
    mentionsAt(issuePath(issue), ashlar.as(user.token));
  const told = [`mentioned in epic &${epic.iid}`];
  expect([await seenBy(secret, stranger), await seenBy(secret, guest)]).toEqual([[], []]);
  expect(await seenBy(secret, planner)).toEqual(told);
  expect(await mentionsAt(issuePath(secret), ashlar.call)).toEqual([]);
  expect([await seenBy(hidden, stranger), await seenBy(hidden, planner)]).toEqual([[], []]);
  expect(await seenBy(hidden, insider)).toEqual([`mentioned in epic ${closed.full_path}&${far.iid}`]);
  const shown = { confidential: false };
  bodyOf(await ashlar.root(`PUT /groups/${group.id}/epics/${epic.iid}`, { body: shown }), 200);
  expect(await seenBy(secret, stranger)).toEqual(told);
});

test('nothing is told by internal comments, nor where the writer could not comment', async () => {
  const group = await makeGroup(ashlar, { visibility: 'public' });
  const project = await makeReviewedProject(ashlar, { namespace_id: group.id, visibility: 'public' });
  const closed = await makeReviewedProject(ashlar, { visibility: 'private' });
  const { reporter } = await makeMembers(ashlar, `groups/${group.id}`, 'reporter');
  const [whispered, hidden] = [await makeIssue(ashlar, project), await makeIssue(ashlar, closed)];
  const epic = await makeEpic(group, {});
  const note = (call: Call, body: object) =>
    call(`POST /groups/${group.id}/epics/${epic.id}/notes`, { body });
  const named = `${project.path_with_namespace}#${whispered.iid}`;
  bodyOf(await note(ashlar.root, { body: named, internal: true }), 201);
  const body = `${closed.path_with_namespace}#${hidden.iid}`;
  bodyOf(await note(ashlar.as(reporter.token), { body }), 201);
  await makeEpic(group, { description: body }, ashlar.as(reporter.token));
  await waitForFollowing(ashlar);
  for (const issue of [whispered, hidden]) expect(await mentionsAt(issuePath(issue))).toEqual([]);
});
