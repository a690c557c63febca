/** What the record of a merge request has only where the request names it. */
import { beforeAll, expect, test } from 'vitest';
import { type Called, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeProject, makeUser } from '../../../../test/support/factories.ts';
import { commitTo, makeMergeRequest, makeReviewedProject } from '../../../../test/support/merge-requests.ts';

const ashlar = useApp();
let path: string;
let hidden: { path_with_namespace: string };
let projectId: number;

beforeAll(async () => {
  const project = await makeReviewedProject(ashlar, { visibility: 'public' });
  projectId = project.id;
  hidden = await makeProject(ashlar);
  const of = `/projects/${encodeURIComponent(hidden.path_with_namespace)}/issues`;
  bodyOf(await ashlar.root(`POST ${of}`, { body: { title: 'Secret' } }), 201);
  await makeMergeRequest(ashlar, project.id, 'topic', {
    title: `*Fix* <b> !1 & ${hidden.path_with_namespace}#1`,
    description: 'See **!1**',
  });
  path = `/projects/${project.id}/merge_requests/1`;
});

const read = async (query: string, call = ashlar.root): Promise<Called['body']> =>
  bodyOf(await call(`GET ${path}`, { query }), 200);

test('the texts as HTML, as the reader sees them', async () => {
  const record = await read('render_html=true');
  expect(record.description_html).toMatch(/^<p[^>]*>See <strong><a [^>]*>!1<\/a><\/strong><\/p>/);
  expect(record.title_html).toMatch(/^\*Fix\* &lt;b&gt; <a [^>]*>!1<\/a> &amp; <a [^>]*>.*#1<\/a>$/);
  const { token } = await makeUser(ashlar);
  const other = await read('render_html=true', ashlar.as(token));
  expect(other.title_html).toMatch(/<a [^>]*>!1<\/a> &amp; /);
  expect(other.title_html.endsWith(`&amp; ${hidden.path_with_namespace}#1`)).toBe(true);
  expect(JSON.stringify(other)).not.toContain('Secret');
});

test('how far the target branch has gone on', async () => {
  const count = async () => (await read('include_diverged_commits_count=true')).diverged_commits_count;
  expect(await count()).toBe(0);
  await commitTo(ashlar, projectId, 'main', { 'a.txt': 'two\n' });
  await commitTo(ashlar, projectId, 'main', { 'a.txt': 'three\n' });
  expect(await count()).toBe(2);
});

test('nothing of it where it is not named', async () => {
  const record = await read('include_rebase_in_progress=true');
  expect(record.rebase_in_progress).toBe(false);
  const plain = await read('');
  for (const name of ['title_html', 'description_html', 'diverged_commits_count', 'rebase_in_progress'])
    expect(plain).not.toHaveProperty(name);
});

test('whether it is the first of its author, which is so until another one is merged', async () => {
  const { id } = await makeReviewedProject(ashlar);
  const isFirst = async (iid: number): Promise<boolean> =>
    bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/${iid}`), 200).first_contribution;
  for (const branch of ['one', 'two', 'three']) await makeMergeRequest(ashlar, id, branch);
  expect([await isFirst(1), await isFirst(2)]).toEqual([true, true]);
  bodyOf(await ashlar.root(`PUT /projects/${id}/merge_requests/2/merge`), 200);
  expect([await isFirst(1), await isFirst(2), await isFirst(3)]).toEqual([false, true, false]);
  bodyOf(await ashlar.root(`PUT /projects/${id}/merge_requests/1/merge`), 200);
  expect([await isFirst(1), await isFirst(2)]).toEqual([false, true]);
});
