/** Pushes to the source branch of a fork by who may merge there: to that branch, while it is allowed, and nothing else. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeUser,
  uniqueName,
} from '../../../../test/support/factories.ts';
import { addressOf, commitFiles, makeHome, mustGit, runGit } from '../../../../test/support/git.ts';
import { commitTo, makeReviewedProject, waitForFollowing } from '../../../../test/support/merge-requests.ts';

const ashlar = useApp();
const home = makeHome();
afterAll(() => rmSync(home, { recursive: true, force: true }));

type Fork = { fork: MadeProject; author: MadeUser; path: string };
let target: MadeProject;
let people: Record<'guest' | 'developer' | 'maintainer', MadeUser>;
let shared: Fork;

/** A fork of the author's own, with a merge request from `topic` and beside it the branches `main` and `other`. */
async function makeFork(attributes: Record<string, unknown> = { allow_collaboration: true }): Promise<Fork> {
  const author = await makeUser(ashlar);
  const as = ashlar.as(author.token);
  const fork = bodyOf(
    await as(`POST /projects/${target.id}/fork`, { body: { path: uniqueName('fork') } }),
    201,
  );
  const imported = async () => bodyOf(await as(`GET /projects/${fork.id}`), 200).import_status;
  await vi.waitUntil(async () => (await imported()) === 'finished', { timeout: 60_000 });
  for (const branch of ['topic', 'other'])
    await commitTo(ashlar, fork.id, branch, { [`${branch}.txt`]: 'a\n' });
  const body = {
    title: 'From afar',
    source_branch: 'topic',
    target_branch: 'main',
    target_project_id: target.id,
    ...attributes,
  };
  const { iid } = bodyOf(await as(`POST /projects/${fork.id}/merge_requests`, { body }), 201);
  return { fork, author, path: `/projects/${target.id}/merge_requests/${iid}` };
}

beforeAll(async () => {
  target = await makeReviewedProject(ashlar, { visibility: 'public' });
  people = await makeMembers(ashlar, `projects/${target.id}`, 'guest', 'developer', 'maintainer');
  shared = await makeFork();
});

/** The status of a commit by the API. */
async function commit({ fork }: Fork, { token }: { token: string }, fields: Record<string, unknown> = {}) {
  const actions = [{ action: 'create', file_path: `${uniqueName('file')}.txt`, content: 'a' }];
  const body = { branch: 'topic', commit_message: 'Help', actions, ...fields };
  return (await ashlar.as(token)(`POST /projects/${fork.id}/repository/commits`, { body })).status;
}

/** Clones the fork as its reader, commits, and pushes with the token; git's exit code and output. */
async function push({ fork }: Fork, { token }: { token: string }, ...refs: string[]) {
  const work = join(home, uniqueName('work'));
  const address = addressOf(ashlar.url, fork.path_with_namespace, token);
  await mustGit(home, ['clone', '--quiet', '--branch', 'topic', address, work]);
  await commitFiles(work, { [`${uniqueName('file')}.txt`]: 'a\n' }, 'Help');
  return runGit(work, ['push', address, ...refs]);
}

test('who may merge pushes to the branch, over git and by the API', async () => {
  const { maintainer } = people;
  expect(await commit(shared, maintainer)).toBe(201);
  expect(await push(shared, maintainer, 'HEAD:topic')).toMatchObject({ code: 0 });
  const file = `/projects/${shared.fork.id}/repository/files/by-file.txt`;
  const body = { branch: 'topic', commit_message: 'Help', content: 'a' };
  expect((await ashlar.as(maintainer.token)(`POST ${file}`, { body })).status).toBe(201);
});

test.each(['guest', 'developer', 'stranger'])('who may not merge pushes nothing: %s', async (who) => {
  const user = who === 'stranger' ? await makeUser(ashlar) : people[who as 'guest' | 'developer'];
  expect(await commit(shared, user)).toBe(403);
  expect((await push(shared, user, 'HEAD:topic')).code).not.toBe(0);
});

/** Applies a suggestion for the file of the merge request; the status. */
async function applySuggestion({ path }: Fork, { token }: MadeUser): Promise<number> {
  const { diff_refs } = bodyOf(await ashlar.root(`GET ${path}`), 200);
  const at = { position_type: 'text', old_path: 'topic.txt', new_path: 'topic.txt', new_line: 1 };
  const body = { body: '```suggestion\nb\n```', position: { ...diff_refs, ...at } };
  const { notes } = bodyOf(await ashlar.as(token)(`POST ${path}/discussions`, { body }), 201);
  return (await ashlar.as(token)(`PUT /suggestions/${notes[0].suggestions[0].id}/apply`)).status;
}

test('who may merge applies suggestions, where that is allowed, and nobody else', async () => {
  const [open, closed] = [await makeFork(), await makeFork({})];
  for (const user of [people.developer, await makeUser(ashlar)])
    expect(await applySuggestion(open, user)).toBe(403);
  expect(await applySuggestion(closed, people.maintainer)).toBe(403);
  expect(await applySuggestion(open, people.maintainer)).toBe(200);
  const file = `/projects/${open.fork.id}/repository/files/topic.txt/raw`;
  expect((await ashlar.root(`GET ${file}`, { query: 'ref=topic' })).text).toBe('b\n');
});

describe('nothing but that branch', () => {
  test.each([
    ['main', 'HEAD:main'],
    ['another branch', 'HEAD:other'],
    ['a new branch', 'HEAD:fresh'],
    ['a tag', 'HEAD:refs/tags/v1'],
    ['its deletion', ':topic'],
    ['it and another at once', 'HEAD:topic', 'HEAD:other'],
  ])('by git: %s', async (_what, ...refs) => {
    const pushed = await push(shared, people.maintainer, '--atomic', ...refs);
    expect(pushed.code).not.toBe(0);
  });

  test.each([
    ['main', { branch: 'main' }],
    ['another branch', { branch: 'other' }],
    ['a new branch', { branch: 'fresh', start_branch: 'topic' }],
    ['a new branch by force', { branch: 'fresh', start_branch: 'topic', force: true }],
  ])('by the API: %s', async (_what, fields) => {
    expect(await commit(shared, people.maintainer, fields)).toBe(403);
  });

  test.each([
    ['POST', 'repository/branches', { branch: 'fresh', ref: 'topic' }],
    ['DELETE', 'repository/branches/topic', undefined],
    ['DELETE', 'repository/merged_branches', undefined],
    ['POST', 'repository/tags', { tag_name: 'v1', ref: 'topic' }],
    ['POST', 'merge_requests', { title: 'Theirs', source_branch: 'topic', target_branch: 'main' }],
    ['PUT', '', { description: 'Theirs' }],
  ])('%s %s of the fork', async (method, path, body) => {
    const line = `${method} /projects/${shared.fork.id}${path && `/${path}`}`;
    expect((await ashlar.as(people.maintainer.token)(line, body ? { body } : {})).status).toBe(403);
  });
});

describe('while it is allowed', () => {
  let mine: Fork;
  beforeAll(async () => {
    mine = await makeFork();
  });
  const change = async (line: string, body: Record<string, unknown>) => {
    await waitForFollowing(ashlar);
    return bodyOf(await ashlar.root(line, { body }), 200);
  };

  test.each<[what: string, line: () => string, off: Record<string, unknown>, on: Record<string, unknown>]>([
    ['revoked', () => `PUT ${mine.path}`, { allow_collaboration: false }, { allow_collaboration: true }],
    ['closed', () => `PUT ${mine.path}`, { state_event: 'close' }, { state_event: 'reopen' }],
    [
      'without code for others',
      () => `PUT /projects/${mine.fork.id}`,
      { repository_access_level: 'private', merge_requests_access_level: 'private' },
      { repository_access_level: 'enabled', merge_requests_access_level: 'enabled' },
    ],
    [
      'where nothing is merged',
      () => `PUT /projects/${target.id}`,
      { merge_requests_access_level: 'disabled' },
      { merge_requests_access_level: 'enabled' },
    ],
  ])('not when it is %s', async (_what, line, off, on) => {
    expect(await commit(mine, people.maintainer)).toBe(201);
    await change(line(), off);
    expect(await commit(mine, people.maintainer)).toBe(403);
    await change(line(), on);
    expect(await commit(mine, people.maintainer)).toBe(201);
  });

  test.each([
    ['the fork is archived', () => `/projects/${mine.fork.id}`],
    ['the target is archived', () => `/projects/${target.id}`],
  ])('not while %s', async (_what, path) => {
    bodyOf(await ashlar.root(`POST ${path()}/archive`), 201);
    expect(await commit(mine, people.maintainer)).toBe(403);
    bodyOf(await ashlar.root(`POST ${path()}/unarchive`), 201);
    expect(await commit(mine, people.maintainer)).toBe(201);
  });

  test('not while the branch is protected, nor for who is no member any more', async () => {
    const rules = `/projects/${mine.fork.id}/protected_branches`;
    bodyOf(await ashlar.root(`POST ${rules}`, { body: { name: 'top*', push_access_level: 30 } }), 201);
    expect(await commit(mine, people.maintainer)).toBe(403);
    expect((await push(mine, people.maintainer, 'HEAD:topic')).code).not.toBe(0);
    expect((await ashlar.root(`DELETE ${rules}/top*`)).status).toBe(204);
    const { maintainer: other } = await makeMembers(ashlar, `projects/${target.id}`, 'maintainer');
    expect(await commit(mine, other)).toBe(201);
    expect((await ashlar.root(`DELETE /projects/${target.id}/members/${other.id}`)).status).toBe(204);
    expect(await commit(mine, other)).toBe(403);
  });

  test('not when it is no fork any more, or hidden', async () => {
    const [unlinked, hidden] = [await makeFork(), await makeFork()];
    expect(await commit(unlinked, people.maintainer)).toBe(201);
    expect((await ashlar.root(`DELETE /projects/${unlinked.fork.id}/fork`)).status).toBe(204);
    expect(await commit(unlinked, people.maintainer)).toBe(403);
    await change(`PUT /projects/${hidden.fork.id}`, { visibility: 'private' });
    expect(await commit(hidden, people.maintainer)).toBe(404);
  });
});

test('who may push to one branch locks no paths, which are those of all branches', async () => {
  const lock = async ({ token }: MadeUser) => {
    const response = await fetch(`${ashlar.url}/${shared.fork.path_with_namespace}.git/info/lfs/locks`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}`,
        'content-type': 'application/vnd.git-lfs+json',
      },
      body: JSON.stringify({ path: 'locked.psd' }),
    });
    return response.status;
  };
  expect(await push(shared, people.maintainer, 'HEAD:topic')).toMatchObject({ code: 0 });
  expect(await lock(people.maintainer)).toBe(403);
  expect(await lock(shared.author)).toBe(201);
});

describe('only who pushes to the source can allow it', () => {
  const allow = async (path: string, { token }: { token: string }) =>
    bodyOf(await ashlar.as(token)(`PUT ${path}`, { body: { allow_collaboration: true } }), 200)
      .allow_collaboration;

  test('not those of the target', async () => {
    const mine = await makeFork({ allow_collaboration: false });
    expect(await allow(mine.path, people.maintainer)).toBe(false);
    expect(await commit(mine, people.maintainer)).toBe(403);
    expect(await allow(mine.path, mine.author)).toBe(true);
    expect(await commit(mine, people.maintainer)).toBe(201);
  });

  test('not of a protected branch, nor inside one project', async () => {
    const mine = await makeFork({ source_branch: 'main' });
    expect(bodyOf(await ashlar.root(`GET ${mine.path}`), 200).allow_collaboration).toBe(false);
    expect(await allow(mine.path, mine.author)).toBe(false);
    await commitTo(ashlar, target.id, 'inside', { 'i.txt': 'i\n' });
    const body = { title: 'In', source_branch: 'inside', target_branch: 'main', allow_collaboration: true };
    const { iid } = bodyOf(await ashlar.root(`POST /projects/${target.id}/merge_requests`, { body }), 201);
    await allow(`/projects/${target.id}/merge_requests/${iid}`, people.maintainer);
    const { sql } = ashlar.app.services.database;
    const [row] = await sql`
      select allow_collaboration from merge_requests where project_id = ${target.id} and iid = ${iid}`;
    expect(row?.allow_collaboration).toBe(false);
  });
});
