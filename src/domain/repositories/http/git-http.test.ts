import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers, makeProject, uniqueName } from '../../../../test/support/factories.ts';
import { addressOf, commitFiles, makeHome, mustGit, runGit } from '../../../../test/support/git.ts';
import { fillProject } from '../../../../test/support/repositories.ts';
import { NO_OBJECT } from '../../../platform/git/names.ts';
import { gitText } from '../../../platform/git/program/program.ts';
import { updateRefs } from '../../../platform/git/write.ts';
import { projectRepository } from '../store/containers.ts';

const app = useApp();
const home = makeHome();
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** A new folder below the home. */
const folder = (word = 'work') => join(home, uniqueName(word));

const urlOf = (
  project: { path_with_namespace: string },
  password: string | undefined = ROOT_TOKEN,
  name?: string,
) => addressOf(app.url, project.path_with_namespace, password, name);

async function clone(project: { path_with_namespace: string }, ...options: string[]): Promise<string> {
  const target = folder('clone');
  await mustGit(home, ['clone', '--quiet', ...options, urlOf(project), target]);
  return target;
}

test('an empty project is cloned, and its first push makes and protects the default branch', async () => {
  const project = await makeProject(app);
  const work = await clone(project);
  await mustGit(work, ['checkout', '-q', '-b', 'trunk']);
  await commitFiles(work, { 'README.md': 'Hello\n' }, 'First');
  const pushed = await runGit(work, ['push', 'origin', 'trunk']);
  expect(pushed).toMatchObject({ code: 0 });
  const shown = bodyOf(await app.root(`GET /projects/${project.id}`), 200);
  expect(shown.default_branch).toBe('trunk');
  expect(shown.empty_repo).toBe(false);
  const again = await clone(project);
  expect(await mustGit(again, ['log', '--format=%s'])).toBe('First\n');
  const { sql } = app.app.services.database;
  const events =
    await sql`select details from activity_events where project_id = ${project.id} and action = 'pushed'`;
  expect(events).toMatchObject([
    { details: { push_data: { action: 'created', ref: 'trunk', commit_count: 1 } } },
  ]);
  // The instance's default protection lets no user force.
  await mustGit(work, ['commit', '-q', '--amend', '-m', 'Other']);
  const forced = await runGit(work, ['push', '--force', 'origin', 'trunk']);
  expect(forced.code).not.toBe(0);
  expect(forced.output).toContain('remote: You are not allowed to force push code to a protected branch');
});

test.each(['0', '1', '2'])('version %s of the protocol clones, fetches and pushes', async (version) => {
  const project = await makeProject(app);
  await fillProject(app, project.id, [{ 'a.txt': 'a' }, { 'b.txt': 'b' }]);
  const protocol = ['-c', `protocol.version=${version}`];
  const work = folder();
  await mustGit(home, [...protocol, 'clone', '--quiet', urlOf(project), work]);
  await commitFiles(work, { 'c.txt': 'c' });
  await mustGit(work, ['tag', '-a', 'v1', '-m', 'One']);
  await mustGit(work, [...protocol, 'push', '--quiet', 'origin', 'main', 'v1']);
  const other = folder();
  await mustGit(home, [...protocol, 'clone', '--quiet', urlOf(project), other]);
  expect(await mustGit(other, ['rev-parse', 'HEAD', 'v1'])).toBe(
    await mustGit(work, ['rev-parse', 'HEAD', 'v1']),
  );
  await commitFiles(work, { 'd.txt': 'd' });
  await mustGit(work, [...protocol, 'push', '--quiet', 'origin', 'main']);
  await mustGit(other, [...protocol, 'fetch', '--quiet']);
  expect(await mustGit(other, ['rev-parse', 'origin/main'])).toBe(await mustGit(work, ['rev-parse', 'HEAD']));
});

test('shallow and partial clones, one branch, and what deepens them', async () => {
  const project = await makeProject(app);
  await fillProject(app, project.id, [{ 'a.txt': 'a' }, { 'b.txt': 'b' }, { 'c.txt': 'c' }]);
  const shallow = await clone(project, '--depth=1');
  expect((await mustGit(shallow, ['rev-list', '--count', 'HEAD'])).trim()).toBe('1');
  await commitFiles(shallow, { 'd.txt': 'd' });
  await mustGit(shallow, ['push', '--quiet', 'origin', 'main']);
  await mustGit(shallow, ['fetch', '--quiet', '--unshallow']);
  expect((await mustGit(shallow, ['rev-list', '--count', 'HEAD'])).trim()).toBe('4');
  const partial = await clone(project, '--filter=blob:none', '--no-checkout');
  const missing = await mustGit(partial, ['rev-list', '--objects', '--missing=print', 'HEAD']);
  expect(missing.split('\n').filter((line) => line.startsWith('?'))).toHaveLength(4);
  expect(await mustGit(partial, ['show', 'HEAD:d.txt'])).toBe('d');
});

test('a fetch with so many refs that git sends its question compressed', async () => {
  const project = await makeProject(app);
  await fillProject(
    app,
    project.id,
    Array.from({ length: 300 }, (_, index) => ({ 'a.txt': `${index}` })),
  );
  const work = await clone(project);
  for (let index = 0; index < 60; index += 1)
    await mustGit(work, ['branch', `b${index}`, `HEAD~${index * 4}`]);
  await mustGit(work, ['commit', '-q', '--allow-empty', '-m', 'x']);
  await fillProject(app, project.id, [{ 'b.txt': 'b' }], 'other');
  const { code, output } = await runGit(work, ['fetch', '--quiet', 'origin', 'other']);
  expect({ code, output }).toEqual({ code: 0, output: '' });
});

test('100,000 refs are listed, cloned, and pushed to', async () => {
  const project = await makeProject(app);
  const head = await fillProject(app, project.id);
  const { repositories } = app.app.services;
  const refs = Array.from({ length: 100_000 }, (_, index) => `${head} refs/tags/t${index}\n`).sort();
  const packed = `# pack-refs with: peeled fully-peeled sorted \n${refs.join('')}`;
  writeFileSync(join(repositories.folder(projectRepository(project.id), 'default'), 'packed-refs'), packed);
  const work = await clone(project);
  expect((await mustGit(work, ['tag', '--list'])).trim().split('\n')).toHaveLength(100_000);
  await commitFiles(work, { 'a.txt': 'a' });
  await mustGit(work, ['push', '-q', 'origin', 'main', 'HEAD:refs/tags/one-more']);
  expect(await mustGit(work, ['ls-remote', 'origin', 'refs/tags/one-more'])).toContain('one-more');
});

test('protected branches, tags and names that are none are refused one and all, and nothing is written', async () => {
  const project = await makeProject(app);
  await fillProject(app, project.id);
  const { developer } = await makeMembers(app, `projects/${project.id}`, 'developer');
  const work = folder();
  await mustGit(home, ['clone', '-q', urlOf(project, developer.token), work]);
  await commitFiles(work, { 'a.txt': 'a' });
  const refused = await runGit(work, ['push', 'origin', 'HEAD:main', 'HEAD:refs/heads/mine']);
  expect(refused.code).not.toBe(0);
  expect(refused.output).toContain(
    'remote: You are not allowed to push code to protected branches on this project.',
  );
  expect(refused.output).toContain('[remote rejected] HEAD -> main (pre-receive hook declined)');
  expect(refused.output).toContain('[remote rejected] HEAD -> mine (pre-receive hook declined)');
  expect(await mustGit(work, ['ls-remote', '--heads', 'origin'])).not.toContain('mine');
  await mustGit(work, ['push', '--quiet', 'origin', 'HEAD:refs/heads/mine']);
  await mustGit(work, ['commit', '-q', '--amend', '-m', 'Again']);
  await mustGit(work, ['push', '--quiet', '--force', 'origin', 'HEAD:refs/heads/mine']);
  for (const ref of [
    'refs/heads/--upload-pack=x',
    'refs/ashlar/x',
    'refs/merge-requests/1/head',
    'refs/heads/HEAD',
  ]) {
    const { code, output } = await runGit(work, ['push', 'origin', `HEAD:${ref}`]);
    expect(code).not.toBe(0);
    expect(output).toContain('cannot be the name of a branch or tag here');
  }
  const deleted = await runGit(work, ['push', 'origin', ':main']);
  expect(deleted.output).toContain('You are not allowed to delete protected branches');
  const byMaintainer = await runGit(await clone(project), ['push', 'origin', ':main']);
  expect(byMaintainer.output).toContain('A protected branch is not deleted by a push');
  expect(await mustGit(work, ['ls-remote', '--heads', 'origin'])).toContain('main');
});

test('what the program keeps below refs/merge-requests is fetched by its name, and no push hears of it', async () => {
  const project = await makeProject(app);
  const head = await fillProject(app, project.id, [{ 'a.txt': 'a' }, { 'b.txt': 'b' }]);
  const located = await app.app.services.repositories.locate(projectRepository(project.id), 'write');
  const kept = ['refs/merge-requests/7/head', 'refs/ashlar/keep/7'];
  const work = await clone(project);
  const alone = await mustGit(work, ['commit-tree', '-m', 'Alone', 'HEAD^{tree}']);
  await mustGit(work, ['push', '-q', 'origin', `${alone.trim()}:refs/heads/alone`]);
  const moves = kept.map((ref) => ({ ref, before: NO_OBJECT, after: alone.trim() }));
  await updateRefs(located?.folder ?? '', moves);
  await mustGit(work, ['push', '-q', 'origin', ':alone']);

  const listed = await mustGit(work, ['ls-remote', 'origin']);
  expect(listed).toContain('refs/merge-requests/7/head');
  expect(listed).not.toContain('refs/ashlar');
  const other = await clone(project);
  expect(await mustGit(other, ['for-each-ref'])).not.toMatch(/merge-requests|ashlar/);
  await mustGit(other, ['fetch', '-q', 'origin', 'refs/merge-requests/7/head:mine']);
  expect(await mustGit(other, ['rev-parse', 'mine'])).toBe(alone);
  const { code, output } = await runGit(other, ['fetch', 'origin', 'refs/ashlar/keep/7']);
  expect(code).not.toBe(0);
  expect(output).toContain("couldn't find remote ref");

  for (const ref of kept)
    for (const pushed of [`${head}:${ref}`, `+${head}:${ref}`, `:${ref}`, `${head}:${ref}/x`])
      expect((await runGit(work, ['push', 'origin', pushed])).code).not.toBe(0);
  // Whatever is not in the mirror is deleted by it, of what it hears of.
  await mustGit(work, ['tag', 'v1']);
  await mustGit(work, ['remote', 'remove', 'origin']);
  await mustGit(work, ['push', '-q', '--mirror', urlOf(project)]);
  const after = await gitText(['for-each-ref', '--format=%(objectname) %(refname)'], {
    folder: located?.folder ?? '',
  });
  expect(after).toContain('refs/tags/v1');
  for (const ref of kept) expect(after).toContain(`${alone.trim()} ${ref}`);

  const names = async (kind: string) =>
    (bodyOf(await app.root(`GET /projects/${project.id}/repository/${kind}`), 200) as { name: string }[]).map(
      ({ name }) => name,
    );
  expect(await names('branches')).toEqual(['main']);
  expect(await names('tags')).toEqual(['v1']);
  const commits = `GET /projects/${project.id}/repository/commits`;
  bodyOf(await app.root(`${commits}/${encodeURIComponent('refs/merge-requests/7/head')}`), 200);
  bodyOf(await app.root(`${commits}/${encodeURIComponent('refs/ashlar/keep/7')}`), 404);
});

test.each(['0', '1', '2'])(
  'refs of merge requests are for those who read them, in version %s of the protocol',
  async (version) => {
    const project = await makeProject(app, { visibility: 'public' });
    const { reporter, guest } = await makeMembers(app, `projects/${project.id}`, 'reporter', 'guest');
    const head = await fillProject(app, project.id);
    const located = await app.app.services.repositories.locate(projectRepository(project.id), 'write');
    const ref = 'refs/merge-requests/7/head';
    await updateRefs(located?.folder ?? '', [{ ref, before: NO_OBJECT, after: head }]);
    const url = `${app.url}/${project.path_with_namespace}.git`;
    // A public project asks nobody who they are: they say so unasked.
    const options = (password?: string, name = 'oauth2') => [
      ...['-c', `protocol.version=${version}`],
      ...(password === undefined
        ? []
        : [
            '-c',
            `http.extraHeader=Authorization: Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
          ]),
    ];
    const token = bodyOf(
      await app.root(`POST /projects/${project.id}/deploy_tokens`, {
        body: { name: 'd', scopes: ['read_repository'] },
      }),
      201,
    );
    const readers = {
      anonymous: options(),
      guest: options(guest.token),
      reporter: options(reporter.token),
      deploy: options(token.token, token.username),
    };
    const who = async () => {
      const seen: string[] = [];
      for (const [name, given] of Object.entries(readers)) {
        const listed = await mustGit(home, [...given, 'ls-remote', url]);
        expect(listed).toContain('refs/heads/main');
        if (listed.includes(ref)) seen.push(name);
      }
      return seen;
    };
    expect(await who()).toEqual(['anonymous', 'guest', 'reporter', 'deploy']);
    const body = { merge_requests_access_level: 'private' };
    bodyOf(await app.root(`PUT /projects/${project.id}`, { body }), 200);
    expect(await who()).toEqual(['reporter', 'deploy']);
    const work = folder();
    await mustGit(home, [...readers.anonymous, 'clone', '-q', url, work]);
    const { output } = await runGit(work, [...readers.anonymous, 'fetch', url, ref]);
    expect(output).toContain("couldn't find remote ref");
    await mustGit(work, [...readers.reporter, 'fetch', '-q', url, ref]);
  },
);

test('a forced push together with others to a branch that may be forced', async () => {
  const project = await makeProject(app);
  await fillProject(app, project.id);
  const work = await clone(project);
  await commitFiles(work, { 'a.txt': 'a' });
  await mustGit(work, ['push', '-q', 'origin', 'main']);
  await mustGit(work, ['reset', '-q', '--hard', 'HEAD~1']);
  await commitFiles(work, { 'b.txt': 'b' });
  const refused = await runGit(work, ['push', '--force', 'origin', 'main', 'HEAD:refs/heads/new']);
  expect(refused.output).toContain('remote: You are not allowed to force push code to a protected branch');
  expect(await mustGit(work, ['ls-remote', '--heads', 'origin'])).not.toContain('new');
  const { sql } = app.app.services.database;
  await sql`update protected_branches set allow_force_push = true where project_id = ${project.id}`;
  await mustGit(work, ['push', '-q', '--force', 'origin', 'main', 'HEAD:refs/heads/new']);
  expect(await mustGit(work, ['ls-remote', '--heads', 'origin'])).toContain('new');
});

test('an old path leads to the new one, for fetches and pushes', async () => {
  const project = await makeProject(app);
  await fillProject(app, project.id);
  const work = await clone(project);
  bodyOf(await app.root(`PUT /projects/${project.id}`, { body: { path: uniqueName('renamed') } }), 200);
  await mustGit(work, ['fetch', 'origin']);
  await commitFiles(work, { 'a.txt': 'a' });
  const pushed = await runGit(work, ['push', 'origin', 'main']);
  expect(pushed).toMatchObject({ code: 0 });
});

test('a write while the repository moves is refused in words, a read is not', async () => {
  const project = await makeProject(app);
  await fillProject(app, project.id);
  const work = await clone(project);
  await commitFiles(work, { 'a.txt': 'a' });
  const { sql } = app.app.services.database;
  await sql`update projects set repository_read_only = true where id = ${project.id}`;
  const { code, output } = await runGit(work, ['push', 'origin', 'main']);
  expect(code).not.toBe(0);
  expect(output).toContain('The repository is temporarily read-only. Please try again later.');
  await mustGit(work, ['fetch', '-q', 'origin']);
  await sql`update projects set repository_read_only = false where id = ${project.id}`;
  await mustGit(work, ['push', '-q', 'origin', 'main']);
  // No lease stays.
  await expect.poll(() => sql`select * from repository_uses where container_id = ${project.id}`).toEqual([]);
});

test('wikis of projects and groups are repositories of their own', async () => {
  const project = await makeProject(app);
  const group = bodyOf(
    await app.root('POST /groups', { body: { name: 'Wikis', path: uniqueName('wikis') } }),
    201,
  );
  for (const path of [`${project.path_with_namespace}.wiki`, `${group.full_path}.wiki`]) {
    const work = folder();
    await mustGit(home, ['clone', '-q', addressOf(app.url, path, ROOT_TOKEN), work]);
    await mustGit(work, ['checkout', '-q', '-b', 'master']);
    await commitFiles(work, { 'home.md': 'Welcome' });
    await mustGit(work, ['push', '-q', 'origin', 'master']);
    const again = folder();
    await mustGit(home, ['clone', '-q', addressOf(app.url, path, ROOT_TOKEN), again]);
    expect(await mustGit(again, ['show', 'HEAD:home.md'])).toBe('Welcome');
  }
});
