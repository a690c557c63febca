/** An independent JavaScript client, @gitbeaker/rest, over repositories, snippets, wikis and storage moves. */
import { expect, test } from 'vitest';
import { ids, refusal, soon, useGitbeaker } from './gitbeaker-client.ts';

const gitbeaker = useGitbeaker();

const makeProject = (path: string) => gitbeaker.root.Projects.create({ name: path, path });

test('files, commits, branches and tags', async () => {
  const { root } = gitbeaker;
  const { id } = await makeProject('beaker');
  const path = 'docs/read me.md';
  expect(await root.RepositoryFiles.create(id, path, 'main', '# One\n', 'Begin')).toEqual({
    file_path: path,
    branch: 'main',
  });
  expect(await root.Projects.show(id)).toMatchObject({ empty_repo: false, default_branch: 'main' });
  const file = await root.RepositoryFiles.show(id, path, 'main');
  expect(file).toMatchObject({
    file_name: 'read me.md',
    file_path: path,
    size: 6,
    encoding: 'base64',
    ref: 'main',
  });
  expect(Buffer.from(file.content, 'base64').toString()).toBe('# One\n');
  await root.RepositoryFiles.edit(id, path, 'main', '# Two\n', 'Change');
  const raw = await root.RepositoryFiles.showRaw(id, path, 'main');
  expect(typeof raw === 'string' ? raw : await raw.text()).toBe('# Two\n');
  const commit = await root.Commits.create(
    id,
    'topic',
    'Two at once\n\nWith a body.\n\nChangelog: added',
    [
      { action: 'create', filePath: 'a.ts', content: 'export const a = 1;\n' },
      { action: 'delete', filePath: path },
    ],
    { startBranch: 'main' },
  );
  expect(commit).toMatchObject({ title: 'Two at once', stats: { additions: 1, deletions: 1, total: 2 } });
  expect((await root.Commits.all(id, { refName: 'main' })).map(({ title }) => title)).toEqual([
    'Change',
    'Begin',
  ]);
  expect(await root.Commits.show(id, 'topic')).toMatchObject({ id: commit.id });
  expect((await root.Commits.showDiff(id, commit.id)).map(({ new_path }) => new_path).sort()).toEqual([
    'a.ts',
    path,
  ]);
  expect(await root.Commits.allReferences(id, commit.id)).toEqual([{ type: 'branch', name: 'topic' }]);
  await root.Commits.createComment(id, commit.id, 'Fine');
  expect(await root.Commits.allComments(id, commit.id)).toMatchObject([{ note: 'Fine' }]);
  await root.Commits.editStatus(id, commit.id, 'success', { name: 'build' });
  expect(await root.Commits.allStatuses(id, commit.id)).toMatchObject([{ name: 'build', status: 'success' }]);
  expect(await root.Commits.showSequence(id, commit.id)).toMatchObject({ count: 3 });
  expect(await root.Repositories.compare(id, 'main', 'topic')).toMatchObject({
    commits: [{ title: 'Two at once' }],
    compare_same_ref: false,
  });
  expect(await root.Repositories.mergeBase(id, ['main', 'topic'])).toMatchObject({ title: 'Change' });
  expect(
    (await root.Repositories.allRepositoryTrees(id, { ref: 'main', recursive: true })).map(
      (each) => each.path,
    ),
  ).toEqual(['docs', path]);
  expect((await root.Repositories.showArchive(id, { fileType: 'zip' })).size).toBeGreaterThan(100);
  expect(await root.Repositories.allContributors(id)).toMatchObject([{ commits: 2 }]);
  expect(await refusal(root.RepositoryFiles.show(id, 'nothing', 'main'))).toEqual([
    404,
    '404 File Not Found',
  ]);
  expect(await refusal(root.Commits.show(id, 'nothing'))).toEqual([404, '404 Commit Not Found']);

  expect(await root.Branches.create(id, 'feature/x', 'main')).toMatchObject({
    name: 'feature/x',
    merged: false,
  });
  expect((await root.Branches.all(id, { search: '^feature' })).map(({ name }) => name)).toEqual([
    'feature/x',
  ]);
  await root.Branches.remove(id, 'feature/x');
  expect((await refusal(root.Branches.show(id, 'feature/x')))[0]).toBe(404);
  expect(await root.Tags.create(id, 'v1', 'main', { message: 'First' })).toMatchObject({
    name: 'v1',
    message: 'First',
  });
  expect((await root.Tags.all(id)).map(({ name }) => name)).toEqual(['v1']);
  await root.Tags.remove(id, 'v1');
  expect(await root.ProtectedBranches.all(id)).toMatchObject([{ name: 'main', allow_force_push: false }]);
  await root.ProtectedBranches.protect(id, 'stable', { pushAccessLevel: 0 });
  expect(await root.ProtectedBranches.show(id, 'stable')).toMatchObject({
    push_access_levels: [{ access_level: 0 }],
  });
  await root.ProtectedBranches.unprotect(id, 'stable');
});

test('releases and their links', async () => {
  const { root } = gitbeaker;
  const { id } = await makeProject('beaker-releases');
  await root.RepositoryFiles.create(id, 'a.txt', 'main', 'a', 'Begin');
  const link = { name: 'Program', url: 'https://example.com/program', filepath: '/bin/program' };
  const made = await root.ProjectReleases.create(id, {
    name: 'First',
    tagName: 'v1/a',
    ref: 'main',
    description: '# One',
    assets: { links: [link] },
  });
  expect(made).toMatchObject({ name: 'First', tag_name: 'v1/a', assets: { count: 5 } });
  expect((await root.ProjectReleases.all(id)).map(({ tag_name }) => tag_name)).toEqual(['v1/a']);
  expect(await root.ProjectReleases.show(id, 'v1/a')).toMatchObject({ commit: { title: 'Begin' } });
  expect(await root.ProjectReleases.showLatest(id)).toMatchObject({ tag_name: 'v1/a' });
  expect(await root.ProjectReleases.edit(id, 'v1/a', { name: 'Second' })).toMatchObject({ name: 'Second' });
  const [program] = await root.ReleaseLinks.all(id, 'v1/a');
  expect(program).toMatchObject({ name: 'Program' });
  const other = await root.ReleaseLinks.create(id, 'v1/a', 'Other', 'https://example.com/other');
  expect(await root.ReleaseLinks.edit(id, 'v1/a', other.id, { name: 'Another' })).toMatchObject({
    name: 'Another',
  });
  await root.ReleaseLinks.remove(id, 'v1/a', other.id);
  expect((await refusal(root.ReleaseLinks.show(id, 'v1/a', other.id)))[0]).toBe(404);
  await root.ProjectReleases.createEvidence(id, 'v1/a');
  expect((await root.ProjectReleases.show(id, 'v1/a')).evidences).toHaveLength(2);
  await root.ProjectReleases.remove(id, 'v1/a');
  expect((await refusal(root.ProjectReleases.show(id, 'v1/a')))[0]).toBe(404);
});

test('snippets and wikis', async () => {
  const { root } = gitbeaker;
  const snippet = await root.Snippets.create('Mine', {
    visibility: 'private',
    files: [{ content: 'one', filePath: 'one.txt' }],
  });
  expect(snippet).toMatchObject({ title: 'Mine', files: [{ path: 'one.txt' }] });
  expect(ids(await root.Snippets.all())).toEqual([snippet.id]);
  await root.Snippets.remove(snippet.id);
  const { id } = await makeProject('beaker-wiki');
  expect(await root.ProjectWikis.create(id, 'Hello', 'First page')).toMatchObject({ slug: 'First-page' });
  expect(await root.ProjectWikis.edit(id, 'First-page', { content: 'Again' })).toMatchObject({
    content: 'Again',
  });
  expect(await root.ProjectWikis.all(id)).toMatchObject([{ slug: 'First-page' }]);
  const attachment = { content: new Blob(['x']), filename: 'x.txt' };
  expect(await root.ProjectWikis.uploadAttachment(id, attachment)).toMatchObject({ file_name: 'x.txt' });
  await root.ProjectWikis.remove(id, 'First-page');
  const { id: snippetId } = await root.ProjectSnippets.create(id, 'Inside', {
    visibility: 'private',
    files: [{ content: 'two', filePath: 'two.txt' }],
  });
  expect(ids(await root.ProjectSnippets.all(id))).toEqual([snippetId]);
});

test('storage moves', async () => {
  const { root } = gitbeaker;
  const { id } = await makeProject('beaker-moves');
  await root.RepositoryFiles.create(id, 'a', 'main', 'a', 'A');
  expect((await refusal(root.ProjectRepositoryStorageMoves.schedule('nowhere')))[0]).toBe(400);
  expect(await root.ProjectRepositoryStorageMoves.schedule('default')).toMatchObject({
    message: '202 Accepted',
  });
  await expect.poll(async () => (await root.RepositoryFiles.show(id, 'a', 'main')).size, soon).toBe(1);
});
