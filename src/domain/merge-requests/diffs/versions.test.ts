/** Versions and commits of merge requests over HTTP: of branches that grow, are rewritten, and go. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf } from '../../../../test/support/factories.ts';
import { gitIn, importCommit, openBetween } from '../../../../test/support/git-histories.ts';
import { makeReviewedProject } from '../../../../test/support/merge-requests.ts';
import { refresh } from '../following/refresh.ts';

const ashlar = useApp();

/** Looks what became of the branches of the project's merge request, as after a push. */
async function follow(projectId: number): Promise<void> {
  const { services } = ashlar.app;
  const row = await services.database.db
    .selectFrom('merge_requests')
    .selectAll()
    .where('project_id', '=', projectId)
    .executeTakeFirstOrThrow();
  const project = { id: projectId, row: { default_branch: 'main' } } as Parameters<typeof refresh>[1];
  await refresh(services, project, row);
}

const messages = (commits: readonly { title: string }[]): string[] => commits.map(({ title }) => title);

test('an old version stays, though its branch was rewritten and is gone', async () => {
  const { id } = await makeReviewedProject(ashlar);
  const base = (await gitIn(ashlar, id, ['rev-parse', 'main'])).trim();
  const start = await importCommit(ashlar, id, 'main', [{ path: 'c', text: 'c' }], { from: base });
  const commit = (message: string, from: string, time: number) =>
    importCommit(ashlar, id, 'topic', [{ path: 'b', text: `${message}\n` }], { from, message, time });
  const one = await commit('One', base, 1_700_000_001);
  const two = await commit('Two', one, 1_700_000_002);
  const { id: mergeRequestId } = await openBetween(ashlar, id, 'topic');
  const other = await commit('Other', base, 1_700_000_003);
  await follow(id);
  await gitIn(ashlar, id, ['branch', '-D', 'topic']);
  // The target was rewritten too: nothing leads to where the source began.
  await importCommit(ashlar, id, 'main', [{ path: 'a', text: 'a' }]);
  await gitIn(ashlar, id, ['-c', 'gc.pruneExpire=now', 'gc', '--quiet']);
  expect(await gitIn(ashlar, id, ['cat-file', '--batch-check'], `${start}\n`)).toBe(`${start} missing\n`);
  const path = `/projects/${id}/merge_requests/1`;
  const versions = bodyOf(await ashlar.root(`GET ${path}/versions`), 200);
  const common = { base_commit_sha: base, start_commit_sha: start, merge_request_id: mergeRequestId };
  const sizes = { state: 'collected', real_size: '1', patch_id_sha: null };
  expect(versions).toMatchObject([
    { ...common, ...sizes, head_commit_sha: other },
    { ...common, ...sizes, head_commit_sha: two },
  ]);
  const shown = bodyOf(await ashlar.root(`GET ${path}/versions/${versions[1].id}`), 200);
  expect(shown).toMatchObject(versions[1]);
  expect(messages(shown.commits)).toEqual(['Two', 'One']);
  expect(shown.commits[0]).toMatchObject({ id: two, parent_ids: [one], author_email: 'ada@example.com' });
  expect(shown.diffs).toMatchObject([{ new_path: 'b', new_file: true, diff: '@@ -0,0 +1 @@\n+Two\n' }]);
  const unidiff = bodyOf(
    await ashlar.root(`GET ${path}/versions/${versions[1].id}`, { query: 'unidiff=1' }),
    200,
  );
  expect(unidiff.diffs[0].diff).toBe('--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+Two\n');
  const latest = bodyOf(await ashlar.root(`GET ${path}/diffs`), 200);
  expect(latest).toMatchObject([{ diff: '@@ -0,0 +1 @@\n+Other\n' }]);
  expect(messages(bodyOf(await ashlar.root(`GET ${path}/commits`), 200))).toEqual(['Other']);
  expect((await ashlar.root(`GET ${path}/versions/999999`)).status).toBe(404);
});

test('hundreds of commits come with their versions, all and in order, or are too long together', async () => {
  const { id } = await makeReviewedProject(ashlar);
  const begin = (await gitIn(ashlar, id, ['rev-parse', 'main'])).trim();
  const grow = async (count: number, from: string, body = '') => {
    const stream = Array.from({ length: count }, (_, at) => {
      const message = `Commit ${at}\n\n${body}`;
      const parent = at === 0 ? `from ${from}\n` : '';
      return `commit refs/heads/topic\ncommitter A <a@example.com> ${1_700_000_000 + at} +0000\ndata ${message.length}\n${message}\n${parent}M 100644 inline b\ndata ${`${at}`.length}\n${at}\n`;
    });
    await gitIn(ashlar, id, ['fast-import', '--quiet', '--force'], stream.join(''));
    return (await gitIn(ashlar, id, ['rev-list', `main..topic`])).trim().split('\n');
  };
  const ids = (commits: readonly { id: string }[]): string[] => commits.map((commit) => commit.id);
  const first = await grow(450, begin);
  await openBetween(ashlar, id, 'topic');
  const path = `/projects/${id}/merge_requests/1/versions`;
  const versions = async () => bodyOf(await ashlar.root(`GET ${path}`), 200);
  const [one] = await versions();
  expect(ids(bodyOf(await ashlar.root(`GET ${path}/${one.id}`), 200).commits)).toEqual(first);
  const second = await grow(201, first[400] ?? '');
  await follow(id);
  const [two] = await versions();
  for (const [version, commits] of [[two, second] as const, [one, first] as const])
    expect(ids(bodyOf(await ashlar.root(`GET ${path}/${version.id}`), 200).commits)).toEqual(commits);
  await grow(210, begin, 'x'.repeat(50_000));
  await follow(id);
  const [long] = await versions();
  expect(await ashlar.root(`GET ${path}/${long.id}`)).toMatchObject({
    status: 422,
    body: { message: 'The messages are too long for one answer. Ask for fewer with per_page.' },
  });
});

test('commits are the newest first, by the page, as those of the repository', async () => {
  const { id } = await makeReviewedProject(ashlar);
  let from = 'refs/heads/main^0';
  for (let at = 1; at <= 5; at++)
    from = await importCommit(ashlar, id, 'topic', [{ path: 'b', text: `${at}` }], {
      from,
      message: `Commit ${at}\n\nBody: ${at}`,
      time: 1_700_000_000 + at,
    });
  await openBetween(ashlar, id, 'topic');
  const path = `/projects/${id}/merge_requests/1/commits`;
  const read = (page: number) => ashlar.root(`GET ${path}`, { query: `per_page=2&page=${page}` });
  const pages = await Promise.all([1, 2, 3, 4].map(read));
  expect(pages.map(({ body }) => messages(body))).toEqual([
    ['Commit 5', 'Commit 4'],
    ['Commit 3', 'Commit 2'],
    ['Commit 1'],
    [],
  ]);
  expect(pages.map(({ headers }) => headers.get('x-total'))).toEqual(['5', '5', '5', '5']);
  expect(pages.map(({ headers }) => headers.get('x-next-page'))).toEqual(['2', '3', '', '']);
  const commits = bodyOf(
    await ashlar.root(`GET /projects/${id}/repository/commits`, { query: 'ref_name=topic' }),
    200,
  );
  expect(pages.flatMap(({ body }) => body)).toEqual(commits.slice(0, 5));
});
