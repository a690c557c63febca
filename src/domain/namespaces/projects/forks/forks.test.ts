/** Forks over HTTP: whole, independent of the source, and without remains when they fail. */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { useApp } from '../../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeGroup,
  makeProject,
  makeUser,
} from '../../../../../test/support/factories.ts';
import { overtake } from '../../../../../test/support/races.ts';
import { fillProject } from '../../../../../test/support/repositories.ts';
import type { Sql } from '../../../../platform/db/driver/sql.ts';
import { repackRepository } from '../../../../platform/git/copies/housekeeping.ts';
import { git, gitText, gitUnless } from '../../../../platform/git/program/program.ts';
import { projectRepository } from '../../../repositories/store/containers.ts';

const ashlar = useApp();
const folderOf = (id: number) => ashlar.app.services.repositories.folder(projectRepository(id), 'default');
const refsOf = async (id: number) =>
  (await gitText(['for-each-ref', '--format=%(refname) %(objectname)'], { folder: folderOf(id) }))
    .trim()
    .split('\n');
const fsck = (id: number) => git(['fsck', '--full', '--strict'], { folder: folderOf(id) });

let user: MadeUser;
let source: MadeProject;
let head: string;
const fork = (body: object = {}, token = user.token) =>
  ashlar.as(token)(`POST /projects/${source.id}/fork`, { body });

beforeAll(async () => {
  user = await makeUser(ashlar);
});
beforeEach(async () => {
  source = await makeProject(ashlar, { visibility: 'internal', description: 'The first one' });
  head = await fillProject(ashlar, source.id, [{ 'a.txt': 'one' }, { 'a.txt': 'two' }], 'trunk');
});

describe('a fork', () => {
  test('has all branches and tags, the same objects, and what its source says of itself', async () => {
    const folder = folderOf(source.id);
    await git(['update-ref', 'refs/tags/v1', head], { folder });
    await git(['update-ref', 'refs/hidden/x', head], { folder });
    await repackRepository(folder, { whole: true });
    const made = bodyOf(await fork(), 201);
    expect(made).toMatchObject({
      name: source.path_with_namespace.split('/')[1],
      path_with_namespace: `${user.username}/${source.path_with_namespace.split('/')[1]}`,
      description: 'The first one',
      visibility: 'internal',
      default_branch: 'trunk',
      empty_repo: false,
      import_status: 'finished',
      forked_from_project: { id: source.id },
    });
    expect(await refsOf(made.id)).toEqual([`refs/heads/trunk ${head}`, `refs/tags/v1 ${head}`]);
    await fsck(made.id);
    const packs = join(folderOf(made.id), 'objects', 'pack');
    const [pack] = (await readdir(packs)).filter((name) => name.endsWith('.pack'));
    expect((await stat(join(packs, pack ?? ''))).nlink).toBe(2);
    expect(bodyOf(await ashlar.root(`GET /projects/${source.id}`), 200).forks_count).toBe(1);
    const forks = bodyOf(await ashlar.root(`GET /projects/${source.id}/forks`), 200);
    expect(forks.map(({ id }: { id: number }) => id)).toEqual([made.id]);
    const protectedBranches = await ashlar.root(`GET /projects/${made.id}/protected_branches`);
    expect(bodyOf(protectedBranches, 200)).toMatchObject([{ name: 'trunk' }]);
  });

  test('outlives its source', async () => {
    const made = bodyOf(await fork(), 201);
    await rm(folderOf(source.id), { recursive: true });
    await ashlar.app.services.database.sql`delete from projects where id = ${source.id}`;
    await fsck(made.id);
    const after = await fillProject(ashlar, made.id, [{ 'b.txt': 'more' }], 'topic');
    expect(await refsOf(made.id)).toEqual([`refs/heads/topic ${after}`, `refs/heads/trunk ${head}`]);
  });

  test('does not change when its source does', async () => {
    const made = bodyOf(await fork(), 201);
    await fillProject(ashlar, source.id, [{ 'a.txt': 'three' }], 'trunk');
    await repackRepository(folderOf(source.id), { whole: true, grace: 'now' });
    expect(await refsOf(made.id)).toEqual([`refs/heads/trunk ${head}`]);
    await fsck(made.id);
  });

  test('of one branch has nothing of the others', async () => {
    const other = await fillProject(ashlar, source.id, [{ 'secret.txt': 'x' }], 'other');
    const made = bodyOf(await fork({ branches: 'trunk' }), 201);
    expect(made.default_branch).toBe('trunk');
    expect(await refsOf(made.id)).toEqual([`refs/heads/trunk ${head}`]);
    expect(await gitUnless(1, ['cat-file', '-e', other], { folder: folderOf(made.id) })).toBeUndefined();
    await fsck(made.id);
  });

  test('of a project without commits is empty', async () => {
    const empty = await makeProject(ashlar, { visibility: 'internal' });
    const made = bodyOf(await ashlar.as(user.token)(`POST /projects/${empty.id}/fork`), 201);
    expect(made).toMatchObject({ empty_repo: true, forked_from_project: { id: empty.id } });
    await fillProject(ashlar, made.id);
    expect(bodyOf(await ashlar.root(`GET /projects/${made.id}`), 200).empty_repo).toBe(false);
  });

  test('is whole although its source is pushed to and repacked meanwhile', async () => {
    const group = await makeGroup(ashlar, { visibility: 'internal' });
    await addMember(ashlar, `groups/${group.id}`, user, 40);
    const folder = folderOf(source.id);
    for (let round = 0; round < 4; round++) {
      const [made] = await Promise.all([
        fork({ namespace_id: group.id, path: `round-${round}`, name: `Round ${round}` }),
        repackRepository(folder, { whole: round % 2 === 0 }),
        fillProject(ashlar, source.id, [{ 'c.txt': `${round}` }, { 'c.txt': `${round} more` }], 'busy'),
      ]);
      const { id } = bodyOf(made, 201);
      expect(await refsOf(id)).toContain(`refs/heads/trunk ${head}`);
      await fsck(id);
    }
  });

  test('goes where the caller may create projects, under the name that they give', async () => {
    const group = await makeGroup(ashlar, { visibility: 'internal' });
    const body = { path: 'other', name: 'Another', description: '', mr_default_target_self: true };
    expect((await fork({ ...body, namespace_path: group.full_path })).status).toBe(403);
    await addMember(ashlar, `groups/${group.id}`, user, 30);
    const made = bodyOf(await fork({ ...body, namespace_path: group.full_path }), 201);
    expect(made).toMatchObject({
      path_with_namespace: `${group.full_path}/other`,
      name: 'Another',
      description: '',
      mr_default_target_self: true,
    });
    expect((await fork({ ...body, namespace: String(group.id) })).status).toBe(409);
    expect((await fork({ ...body, namespace_id: group.id })).status).toBe(409);
  });

  test('hides what its source hides', async () => {
    const settings = { repository_access_level: 'private', wiki_access_level: 'disabled' };
    bodyOf(await ashlar.root(`PUT /projects/${source.id}`, { body: settings }), 200);
    await addMember(ashlar, `projects/${source.id}`, user, 20);
    expect(bodyOf(await fork(), 201)).toMatchObject(settings);
  });
});

describe('there is no fork', () => {
  const projects = async () => (await ashlar.app.services.database.sql`select id from projects`).length;

  test.each<[string, object, number]>([
    ['of a branch that is not there', { branches: 'nowhere' }, 404],
    ['of what is no branch', { branches: '--upload-pack=touch' }, 404],
    ['in a namespace that is not there', { namespace_path: 'no/where' }, 404],
    ["in another's namespace", { namespace_path: 'root' }, 404],
    ['that more people see than its source', { visibility: 'public' }, 409],
    ['with a path that is none', { path: '-x' }, 400],
  ])('%s', async (_, body, status) => {
    const before = await projects();
    expect((await fork(body)).status).toBe(status);
    expect(await projects()).toBe(before);
  });

  test('where the namespace has one, also when both are asked for at once', async () => {
    const responses = await Promise.all([fork(), fork()]);
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect((await fork()).status).toBe(409);
  });

  test('of a project that does not let itself be forked', async () => {
    const body = { forking_access_level: 'private' };
    bodyOf(await ashlar.root(`PUT /projects/${source.id}`, { body }), 200);
    expect((await fork()).status).toBe(403);
    const disabled = { forking_access_level: 'disabled' };
    bodyOf(await ashlar.root(`PUT /projects/${source.id}`, { body: disabled }), 200);
    const group = await makeGroup(ashlar, { visibility: 'internal' });
    expect(
      (await ashlar.root(`POST /projects/${source.id}/fork`, { body: { namespace_id: group.id } })).status,
    ).toBe(403);
  });

  test('of a project that the caller does not see, or may not read the code of', async () => {
    const hidden = await makeProject(ashlar);
    const path = `POST /projects/${hidden.id}/fork`;
    expect((await ashlar.as(user.token)(path)).status).toBe(404);
    await addMember(ashlar, `projects/${hidden.id}`, user, 10);
    expect((await ashlar.as(user.token)(path)).status).toBe(403);
    expect((await ashlar.call(path)).status).toBe(401);
  });

  test('of a damaged repository: nothing stays, and the path is free', async () => {
    const folder = folderOf(source.id);
    const missing = join(folder, 'objects', head.slice(0, 2), head.slice(2));
    await rm(missing);
    expect((await fork()).status).toBe(500);
    const path = encodeURIComponent(`${user.username}/${source.path_with_namespace.split('/')[1]}`);
    expect((await ashlar.as(user.token)(`GET /projects/${path}`)).status).toBe(404);
  });
});

describe('a fork is never made more visible than its source', () => {
  const setVisibility = (id: number, visibility: string, as = ashlar.root) =>
    as(`PUT /projects/${id}`, { body: { visibility } });
  const visibilityOf = async (id: number) => bodyOf(await ashlar.root(`GET /projects/${id}`), 200).visibility;

  test('by its owner, by an administrator, or as a fork of a fork', async () => {
    const owner = ashlar.as(user.token);
    const made = bodyOf(await fork({ visibility: 'private' }), 201);
    const second = await makeUser(ashlar);
    await addMember(ashlar, `projects/${made.id}`, second, 40);
    const again = bodyOf(await ashlar.as(second.token)(`POST /projects/${made.id}/fork`), 201);
    expect(again.visibility).toBe('private');
    for (const refused of [
      await setVisibility(made.id, 'public', owner),
      await setVisibility(made.id, 'public'),
      await setVisibility(again.id, 'internal', ashlar.as(second.token)),
    ]) {
      expect(refused.status).toBe(400);
      expect(refused.body.message.visibility_level[0]).toMatch(
        /is not allowed since the fork source project has lower visibility\.$/,
      );
    }
    bodyOf(await setVisibility(made.id, 'internal', owner), 200);
    bodyOf(await setVisibility(again.id, 'internal', ashlar.as(second.token)), 200);
    bodyOf(await setVisibility(source.id, 'public'), 200);
    bodyOf(await setVisibility(made.id, 'public', owner), 200);
    // A fork that is more visible already stays so, and cannot be opened again once it was closed.
    bodyOf(await setVisibility(source.id, 'private'), 200);
    bodyOf(
      await owner(`PUT /projects/${made.id}`, { body: { description: 'x', visibility: 'public' } }),
      200,
    );
    bodyOf(await setVisibility(made.id, 'private', owner), 200);
    expect((await setVisibility(made.id, 'internal', owner)).status).toBe(400);
  });

  test('where the move of a group hid the source', async () => {
    const open = await makeGroup(ashlar, { visibility: 'internal' });
    const closed = await makeGroup(ashlar, { visibility: 'private' });
    const inside = await makeProject(ashlar, { visibility: 'internal', namespace_id: open.id });
    const made = bodyOf(await ashlar.as(user.token)(`POST /projects/${inside.id}/fork`), 201);
    bodyOf(await setVisibility(made.id, 'private', ashlar.as(user.token)), 200);
    bodyOf(await ashlar.root(`POST /groups/${open.id}/transfer`, { body: { group_id: closed.id } }), 201);
    expect(await visibilityOf(inside.id)).toBe('private');
    expect((await setVisibility(made.id, 'internal', ashlar.as(user.token))).status).toBe(400);
  });

  test('while the source is being hidden', async () => {
    const made = bodyOf(await fork({ visibility: 'private' }), 201);
    const hide = (id: number) => (tx: Sql) => tx`update projects set visibility = 0 where id = ${id}`;
    const opened = await overtake(ashlar, hide(source.id), () =>
      setVisibility(made.id, 'internal', ashlar.as(user.token)),
    );
    expect(opened.status).toBe(400);
    const other = await makeProject(ashlar, { visibility: 'internal' });
    const forked = await overtake(ashlar, hide(other.id), () =>
      ashlar.as(user.token)(`POST /projects/${other.id}/fork`, { body: { path: 'late', name: 'late' } }),
    );
    expect([forked.status, forked.text]).toEqual([409, expect.stringContaining('lower visibility')]);
  });
});
