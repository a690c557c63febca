/** Pushes, merges and commits over the API: pointers whose objects are missing, and files that others have locked. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../test/support/app.ts';
import {
  bodyOf,
  type MadeUser,
  makeMembers,
  makeProject,
  uniqueName,
} from '../../../test/support/factories.ts';
import { addressOf, commitFiles, makeHome, mustGit, runGit } from '../../../test/support/git.ts';
import { commitTo, waitForFollowing } from '../../../test/support/merge-requests.ts';

const app = useApp();
const home = makeHome();
afterAll(() => rmSync(home, { recursive: true, force: true }));

const MISSING =
  'LFS objects are missing. Ensure LFS is properly set up or try a manual "git lfs push --all".';
const sha256 = (content: string): string => createHash('sha256').update(content).digest('hex');
const pointerTo = (content: string): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256(content)}\nsize ${content.length}\n`;

async function openMergeRequest(
  projectId: number,
  attributes: Record<string, unknown>,
): Promise<{ iid: number }> {
  const body = { title: 'Merge', target_branch: 'main', ...attributes };
  return { iid: bodyOf(await app.root(`POST /projects/${projectId}/merge_requests`, { body }), 201).iid };
}

const admin = { token: ROOT_TOKEN };

async function makeWorld() {
  const project = await makeProject(app);
  const members = await makeMembers(app, `projects/${project.id}`, 'developer', 'maintainer');
  await commitTo(app, project.id, 'main', { 'art/a.psd': 'a', 'b.txt': 'b' });
  const call = (user: MadeUser, line: string, body?: unknown, at = project.path_with_namespace) => {
    const [method = '', path = ''] = line.split(' ');
    const authorization = `Basic ${Buffer.from(`x:${user.token}`).toString('base64')}`;
    return fetch(`${app.url}/${at}.git/${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/vnd.git-lfs+json' },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  };
  const bring = async (content: string) =>
    expect(
      (await call(members.developer, `PUT lfs/objects/${sha256(content)}/${content.length}`, content)).status,
    ).toBe(200);
  const lock = async (user: MadeUser, path: string) => {
    const response = await call(user, 'POST info/lfs/locks', { path });
    expect(response.status).toBe(201);
    return ((await response.json()) as { lock: { id: string } }).lock.id;
  };
  const unlock = (user: MadeUser, id: string) => call(user, `POST info/lfs/locks/${id}/unlock`, {});
  const clone = async (user: Pick<MadeUser, 'token'>): Promise<string> => {
    const work = join(home, uniqueName('work'));
    await mustGit(home, ['clone', '-q', addressOf(app.url, project.path_with_namespace, user.token), work]);
    return work;
  };
  /** Pushes a commit upon what main is now. */
  const push = async (
    user: Pick<MadeUser, 'token'>,
    files: Record<string, string>,
    ref = uniqueName('branch'),
  ) => {
    const work = await clone(user);
    await commitFiles(work, files);
    const { code, output } = await runGit(work, ['push', 'origin', `HEAD:refs/heads/${ref}`]);
    return { taken: code === 0, output };
  };
  const fetchObject = async (user: MadeUser, content: string) =>
    (await call(user, `GET lfs/objects/${sha256(content)}`)).status;
  /** A fork that has the objects, and the files on its main branch. */
  const forkWith = async (user: MadeUser, contents: string[], files: Record<string, string>) => {
    const forked = bodyOf(await app.as(user.token)(`POST /projects/${project.id}/fork`), 201);
    const at = forked.path_with_namespace as string;
    for (const content of contents)
      await call(user, `PUT lfs/objects/${sha256(content)}/${content.length}`, content, at);
    await commitTo(app, forked.id as number, 'main', files);
    return { id: forked.id as number };
  };
  return { project, ...members, bring, lock, unlock, clone, push, fetchObject, forkWith };
}

test('a pointer is pushed when its object is there, and no text that only looks like one is refused', async () => {
  const { project, developer, maintainer, bring, push } = await makeWorld();
  const refused = await push(developer, { 'a.bin': pointerTo('granite') });
  expect(refused.output).toContain(`remote: ${MISSING}`);
  expect(refused.output).toContain('pre-receive hook declined');
  // Among many, and by whoever.
  await bring('granite');
  const both = { 'a.bin': pointerTo('granite'), 'b.bin': pointerTo('slate'), 'c.txt': 'c'.repeat(300) };
  expect((await push(maintainer, both)).taken).toBe(false);
  expect((await push(maintainer, both, 'main')).taken).toBe(false);
  expect((await push(developer, { 'a.bin': pointerTo('granite') })).taken).toBe(true);
  const text = {
    'doc.md': `A pointer is\n\n${pointerTo('sand')}`,
    'one.txt': pointerTo('sand').slice(0, -8),
  };
  expect((await push(developer, text)).taken).toBe(true);
  // Of many packed objects too.
  const many = Object.fromEntries(
    Array.from({ length: 150 }, (_, at) => [`many/${at}`, `${at} `.repeat(100)]),
  );
  expect((await push(developer, many)).taken).toBe(true);
  expect((await push(developer, { ...many, 'z.bin': pointerTo('slate') })).output).toContain(MISSING);
  await app.root(`PUT /projects/${project.id}`, { body: { lfs_enabled: false } });
  expect((await push(developer, { 'b.bin': pointerTo('slate') })).taken).toBe(true);
});

test('a push that changes what another one has locked is refused', async () => {
  const { developer, maintainer, lock, unlock, clone, push } = await makeWorld();
  const id = await lock(developer, 'art/a.psd');
  const refused = await push(maintainer, { 'art/a.psd': 'other' });
  expect(refused.taken).toBe(false);
  expect(refused.output).toContain(`The path 'art/a.psd' is locked in Git LFS by @${developer.username}`);
  expect((await push(maintainer, { 'b.txt': 'other' }, 'main')).taken).toBe(true);
  expect((await push(developer, { 'art/a.psd': 'other' })).taken).toBe(true);
  // What its owner pushed to a branch, another one may merge and push.
  const work = await clone(developer);
  await commitFiles(work, { 'art/a.psd': 'newer' });
  await mustGit(work, ['push', '-q', 'origin', 'HEAD:refs/heads/art']);
  const others = await clone(maintainer);
  await commitFiles(others, { 'c.txt': 'c' });
  await mustGit(others, ['merge', '-q', 'origin/art', '-m', 'Merge']);
  await mustGit(others, ['push', '-q', 'origin', 'HEAD:main']);
  expect((await unlock(developer, id)).status).toBe(200);
  expect((await push(maintainer, { 'art/a.psd': 'other' })).taken).toBe(true);
});

test('a lock holds against commits that came by a tag, or that many other files hide', async () => {
  const { developer, maintainer, lock, clone } = await makeWorld();
  await lock(developer, 'art/a.psd');
  const work = await clone(maintainer);
  await commitFiles(work, { 'art/a.psd': 'other' });
  const push = async (to: string) => (await runGit(work, ['push', 'origin', `HEAD:${to}`])).output;
  expect(await push('refs/tags/v1')).toContain('is locked in Git LFS by');
  expect(await push('main')).toContain('is locked in Git LFS by');
  await mustGit(work, ['tag', '-m', 'One', 'v2']);
  expect((await runGit(work, ['push', 'origin', 'v2'])).output).toContain('is locked in Git LFS by');
  await mustGit(work, ['tag', 'file', 'HEAD:b.txt']);
  expect((await runGit(work, ['push', 'origin', 'file'])).code).toBe(0);
  await mustGit(work, ['reset', '-q', '--hard', 'origin/main']);
  const blob = (await mustGit(work, ['rev-parse', 'HEAD:b.txt'])).trim();
  const names = Array.from(
    { length: 30_000 },
    (_, at) => `M 100644 ${blob} ${'a-long-name/'.repeat(12)}${at}\n`,
  );
  await runGit(
    work,
    ['fast-import', '--quiet', '--force'],
    `commit refs/heads/many\ncommitter a <a@example.com> 0 +0000\ndata 0\nfrom refs/heads/main\n${names.join('')}M 100644 ${blob} art/a.psd\n`,
  );
  expect((await runGit(work, ['push', 'origin', 'many'])).output).toContain('Too much is changed');
});

test('commits over the API are refused alike', async () => {
  const { project, developer, maintainer, lock } = await makeWorld();
  await lock(developer, 'art/a.psd');
  const change = (user: MadeUser, file_path: string) => ({
    body: { branch: 'main', commit_message: 'Change', content: uniqueName('content') },
    line: `PUT /projects/${project.id}/repository/files/${encodeURIComponent(file_path)}` as const,
    as: app.as(user.token),
  });
  const refused = change(maintainer, 'art/a.psd');
  const { status, body } = await refused.as(refused.line, { body: refused.body });
  expect([status, body.message]).toEqual([
    400,
    `The path 'art/a.psd' is locked in Git LFS by @${developer.username}`,
  ]);
  const other = change(maintainer, 'b.txt');
  bodyOf(await other.as(other.line, { body: other.body }), 200);
  const moved = await app.as(maintainer.token)(`POST /projects/${project.id}/repository/commits`, {
    body: {
      branch: 'topic',
      start_branch: 'main',
      commit_message: 'Move',
      actions: [{ action: 'move', previous_path: 'art/a.psd', file_path: 'z.psd' }],
    },
  });
  expect(moved.status).toBe(400);
});

test('a commit of before is not picked or reverted where another one has locked what it changes', async () => {
  const { project, developer, maintainer, lock, unlock, clone } = await makeWorld();
  const work = await clone(maintainer);
  await commitFiles(work, { 'art/a.psd': 'other' });
  await mustGit(work, ['push', '-q', 'origin', 'HEAD:refs/heads/topic']);
  const [sha] = (await mustGit(work, ['rev-parse', 'HEAD'])).split('\n');
  const id = await lock(developer, 'art/a.psd');
  const ask = (what: 'cherry_pick' | 'revert', branch: string) =>
    app.as(maintainer.token)(`POST /projects/${project.id}/repository/commits/${sha}/${what}`, {
      body: { branch },
    });
  for (const answer of [await ask('cherry_pick', 'main'), await ask('revert', 'topic')])
    expect([answer.status, answer.body.message]).toEqual([
      400,
      `The path 'art/a.psd' is locked in Git LFS by @${developer.username}`,
    ]);
  expect((await unlock(developer, id)).status).toBe(200);
  expect((await ask('cherry_pick', 'main')).status).toBe(201);
});

test('a raw file is the pointer, or with lfs the object that the project has', async () => {
  const { project, developer, bring } = await makeWorld();
  await bring('granite');
  await commitTo(app, project.id, 'main', { 'a b.bin': pointerTo('granite'), 'c.bin': pointerTo('slate') });
  const raw = async (path: string, headers: Record<string, string> = {}) => {
    const url = `${app.url}/api/v4/projects/${project.id}/repository/files/${path}`;
    const response = await fetch(url, { headers: { 'private-token': developer.token, ...headers } });
    return [response.status, await response.text()];
  };
  expect(await raw('a%20b.bin/raw?lfs=true')).toEqual([200, 'granite']);
  expect(await raw('a%20b.bin/raw?lfs=true', { range: 'bytes=4-' })).toEqual([206, 'ite']);
  expect(await raw('a%20b.bin/raw')).toEqual([200, pointerTo('granite')]);
  // What the project does not have stays a pointer, whoever else has it.
  expect(await raw('c.bin/raw?lfs=true')).toEqual([200, pointerTo('slate')]);
  expect(await raw('b.txt/raw?lfs=true')).toEqual([200, 'b']);
  expect((await raw('nothing/raw?lfs=true'))[0]).toBe(404);
  await app.root(`PUT /projects/${project.id}`, { body: { lfs_enabled: false } });
  expect(await raw('a%20b.bin/raw?lfs=true')).toEqual([200, pointerTo('granite')]);
});

test('a merge request that changes what others than its author have locked says so, and is not merged', async () => {
  const { project, developer, maintainer, lock, unlock, push } = await makeWorld();
  await push(maintainer, { 'art/a.psd': 'other' }, 'topic');
  await push(maintainer, { 'b.txt': 'other' }, 'beside');
  const { iid } = await openMergeRequest(project.id, { source_branch: 'topic' });
  const beside = await openMergeRequest(project.id, { source_branch: 'beside' });
  await lock(developer, 'art');
  const id = await lock(developer, 'art/a.psd');
  await lock(maintainer, 'b.txt');
  await waitForFollowing(app);
  const at = `/projects/${project.id}/merge_requests` as const;
  const statusOf = async (of: number) => bodyOf(await app.root(`GET ${at}/${of}`), 200).detailed_merge_status;
  const merge = (of: number) => app.as(maintainer.token)(`PUT ${at}/${of}/merge`);
  // Both are root's.
  expect([await statusOf(iid), await statusOf(beside.iid)]).toEqual(['locked_lfs_files', 'locked_lfs_files']);
  const listed = bodyOf(await app.root(`GET ${at}`), 200);
  expect(listed.map((each: { detailed_merge_status: string }) => each.detailed_merge_status)).toEqual([
    'locked_lfs_files',
    'locked_lfs_files',
  ]);
  const refused = await merge(iid);
  expect([refused.status, refused.body.message]).toEqual([405, '405 Method Not Allowed']);
  expect((await unlock(developer, id)).status).toBe(200);
  expect([await statusOf(iid), await statusOf(beside.iid)]).toEqual(['mergeable', 'locked_lfs_files']);
  expect(bodyOf(await merge(iid), 200).state).toBe('merged');
});

test('what the author of a merge request has locked is merged', async () => {
  const { project, developer, maintainer, lock, push } = await makeWorld();
  await push(developer, { 'art/a.psd': 'newer' }, 'topic');
  await lock(developer, 'art/a.psd');
  const body = { title: 'Merge', source_branch: 'topic', target_branch: 'main' };
  const at = `/projects/${project.id}/merge_requests` as const;
  const { iid } = bodyOf(await app.as(developer.token)(`POST ${at}`, { body }), 201) as { iid: number };
  await waitForFollowing(app);
  expect(bodyOf(await app.root(`GET ${at}/${iid}`), 200).detailed_merge_status).toBe('mergeable');
  expect(bodyOf(await app.as(maintainer.token)(`PUT ${at}/${iid}/merge`), 200).state).toBe('merged');
});

test('a pushed merge that has one side of a locked file though the other changed it is refused', async () => {
  const { maintainer: owner, lock, clone, push } = await makeWorld();
  const others = await clone(admin);
  await commitFiles(others, { 'c.txt': 'c' });
  await lock(owner, 'art/a.psd');
  expect((await push(owner, { 'art/a.psd': 'newer' }, 'main')).taken).toBe(true);
  await mustGit(others, ['fetch', '-q']);
  const [topic] = (await mustGit(others, ['rev-parse', 'HEAD'])).split('\n');
  for (const strategy of ['ours', 'theirs'] as const) {
    await mustGit(others, ['reset', '-q', '--hard', topic ?? '']);
    // With the owner's file, and with that of before.
    await mustGit(others, ['merge', '-q', '--no-commit', 'origin/main']);
    if (strategy === 'ours') await mustGit(others, ['checkout', '-q', 'HEAD', '--', 'art/a.psd']);
    await mustGit(others, ['commit', '-q', '-m', 'Merge']);
    const { code, output } = await runGit(others, ['push', 'origin', 'HEAD:main']);
    if (strategy === 'theirs') expect([code, output]).toEqual([0, output]);
    else expect(output).toContain(`The path 'art/a.psd' is locked in Git LFS by @${owner.username}`);
  }
});

test('the default branch is not set back over what another one has locked', async () => {
  const { project, maintainer: owner, lock, clone, push } = await makeWorld();
  await lock(owner, 'art/a.psd');
  const work = await clone(admin);
  expect((await push(owner, { 'art/a.psd': 'newer' }, 'main')).taken).toBe(true);
  expect((await push(admin, { 'b.txt': 'newer' }, 'main')).taken).toBe(true);
  const body = { allow_force_push: true };
  bodyOf(await app.root(`PATCH /projects/${project.id}/protected_branches/main`, { body }), 200);
  const { output } = await runGit(work, ['push', '--force', 'origin', 'HEAD:main']);
  expect(output).toContain(`The path 'art/a.psd' is locked in Git LFS by @${owner.username}`);
  await mustGit(work, ['fetch', '-q']);
  expect((await runGit(work, ['push', '--force', 'origin', 'origin/main~1:main'])).code).toBe(0);
});

/** A push of a change to main, as its bytes. */
async function changeOf(clone: (user: MadeUser) => Promise<string>, user: MadeUser) {
  const work = await clone(user);
  const [before] = (await mustGit(work, ['rev-parse', 'HEAD'])).split('\n');
  await commitFiles(work, { 'art/a.psd': 'other' });
  const [after] = (await mustGit(work, ['rev-parse', 'HEAD'])).split('\n');
  const pack = join(work, 'sent');
  await mustGit(work, ['pack-objects', '-q', '--revs', pack], `${after}\n^${before}\n`);
  const [name] = readdirSync(work).filter((each) => each.endsWith('.pack'));
  const command = `${before} ${after} refs/heads/main\0report-status\n`;
  const line = `${(command.length + 4).toString(16).padStart(4, '0')}${command}0000`;
  return Buffer.concat([Buffer.from(line), readFileSync(join(work, name ?? ''))]);
}

/** Begins to push; the caller writes what is pushed. */
const beginPush = (path: string, user: MadeUser) =>
  httpRequest(`${app.url}/${path}.git/git-receive-pack`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`x:${user.token}`).toString('base64')}`,
      'content-type': 'application/x-git-receive-pack-request',
    },
  });

/** The server holds the repository: it has begun to take a push. */
const whileItTakes = () =>
  expect
    .poll(async () => {
      const uses = app.app.services.database.db.selectFrom('repository_uses').selectAll();
      return (await uses.where('purpose', '=', 'write').execute()).length;
    })
    .toBeGreaterThan(0);

const answerTo = async (request: ClientRequest): Promise<string> => {
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return text(response);
};

test('a lock that is made while a push comes holds for it', async () => {
  const { project, developer, maintainer, lock, clone } = await makeWorld();
  const sent = await changeOf(clone, maintainer);
  const request = beginPush(project.path_with_namespace, maintainer);
  const answer = answerTo(request);
  request.write(sent.subarray(0, -30));
  await whileItTakes();
  await lock(developer, 'art/a.psd');
  request.end(sent.subarray(-30));
  expect(await answer).toContain('pre-receive hook declined');
});

test.each(['before', 'while'])('a lock made %s a push comes that never ends holds for it', async (when) => {
  const { project, developer, maintainer, lock, clone } = await makeWorld();
  const sent = await changeOf(clone, maintainer);
  if (when === 'before') await lock(developer, 'art/a.psd');
  const request = beginPush(project.path_with_namespace, maintainer);
  const answer = answerTo(request);
  request.write(sent.subarray(0, -30));
  await whileItTakes();
  if (when === 'while') await lock(developer, 'art/a.psd');
  request.write(sent.subarray(-30));
  // git has all that it needs, and is not told that there is no more.
  const more = setInterval(() => request.write('x'), 20);
  try {
    expect(await answer).toContain('pre-receive hook declined');
  } finally {
    clearInterval(more);
    request.destroy();
  }
});

test('what a fork brings by a merge request has its objects, and no others', async () => {
  const { project, developer, maintainer, fetchObject, forkWith } = await makeWorld();
  const fork = await forkWith(developer, ['granite', 'slate'], { 'c.bin': pointerTo('granite') });
  const made = await openMergeRequest(fork.id, {
    source_branch: 'main',
    target_project_id: project.id,
  });
  await waitForFollowing(app);
  expect(await fetchObject(maintainer, 'granite')).toBe(404);
  bodyOf(await app.as(maintainer.token)(`PUT /projects/${project.id}/merge_requests/${made.iid}/merge`), 200);
  expect(await fetchObject(maintainer, 'granite')).toBe(200);
  expect(await fetchObject(maintainer, 'slate')).toBe(404);
});
