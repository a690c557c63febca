/** The issues around a merge request, and its pipelines, over HTTP: who sees which of them. */
import { expect, test } from 'vitest';
import { type Call, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeUser } from '../../../../test/support/factories.ts';
import { commitTo, makeMergeRequest, makeReviewedProject } from '../../../../test/support/merge-requests.ts';
import { makeIssue } from '../../../../test/support/planning.ts';

const ashlar = useApp();

const titles = async (path: string, call: Call = ashlar.root, query = ''): Promise<string[]> =>
  bodyOf(await call(`GET ${path}`, { query }), 200).map(({ title }: { title: string }) => title);

type Made = { id: number };
const close = (mergeRequest: Made, issue: Made) => ashlar.app.services.database.sql`
  insert into merge_request_closing_issues (merge_request_id, issue_id) values (${mergeRequest.id}, ${issue.id})`;

test('those that it closes are shown to who sees them, the oldest first', async () => {
  const project = await makeReviewedProject(ashlar, { visibility: 'public' });
  const elsewhere = await makeReviewedProject(ashlar);
  const made = await makeMergeRequest(ashlar, project.id, 'topic');
  const path = `/projects/${project.id}/merge_requests/1/closes_issues`;
  const issues = [
    await makeIssue(ashlar, project, { title: 'Open' }),
    await makeIssue(ashlar, project, { title: 'Confidential', confidential: true }),
    await makeIssue(ashlar, elsewhere, { title: 'Elsewhere' }),
  ];
  for (const issue of issues.toReversed()) await close(made, issue);
  await makeIssue(ashlar, project, { title: 'Other' });
  expect(await titles(path)).toEqual(['Open', 'Confidential', 'Elsewhere']);
  expect(await titles(path, ashlar.call)).toEqual(['Open']);
  const page = await ashlar.root(`GET ${path}`, { query: 'per_page=1&page=2' });
  expect([page.headers.get('x-total'), page.body[0].title]).toEqual(['3', 'Confidential']);
  expect(page.body[0]).not.toHaveProperty('references');
  expect(await titles(path, ashlar.root, 'page=99')).toEqual([]);
});

test('those that its texts name are related, each once, as are those that it closes', async () => {
  const project = await makeReviewedProject(ashlar, { visibility: 'public' });
  const elsewhere = await makeReviewedProject(ashlar);
  const issue = (title: string, of = project, attributes = {}) =>
    makeIssue(ashlar, of, { title, ...attributes });
  await issue('In the title');
  await issue('In the description', project, { confidential: true });
  await issue('In a comment');
  await issue('In an internal comment');
  await issue('In a commit');
  await issue('In code');
  const closed = await issue('Closed');
  await issue('Elsewhere', elsewhere);
  await issue('Beside', elsewhere);
  await issue('By its address', elsewhere);
  await issue('Unrelated');
  await commitTo(ashlar, project.id, 'topic', { b: 'b' }, { message: 'Change\n\nSee #5 and #99' });
  const beside = elsewhere.path_with_namespace.split('/')[1];
  const made = await makeMergeRequest(ashlar, project.id, 'topic', {
    title: 'Like #1',
    description: `#2 and \`#6\`, #1, ${elsewhere.path_with_namespace}#1, ${beside}#2, ${ashlar.url}/${elsewhere.path_with_namespace}/-/issues/3#note_1`,
  });
  const notes = `POST /projects/${project.id}/merge_requests/1/notes`;
  bodyOf(await ashlar.root(notes, { body: { body: 'And #3' } }), 201);
  bodyOf(await ashlar.root(notes, { body: { body: 'And #4', internal: true } }), 201);
  await close(made, closed);
  const path = `/projects/${project.id}/merge_requests/1/related_issues`;
  const open = ['In the title', 'In a comment', 'In a commit', 'Closed'];
  expect((await titles(path)).toSorted()).toEqual(
    [
      ...open,
      'In the description',
      'In an internal comment',
      'Elsewhere',
      'Beside',
      'By its address',
    ].toSorted(),
  );
  const stranger = await makeUser(ashlar);
  for (const call of [ashlar.call, ashlar.as(stranger.token)]) expect(await titles(path, call)).toEqual(open);
  expect(await titles(path, ashlar.call, 'per_page=2&page=2')).toEqual(['In a commit', 'Closed']);
});
