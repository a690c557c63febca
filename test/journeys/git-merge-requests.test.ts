/** The git program and merge requests: opened and changed by push options, and fetched by their refs. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addressOf, commitFiles, mustGit, runGit } from '../support/git.ts';
import { cleanUp, makeFolder, type Program, ROOT_TOKEN, startProgram } from './support.ts';

let program: Program;
let home = '';
beforeAll(async () => {
  program = await startProgram();
  home = makeFolder();
});
afterAll(() => cleanUp());

const read = async (request: string, body?: unknown) => {
  const response = await program.root(request, body);
  const text = await response.text();
  expect(response.ok, text).toBe(true);
  return JSON.parse(text);
};

/** A project whose `main` has a file, and a clone of it. */
async function makeClone(name: string): Promise<{ id: number; work: string; page: string }> {
  const { id } = await read('POST /projects', { name, path: name });
  const work = join(home, name);
  await mustGit(home, ['clone', '-q', addressOf(program.url, `root/${name}`, ROOT_TOKEN), work]);
  await mustGit(work, ['checkout', '-q', '-B', 'main']);
  await commitFiles(work, { 'a.txt': 'a\n' }, 'First');
  await mustGit(work, ['push', '-q', '-u', 'origin', 'main']);
  return { id, work, page: `${program.url}/root/${name}/-/merge_requests` };
}

/** Commits a file to a branch, which begins at main where it is new. */
async function workOn(work: string, branch: string, file: string, message: string): Promise<string> {
  const { code } = await runGit(work, ['checkout', '-q', branch]);
  if (code !== 0) await mustGit(work, ['checkout', '-q', '-b', branch, 'main']);
  await commitFiles(work, { [file]: `${file}\n` }, message);
  return (await mustGit(work, ['rev-parse', 'HEAD'])).trim();
}

/** What the server says of a push, without git's `remote:` and the spaces that it adds. */
async function push(work: string, branch: string, options: readonly string[]): Promise<string[]> {
  const args = options.flatMap((option) => ['-o', option]);
  const shown = await mustGit(work, ['push', '-q', ...args, 'origin', branch]);
  return shown.split('\n').flatMap((line) => {
    const [, said] = /^remote: ?(.*?)\s*$/.exec(line) ?? [];
    return said === undefined || said === '' ? [] : [said];
  });
}

test('a push says where a merge request can be opened, opens it, and says where it is', async () => {
  const { id, work, page } = await makeClone('options');
  await read(`POST /projects/${id}/milestones`, { title: '1.0' });
  await read(`POST /projects/${id}/repository/branches?branch=stable&ref=main`, {});
  await workOn(work, 'topic', 'b.txt', 'Add b\n\nIt was missing.');
  expect(await push(work, 'topic', [])).toEqual([
    'To create a merge request for topic, visit:',
    `  ${page}/new?merge_request%5Bsource_branch%5D=topic`,
  ]);
  const head = await workOn(work, 'topic', 'c.txt', 'Add c');
  const options = [
    'merge_request.create',
    'merge_request.target=stable',
    'merge_request.title=Add two files',
    'merge_request.description=The first\\nThe second',
    'merge_request.draft',
    'merge_request.label=bug',
    'merge_request.label=urgent',
    'merge_request.milestone=1.0',
    'merge_request.assign=root',
    'merge_request.remove_source_branch',
    'merge_request.squash',
  ];
  const address = ['View merge request for topic:', `  ${page}/1`];
  expect(await push(work, 'topic', options)).toEqual(address);
  const path = `/projects/${id}/merge_requests/1`;
  expect(await read(`GET ${path}`)).toMatchObject({
    title: 'Draft: Add two files',
    description: 'The first\nThe second',
    source_branch: 'topic',
    target_branch: 'stable',
    sha: head,
    draft: true,
    labels: ['bug', 'urgent'],
    milestone: { title: '1.0' },
    assignees: [{ username: 'root' }],
    force_remove_source_branch: true,
    squash: true,
    changes_count: '2',
  });

  const next = await workOn(work, 'topic', 'd.txt', 'Add d');
  const later = [
    'merge_request.target=main',
    'merge_request.title=Add three files',
    'merge_request.unlabel=urgent',
    'merge_request.unassign=root',
    'merge_request.draft=false',
  ];
  expect(await push(work, 'topic', later)).toEqual(address);
  const changed = async () => read(`GET ${path}`);
  await expect.poll(async () => (await changed()).sha, { timeout: 20_000 }).toBe(next);
  expect(await changed()).toMatchObject({
    title: 'Add three files',
    target_branch: 'main',
    labels: ['bug'],
    assignees: [],
    changes_count: '3',
  });
  expect(await push(work, 'main', [])).toEqual([]);
});

test('options that cannot be followed are told, and the push is taken; the title is that of the commit', async () => {
  const { id, work, page } = await makeClone('warnings');
  const head = await workOn(work, 'topic', 'b.txt', 'Add b\n\nIt was missing.');
  const warned = await push(work, 'topic', ['merge_request.create', 'merge_request.target=nowhere']);
  expect(warned).toEqual([
    'WARNINGS:',
    'The options for topic were not followed: target_branch does not exist',
    'To create a merge request for topic, visit:',
    `  ${page}/new?merge_request%5Bsource_branch%5D=topic`,
  ]);
  expect(await read(`GET /projects/${id}/merge_requests`)).toEqual([]);
  expect((await read(`GET /projects/${id}/repository/branches/topic`)).commit.id).toBe(head);
  await mustGit(work, ['commit', '-q', '--amend', '-m', 'Add b\n\nIt is wanted.']);
  expect(await push(work, '+topic', ['mr.create', 'merge_request.nothing'])).toEqual([
    'WARNINGS:',
    '"merge_request.nothing" is not a push option.',
    'View merge request for topic:',
    `  ${page}/1`,
  ]);
  expect(await read(`GET /projects/${id}/merge_requests`)).toMatchObject([
    { title: 'Add b', description: 'It is wanted.' },
  ]);
});

test('its refs are fetched, also when its branches are gone; a push to them is refused', async () => {
  const { id, work, page } = await makeClone('fetched');
  const main = (await mustGit(work, ['rev-parse', 'main'])).trim();
  const head = await workOn(work, 'topic', 'b.txt', 'Add b');
  expect(await push(work, 'topic', ['merge_request.create'])).toContain(`  ${page}/1`);
  const { commit_id: joined } = await read(`GET /projects/${id}/merge_requests/1/merge_ref`);
  const other = join(home, 'other');
  await mustGit(home, ['clone', '-q', addressOf(program.url, 'root/fetched', ROOT_TOKEN), other]);
  await mustGit(other, [
    'config',
    '--add',
    'remote.origin.fetch',
    '+refs/merge-requests/*:refs/remotes/mr/*',
  ]);
  await mustGit(other, ['fetch', '-q']);
  expect(await mustGit(other, ['for-each-ref', '--format=%(objectname) %(refname)', 'refs/remotes/mr'])).toBe(
    `${head} refs/remotes/mr/1/head\n${joined} refs/remotes/mr/1/merge\n`,
  );
  expect(await mustGit(other, ['log', '-1', '--format=%P', joined])).toBe(`${main} ${head}\n`);
  expect(await mustGit(other, ['ls-tree', '--name-only', joined])).toBe('a.txt\nb.txt\n');
  const refused = await runGit(other, ['push', 'origin', 'main:refs/merge-requests/1/head']);
  expect(refused.code).not.toBe(0);

  const newer = await workOn(work, 'topic', 'c.txt', 'Add c');
  await push(work, 'topic', []);
  const fetchHead = async () => {
    await mustGit(other, ['fetch', '-q', 'origin', 'refs/merge-requests/1/head']);
    return (await mustGit(other, ['rev-parse', 'FETCH_HEAD'])).trim();
  };
  await expect.poll(fetchHead, { timeout: 20_000 }).toBe(newer);
  await mustGit(work, ['push', '-q', 'origin', ':topic']);
  const state = async () => (await read(`GET /projects/${id}/merge_requests/1`)).state;
  await expect.poll(state, { timeout: 20_000 }).toBe('closed');
  expect(await fetchHead()).toBe(newer);
});

test('merged on the command line it is merged, and by a push option as soon as it can be', async () => {
  const { id, work, page } = await makeClone('merged');
  const head = await workOn(work, 'topic', 'b.txt', 'Add b');
  await push(work, 'topic', ['merge_request.create']);
  await mustGit(work, ['checkout', '-q', 'main']);
  await mustGit(work, ['merge', '-q', '--no-ff', '-m', 'By hand', 'topic']);
  expect(await push(work, 'main', [])).toEqual([]);
  const state = async () => (await read(`GET /projects/${id}/merge_requests/1`)).state;
  await expect.poll(state, { timeout: 20_000 }).toBe('merged');
  expect(await read(`GET /projects/${id}/merge_requests/1`)).toMatchObject({
    sha: head,
    merged_by: { id: 1 },
    merge_commit_sha: (await mustGit(work, ['rev-parse', 'main'])).trim(),
  });

  await workOn(work, 'second', 'c.txt', 'Add c');
  const options = ['merge_request.create', 'merge_request.auto_merge', 'merge_request.remove_source_branch'];
  expect(await push(work, 'second', options)).toContain(`  ${page}/2`);
  expect(await read(`GET /projects/${id}/merge_requests/2`)).toMatchObject({ state: 'merged' });
  const branches = async () => {
    await mustGit(work, ['fetch', '-q', '--prune']);
    return mustGit(work, ['branch', '-r', '--format=%(refname:short)']);
  };
  await expect.poll(branches, { timeout: 20_000 }).not.toContain('second');
  await mustGit(work, ['checkout', '-q', 'main']);
  await mustGit(work, ['pull', '-q', '--ff-only']);
  expect(await mustGit(work, ['ls-files'])).toBe('a.txt\nb.txt\nc.txt\n');
});
