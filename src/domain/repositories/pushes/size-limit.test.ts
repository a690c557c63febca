/** `repository_size_limit`: who sets it, what it is inherited from, and every way in which a repository grows. */
import { createHash, randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  makeGroup,
  makeMembers,
  makeProject,
  uniqueName,
} from '../../../../test/support/factories.ts';
import { addressOf, commitFiles, makeHome, mustGit, runGit } from '../../../../test/support/git.ts';
import { commitTo, makeMergeRequest } from '../../../../test/support/merge-requests.ts';
import { ROOT_TOKEN } from '../../../../test/support/postgres.ts';

const app = useApp();
const free = useApp({ env: { ASHLAR_TIER: 'free' } });
const home = makeHome();
afterAll(() => rmSync(home, { recursive: true, force: true }));
const MIB = 1_048_576;
const ASK = 'Please contact your administrator for more information.';
const TOO_MUCH = `Your push to this repository would cause it to exceed the size limit of 1 MiB so it has been rejected. ${ASK}`;

/** A text that no program makes much smaller. */
const noise = (bytes: number): string => randomBytes(bytes).toString('latin1').replace(/\0/g, 'x');
const put = (path: string, repository_size_limit: number | null, as = app.root) =>
  as(`PUT ${path}`, { body: { repository_size_limit } });
const ofInstance = (limit: number) => put('/application/settings', limit);
afterEach(async () => void bodyOf(await ofInstance(0), 200));

async function makeWorld(limit: number | null = 1) {
  const group = await makeGroup(app);
  const project = await makeProject(app, { namespace_id: group.id });
  const { developer, maintainer } = await makeMembers(
    app,
    `projects/${project.id}`,
    'developer',
    'maintainer',
  );
  await commitTo(app, project.id, 'main', { 'a.txt': 'a' });
  bodyOf(await put(`/projects/${project.id}`, limit), 200);
  const path = `/projects/${project.id}`;
  const clone = async (): Promise<string> => {
    const work = join(home, uniqueName('work'));
    const address = addressOf(app.url, project.path_with_namespace, developer.token);
    await mustGit(home, ['clone', '-q', address, work]);
    return work;
  };
  const push = async (bytes: number, branch = uniqueName('branch')) => {
    const work = await clone();
    await commitFiles(work, { [branch]: noise(bytes) });
    const { code, output } = await runGit(work, ['push', 'origin', `HEAD:refs/heads/${branch}`]);
    return { taken: code === 0, output: output.replace(/^remote: /gm, '').replaceAll('\n', ' ') };
  };
  const commit = (bytes: number, branch = 'main') => {
    const actions = [
      {
        action: 'create',
        file_path: uniqueName('file'),
        content: randomBytes(bytes).toString('base64'),
        encoding: 'base64',
      },
    ];
    return app.as(maintainer.token)(`POST ${path}/repository/commits`, {
      body: { branch, commit_message: 'x', actions },
    });
  };
  const size = async (): Promise<number> => {
    bodyOf(await app.root(`POST ${path}/repository_size`), 201);
    return bodyOf(await app.root(`GET ${path}`, { query: 'statistics=true' }), 200).statistics
      .repository_size;
  };
  const lfs = (method: string, at: string, body: unknown) => {
    const authorization = `Basic ${Buffer.from(`x:${developer.token}`).toString('base64')}`;
    return fetch(`${app.url}/${project.path_with_namespace}.git/${at}`, {
      method,
      headers: { authorization, 'content-type': 'application/vnd.git-lfs+json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  };
  const sha256 = (content: string): string => createHash('sha256').update(content).digest('hex');
  const bring = (content: string) => lfs('PUT', `lfs/objects/${sha256(content)}/${content.length}`, content);
  const batch = (...contents: string[]) =>
    lfs('POST', 'info/lfs/objects/batch', {
      operation: 'upload',
      objects: contents.map((content) => ({ oid: sha256(content), size: content.length })),
    });
  return { group, project, path, developer, maintainer, clone, push, commit, size, bring, batch };
}

test('administrators alone set it, in MiB, and see it, in bytes', async () => {
  const { group, path, maintainer } = await makeWorld(null);
  const groupPath = `/groups/${group.id}`;
  const { owner } = await makeMembers(app, `groups/${group.id}`, 'owner');
  for (const each of [path, groupPath]) {
    expect(bodyOf(await app.root(`GET ${each}`), 200).repository_size_limit).toBeNull();
    expect(bodyOf(await put(each, 2), 200).repository_size_limit).toBe(2 * MIB);
    expect(bodyOf(await app.root(`GET ${each}`), 200).repository_size_limit).toBe(2 * MIB);
    for (const user of [owner, maintainer]) {
      expect((await put(each, 3, app.as(user.token))).status).toBe(403);
      expect((await app.as(user.token)(`GET ${each}`)).body).not.toHaveProperty('repository_size_limit');
    }
    // What is shown is too large to be given.
    for (const wrong of [2 * MIB, -1]) expect((await put(each, wrong)).status).toBe(400);
  }
  const body = { name: uniqueName('limited'), repository_size_limit: 5 };
  expect(bodyOf(await app.root('POST /projects', { body }), 201).repository_size_limit).toBe(5 * MIB);
  expect((await app.as(maintainer.token)('POST /projects', { body })).status).toBe(403);
  expect(bodyOf(await ofInstance(7), 200).repository_size_limit).toBe(7 * MIB);
  expect(bodyOf(await app.root('GET /application/settings'), 200).repository_size_limit).toBe(7 * MIB);
});

test('the limit of the project, else of the nearest group, else of the instance', async () => {
  const outer = await makeGroup(app);
  const inner = await makeGroup(app, { parent_id: outer.id });
  const { id } = await makeProject(app, { namespace_id: inner.id });
  await commitTo(app, id, 'main', { 'a.txt': 'a' });
  const commit = async () => {
    const content = randomBytes(MIB + 1).toString('base64');
    const actions = [{ action: 'create', file_path: uniqueName('file'), content, encoding: 'base64' }];
    const body = { branch: 'main', commit_message: 'x', actions };
    return (await app.root(`POST /projects/${id}/repository/commits`, { body })).status;
  };
  bodyOf(await ofInstance(1), 200);
  expect(await commit()).toBe(400);
  bodyOf(await put(`/groups/${outer.id}`, 0), 200);
  expect(await commit()).toBe(201);
  bodyOf(await put(`/groups/${inner.id}`, 1), 200);
  expect(await commit()).toBe(400);
  bodyOf(await put(`/projects/${id}`, 100), 200);
  expect(await commit()).toBe(201);
  bodyOf(await put(`/projects/${id}`, null), 200);
  expect(await commit()).toBe(400);
  bodyOf(await put(`/groups/${inner.id}`, null), 200);
  expect(await commit()).toBe(201);
});

test('a push that would exceed it is refused, and what it brought is not kept', async () => {
  const { path, clone, push, size } = await makeWorld();
  expect((await push(700_000, 'first')).taken).toBe(true);
  const before = await size();
  const refused = await push(500_000);
  expect(refused.output).toContain(TOO_MUCH);
  expect(refused.output).toContain('pre-receive hook declined');
  expect(await size()).toBe(before);
  expect((await push(100_000)).taken).toBe(true);
  bodyOf(await put(path, 2), 200);
  expect((await push(500_000)).taken).toBe(true);
  bodyOf(await put(path, 1), 200);
  const above = await push(1);
  expect(above.output).toContain(
    `Your push has been rejected, because this repository has exceeded its size limit of 1 MiB by`,
  );
  const work = await clone();
  expect((await runGit(work, ['push', 'origin', ':first'])).code).toBe(0);
});

test('commits, branches and merges over the API are refused', async () => {
  const { project, path, commit, size } = await makeWorld();
  const { iid } = await makeMergeRequest(app, project.id, 'topic');
  const refused = await commit(MIB);
  expect(refused).toMatchObject({ status: 400, body: { message: TOO_MUCH } });
  bodyOf(await commit(900_000), 201);
  // Counted at once, and once more than measured at most.
  expect(await commit(200_000)).toMatchObject({ status: 400, body: { message: TOO_MUCH } });
  bodyOf(await put(path, 2), 200);
  bodyOf(await commit(400_000), 201);
  bodyOf(await put(path, 1), 200);
  expect(await size()).toBeGreaterThan(MIB);
  const above = 'because this repository has exceeded its size limit of 1 MiB by';
  expect((await commit(1)).body.message).toMatch(`Your changes could not be committed, ${above}`);
  const branches = `${path}/repository/branches`;
  expect((await app.root(`POST ${branches}`, { query: 'branch=x&ref=main' })).body.message).toMatch(above);
  expect(await app.root(`PUT ${path}/merge_requests/${iid}/merge`)).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining(`This merge request cannot be merged, ${above}`) },
  });
  expect((await app.root(`DELETE ${branches}/topic`)).status).toBe(204);
  bodyOf(await put(path, 0), 200);
  bodyOf(await commit(1), 201);
});

test('large files count: when they are announced, when they come, and for what is pushed', async () => {
  const { bring, batch, push } = await makeWorld();
  const [one, other] = ['a'.repeat(600_000), 'b'.repeat(600_000)];
  expect((await batch(one, other)).status).toBe(406);
  expect((await batch(one)).status).toBe(200);
  expect((await batch(other)).status).toBe(200);
  expect((await bring(one)).status).toBe(200);
  const announced = await batch(other);
  expect(announced.status).toBe(406);
  expect(((await announced.json()) as { message: string }).message).toMatch(
    /^Your push has been rejected, because this repository has exceeded its size limit of 1 MiB by \d+ KiB\. Please/,
  );
  expect((await bring(other)).status).toBe(406);
  // What the project has, it has.
  expect((await batch(one)).status).toBe(200);
  expect((await bring(one)).status).toBe(200);
  expect((await push(500_000)).output).toContain(TOO_MUCH);
});

test('large files of the source count in a fork, whatever sizes are told', async () => {
  const { path, bring } = await makeWorld(null);
  const body = { name: uniqueName('fork'), path: uniqueName('fork') };
  const { id, path_with_namespace } = bodyOf(await app.root(`POST ${path}/fork`, { body }), 201);
  bodyOf(await put(`/projects/${id}`, 1), 200);
  const content = 'c'.repeat(2 * MIB);
  expect((await bring(content)).status).toBe(200);
  const oid = createHash('sha256').update(content).digest('hex');
  const { status } = await fetch(
    `${addressOf(app.url, path_with_namespace, ROOT_TOKEN)}/info/lfs/objects/batch`.replace(
      /\/\/[^@]*@/,
      '//',
    ),
    {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`root:${ROOT_TOKEN}`).toString('base64')}`,
        'content-type': 'application/vnd.git-lfs+json',
      },
      body: JSON.stringify({ operation: 'upload', objects: [{ oid, size: 1 }] }),
    },
  );
  expect(status).toBe(200);
  const { statistics } = bodyOf(await app.root(`GET /projects/${id}`, { query: 'statistics=true' }), 200);
  expect(statistics.lfs_objects_size).toBe(0);
});

test('pushes, commits and large files at once do not exceed it together', async () => {
  const { project, push, commit, bring, size } = await makeWorld();
  const pushes = Array.from({ length: 4 }, () => push(200_000).then(({ taken }) => taken));
  const commits = Array.from({ length: 4 }, async (_, at) => {
    const start = await app.root(`POST /projects/${project.id}/repository/branches`, {
      query: `branch=b${at}&ref=main`,
    });
    return start.status === 201 && (await commit(200_000, `b${at}`)).status === 201;
  });
  const files = Array.from(
    { length: 4 },
    async (_, at) => (await bring(String(at).repeat(200_000))).status === 200,
  );
  const outcomes = await Promise.all([...pushes, ...commits, ...files]);
  const taken = outcomes.filter(Boolean).length;
  expect(taken).toBeGreaterThan(1);
  expect(taken).toBeLessThan(6);
  const statistics = bodyOf(
    await app.root(`GET /projects/${project.id}`, { query: 'statistics=true' }),
    200,
  ).statistics;
  expect((await size()) + statistics.lfs_objects_size).toBeLessThanOrEqual(MIB);
});

test('what is counted while a repository is measured is not forgotten', async () => {
  const { project, commit } = await makeWorld();
  const { sql } = app.app.services.database;
  const housekeeping = app.app.capabilities.find(({ name }) => name === 'housekeeping');
  await housekeeping?.tasks?.['housekeeping.measure']?.({});
  const rowOf = async () =>
    (
      await sql<{ size: number; writes: number; measured_writes: number }[]>`
        select size, writes, measured_writes from repositories where container = 'project' and container_id = ${project.id}`
    )[0];
  const before = await rowOf();
  bodyOf(await commit(300_000), 201);
  const counted = await rowOf();
  expect((counted?.size ?? 0) - (before?.size ?? 0)).toBeGreaterThan(300_000);
  await housekeeping?.tasks?.['housekeeping.measure']?.({});
  const measured = await rowOf();
  expect(measured?.measured_writes).toBe(measured?.writes);
  expect(Math.abs((measured?.size ?? 0) - (counted?.size ?? 0))).toBeLessThan(10_000);
});

test('below the tier that has it there is no limit', async () => {
  const { id } = await makeProject(free, { initialize_with_readme: true });
  const body = { repository_size_limit: 1 };
  bodyOf(await free.root('PUT /application/settings', { body }), 200);
  expect(bodyOf(await free.root(`PUT /projects/${id}`, { body }), 200)).not.toHaveProperty(
    'repository_size_limit',
  );
  const content = randomBytes(2 * MIB).toString('base64');
  const actions = [{ action: 'create', file_path: 'b', content, encoding: 'base64' }];
  const commit = { branch: 'main', commit_message: 'x', actions };
  bodyOf(await free.root(`POST /projects/${id}/repository/commits`, { body: commit }), 201);
});
