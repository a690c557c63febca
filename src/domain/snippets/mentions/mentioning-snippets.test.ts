/** Notes on what snippets of projects name, and who sees them, over HTTP. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers, makeUser } from '../../../../test/support/factories.ts';
import {
  makeMergeRequest,
  makeReviewedProject,
  waitForFollowing,
} from '../../../../test/support/merge-requests.ts';
import { makeIssue } from '../../../../test/support/planning.ts';

const ashlar = useApp();

type Call = typeof ashlar.root;
const issuePath = ({ project_id, iid }: { project_id: number; iid: number }) =>
  `/projects/${project_id}/issues/${iid}`;
const mentionsAt = async (path: string, call: Call = ashlar.root): Promise<string[]> =>
  bodyOf(await call(`GET ${path}/notes`), 200)
    .map(({ body }: { body: string }) => body)
    .filter((body: string) => body.startsWith('mentioned in'));
const files = [{ file_path: 'a.txt', content: 'a' }];
const makeSnippet = async (project: { id: number }, body: object): Promise<{ id: number }> => {
  const snippet = { title: 'Snippet', visibility: 'public', files, ...body };
  return bodyOf(await ashlar.root(`POST /projects/${project.id}/snippets`, { body: snippet }), 201);
};

test('what texts and comments of a snippet name is told once each', async () => {
  const project = await makeReviewedProject(ashlar);
  const other = await makeReviewedProject(ashlar);
  const [titled, commented, edited] = [
    await makeIssue(ashlar, project),
    await makeIssue(ashlar, project),
    await makeIssue(ashlar, project),
  ];
  const elsewhere = await makeIssue(ashlar, other);
  const merge = await makeMergeRequest(ashlar, project.id, 'topic');
  const { id } = await makeSnippet(project, {
    title: `After #${titled.iid}`,
    description: `!${merge.iid}, ${other.path_with_namespace}#${elsewhere.iid}`,
  });
  const path = `/projects/${project.id}/snippets/${id}`;
  const body = { body: `As #${commented.iid} and #${titled.iid}` };
  bodyOf(await ashlar.root(`POST ${path}/notes`, { body }), 201);
  await waitForFollowing(ashlar);
  const short = `mentioned in snippet $${id}`;
  for (const issue of [titled, commented]) expect(await mentionsAt(issuePath(issue))).toEqual([short]);
  expect(await mentionsAt(issuePath(edited))).toEqual([]);
  expect(await mentionsAt(`/projects/${project.id}/merge_requests/${merge.iid}`)).toEqual([short]);
  const full = `mentioned in snippet ${project.path_with_namespace}$${id}`;
  expect(await mentionsAt(issuePath(elsewhere))).toEqual([full]);

  bodyOf(await ashlar.root(`PUT ${path}`, { body: { description: `#${edited.iid}` } }), 200);
  await waitForFollowing(ashlar);
  for (const issue of [titled, edited]) expect(await mentionsAt(issuePath(issue))).toEqual([short]);
  bodyOf(await ashlar.root(`DELETE ${path}`), 204);
  expect(await mentionsAt(issuePath(edited))).toEqual([]);
});

test('it is for those who read the snippet', async () => {
  const project = await makeReviewedProject(ashlar, { visibility: 'public' });
  const { guest } = await makeMembers(ashlar, `projects/${project.id}`, 'guest');
  const stranger = await makeUser(ashlar);
  const issue = await makeIssue(ashlar, project);
  const { id } = await makeSnippet(project, { description: `#${issue.iid}`, visibility: 'private' });
  const { body: personal } = await ashlar.root('POST /snippets', {
    body: {
      title: `${project.path_with_namespace}#${issue.iid}`,
      visibility: 'public',
      files,
    },
  });
  expect(personal.project_id).toBe(null);
  await waitForFollowing(ashlar);
  const seenBy = (user: { token: string }) => mentionsAt(issuePath(issue), ashlar.as(user.token));
  const told = [`mentioned in snippet $${id}`];
  expect([await seenBy(stranger), await seenBy(guest)]).toEqual([[], told]);
  expect(await mentionsAt(issuePath(issue), ashlar.call)).toEqual([]);
  const path = `/projects/${project.id}`;
  bodyOf(await ashlar.root(`PUT ${path}/snippets/${id}`, { body: { visibility: 'public' } }), 200);
  expect([await seenBy(stranger), await mentionsAt(issuePath(issue), ashlar.call)]).toEqual([told, told]);
  bodyOf(await ashlar.root(`PUT ${path}`, { body: { snippets_access_level: 'private' } }), 200);
  expect([await seenBy(stranger), await seenBy(guest)]).toEqual([[], told]);
});
