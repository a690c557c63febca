/** Issues that merge requests and commits close. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers, makeUser } from '../../../../test/support/factories.ts';
import { insertIssue, type MadeIssue } from '../../../../test/support/issues.ts';
import {
  commitTo,
  makeMergeRequest,
  makeReviewedProject,
  waitForFollowing,
} from '../../../../test/support/merge-requests.ts';

const ashlar = useApp();

const issueIn = (projectId: number, given: Record<string, unknown> = {}): Promise<MadeIssue> =>
  insertIssue(ashlar, { project_id: projectId, author_id: 1, ...given });

/** The ids of the issues that the merge request will close. */
async function closingOf({ id }: { id: number }): Promise<number[]> {
  const rows = await ashlar.app.services.database.db
    .selectFrom('merge_request_closing_issues')
    .select('issue_id')
    .where('merge_request_id', '=', id)
    .orderBy('issue_id')
    .execute();
  return rows.map(({ issue_id }) => issue_id);
}

const pathOf = ({ project_id, iid }: { project_id: number; iid: number }) =>
  `/projects/${project_id}/merge_requests/${iid}`;
const issuePath = ({ project_id, iid }: MadeIssue) => `/projects/${project_id}/issues/${iid}`;

const stateOf = async (issue: MadeIssue) => bodyOf(await ashlar.root(`GET ${issuePath(issue)}`), 200).state;

const closedNotes = async (issue: MadeIssue, call = ashlar.root): Promise<string[]> =>
  bodyOf(await call(`GET ${issuePath(issue)}/notes`), 200)
    .map(({ body }: { body: string }) => body)
    .filter((body: string) => body.startsWith('closed'));

/** Merges, and waits until what follows is done. */
async function merge(mergeRequest: { project_id: number; iid: number }, call = ashlar.root): Promise<void> {
  const merged = bodyOf(await call(`PUT ${pathOf(mergeRequest)}/merge`), 200);
  expect(merged.state).toBe('merged');
  await waitForFollowing(ashlar);
}

test('texts and commits say what is closed, and changes say it anew', async () => {
  const { id } = await makeReviewedProject(ashlar);
  const [one, two, three] = [await issueIn(id), await issueIn(id), await issueIn(id)];
  await commitTo(ashlar, id, 'topic', { 'b.txt': 'b\n' }, { message: 'Change\n\nFixes #3' });
  const body = { title: 'Closes #1', source_branch: 'topic', target_branch: 'main', description: 'Fix #99' };
  const made = bodyOf(await ashlar.root(`POST /projects/${id}/merge_requests`, { body }), 201);
  expect(await closingOf(made)).toEqual([one.id, three.id]);
  const put = async (changes: Record<string, unknown>) =>
    bodyOf(await ashlar.root(`PUT ${pathOf(made)}`, { body: changes }), 200);
  await put({ title: 'Nothing', description: 'Resolves #2' });
  expect(await closingOf(made)).toEqual([two.id, three.id]);
  await put({ labels: 'bug' });
  expect(await closingOf(made)).toEqual([two.id, three.id]);
  await commitTo(ashlar, id, 'stable', { 'c.txt': 'c\n' });
  await put({ target_branch: 'stable' });
  expect(await closingOf(made)).toEqual([]);
  await put({ target_branch: 'main' });
  expect(await closingOf(made)).toEqual([two.id, three.id]);
  await commitTo(ashlar, id, 'topic', { 'b.txt': 'more\n' }, { message: 'More\n\nCloses #1' });
  await waitForFollowing(ashlar);
  expect(await closingOf(made)).toEqual([one.id, two.id, three.id]);
});

test('a merge closes issues once, in the name of who merged', async () => {
  const { id } = await makeReviewedProject(ashlar);
  const { maintainer } = await makeMembers(ashlar, `projects/${id}`, 'maintainer');
  const [issue, closed] = [await issueIn(id), await issueIn(id)];
  bodyOf(await ashlar.root(`PUT ${issuePath(closed)}`, { body: { state_event: 'close' } }), 200);
  const made = await makeMergeRequest(ashlar, id, 'topic', { description: 'Closes #1 and #2' });
  await merge(made, ashlar.as(maintainer.token));
  const shown = bodyOf(await ashlar.root(`GET ${issuePath(issue)}`), 200);
  expect(shown).toMatchObject({ state: 'closed', closed_by: { id: maintainer.id } });
  expect(await closedNotes(issue)).toEqual(['closed via merge request !1']);
  expect(await closedNotes(closed)).toEqual(['closed']);
  const [event] = bodyOf(await ashlar.root(`GET ${issuePath(issue)}/resource_state_events`), 200);
  expect(event).toMatchObject({ state: 'closed', source_merge_request_id: made.id, source_commit: null });
  bodyOf(await ashlar.root(`PUT ${issuePath(issue)}`, { body: { state_event: 'reopen' } }), 200);
  await commitTo(ashlar, id, 'main', { 'c.txt': 'c\n' });
  await waitForFollowing(ashlar);
  expect(await stateOf(issue)).toBe('opened');
});

test('what the author does not see, or the merger may not change, stays open', async () => {
  const { id, path_with_namespace } = await makeReviewedProject(ashlar, { visibility: 'public' });
  const hidden = await makeReviewedProject(ashlar);
  const open = await makeReviewedProject(ashlar, { visibility: 'public' });
  const { developer } = await makeMembers(ashlar, `projects/${id}`, 'developer');
  const [secret, foreign] = [await issueIn(hidden.id), await issueIn(open.id)];
  const confidential = await issueIn(open.id, { confidential: true });
  const description = [
    `Closes ${hidden.path_with_namespace}#1`,
    `Closes ${open.path_with_namespace}#1 ${open.path_with_namespace}#2`,
  ].join('\n');
  const call = ashlar.as(developer.token);
  await commitTo(ashlar, id, 'topic', { 'b.txt': 'b\n' });
  const body = { title: 'Topic', description, source_branch: 'topic', target_branch: 'main' };
  const made = bodyOf(await call(`POST /projects/${id}/merge_requests`, { body }), 201);
  expect(await closingOf(made)).toEqual([foreign.id]);
  const { maintainer } = await makeMembers(ashlar, `projects/${id}`, 'maintainer');
  await merge(made, ashlar.as(maintainer.token));
  expect(await Promise.all([secret, foreign, confidential].map(stateOf))).toEqual([
    'opened',
    'opened',
    'opened',
  ]);
  // One who may change both closes it, with a reference that only its readers see.
  const next = await makeMergeRequest(ashlar, id, 'next', { description });
  await merge(next);
  expect(await Promise.all([secret, foreign].map(stateOf))).toEqual(['closed', 'closed']);
  expect(await closedNotes(foreign)).toEqual([`closed via merge request ${path_with_namespace}!2`]);
  const stranger = await makeUser(ashlar);
  bodyOf(await ashlar.root(`PUT /projects/${id}`, { body: { visibility: 'private' } }), 200);
  expect(await closedNotes(foreign, ashlar.as(stranger.token))).toEqual([
    'closed via merge request [hidden]',
  ]);
});

test('a project may keep its issues open', async () => {
  const { id } = await makeReviewedProject(ashlar, { autoclose_referenced_issues: false });
  const issue = await issueIn(id);
  await merge(await makeMergeRequest(ashlar, id, 'topic', { description: 'Closes #1' }));
  expect(await stateOf(issue)).toBe('opened');
});

test('commits pushed to the default branch close issues, and those of other branches do not', async () => {
  const { id } = await makeReviewedProject(ashlar);
  const [issue, other] = [await issueIn(id), await issueIn(id)];
  await commitTo(ashlar, id, 'topic', { 'b.txt': 'b\n' }, { message: 'Change\n\nCloses #2' });
  const sha = await commitTo(ashlar, id, 'main', { 'c.txt': 'c\n' }, { message: 'Change\n\nCloses #1' });
  await waitForFollowing(ashlar);
  expect(await closedNotes(issue)).toEqual([`closed via commit ${sha}`]);
  const [event] = bodyOf(await ashlar.root(`GET ${issuePath(issue)}/resource_state_events`), 200);
  expect(event).toMatchObject({ source_commit: sha, source_merge_request_id: null });
  expect(await stateOf(other)).toBe('opened');
});
