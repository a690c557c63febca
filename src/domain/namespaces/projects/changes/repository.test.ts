/** Effects of creating and changing a project on its repository. */

import { mkdtempSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useApp } from '../../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  makeGroup,
  makeProject,
  makeUser,
  uniqueName,
} from '../../../../../test/support/factories.ts';
import { fillProject } from '../../../../../test/support/repositories.ts';
import { gitText } from '../../../../platform/git/program/program.ts';
import { projectRepository } from '../../../repositories/store/containers.ts';

const storages = mkdtempSync(join(tmpdir(), 'ashlar-storages-'));
const ashlar = useApp({
  env: { ASHLAR_STORAGES: `default:${join(storages, 'one')},fast:${join(storages, 'two')}` },
});

const folderOf = (id: number, storage = 'default'): string =>
  ashlar.app.services.repositories.folder(projectRepository(id), storage);
const headOf = async (id: number): Promise<string> =>
  (await readFile(join(folderOf(id), 'HEAD'), 'utf8')).trim();

test('a README makes the first commit, on the branch that was asked for', async () => {
  const user = await makeUser(ashlar);
  const name = uniqueName('Read me');
  const body = {
    name,
    description: 'What it is.',
    initialize_with_readme: true,
    default_branch: 'trunk',
  };
  const project = bodyOf(await ashlar.as(user.token)('POST /projects', { body }), 201);
  expect(project).toMatchObject({ default_branch: 'trunk', empty_repo: false });
  expect(await headOf(project.id)).toBe('ref: refs/heads/trunk');
  const show = (...args: string[]) => gitText(args, { folder: folderOf(project.id) });
  expect(await show('show', 'trunk:README.md')).toBe(`# ${name}\n\nWhat it is.\n`);
  expect(await show('log', '--format=%s %an', 'trunk')).toBe(`Initial commit ${user.username}\n`);
});

test('in a group too, for who may create projects there; the name of the branch is the instance’s', async () => {
  const group = await makeGroup(ashlar);
  const user = await makeUser(ashlar);
  await addMember(ashlar, `groups/${group.id}`, user, 40);
  const body = { name: uniqueName('in-group'), namespace_id: group.id, initialize_with_readme: true };
  const project = bodyOf(await ashlar.as(user.token)('POST /projects', { body }), 201);
  expect(project).toMatchObject({ default_branch: 'main', empty_repo: false });
});

test('without one there is no branch, and the default branch may be any', async () => {
  const { id } = await makeProject(ashlar, { default_branch: 'trunk' });
  const put = (default_branch: string) => ashlar.root(`PUT /projects/${id}`, { body: { default_branch } });
  expect(bodyOf(await put('develop'), 200)).toMatchObject({ default_branch: 'develop', empty_repo: true });
  await fillProject(ashlar, id, [{ a: '1' }], 'develop');
  expect(bodyOf(await ashlar.root(`GET /projects/${id}`), 200)).toMatchObject({
    default_branch: 'develop',
    empty_repo: false,
  });
});

test('the default branch changes to one that is there, on disk and in the record', async () => {
  const { id } = await makeProject(ashlar);
  await fillProject(ashlar, id);
  await fillProject(ashlar, id, [{ a: '1' }], 'other');
  const put = (default_branch: string) => ashlar.root(`PUT /projects/${id}`, { body: { default_branch } });
  const refused = await put('none');
  expect([refused.status, refused.body.message]).toEqual([
    400,
    {
      base: ["Could not set the default branch. Do you have a branch named 'none' in your repository?"],
    },
  ]);
  expect(await headOf(id)).toBe('ref: refs/heads/main');
  expect(bodyOf(await put('other'), 200).default_branch).toBe('other');
  expect(await headOf(id)).toBe('ref: refs/heads/other');
  expect(bodyOf(await put('other'), 200).default_branch).toBe('other');
});

test.each(['--upload-pack=x', 'HEAD', 'a b', 'a\nb', 'f'.repeat(40), '../x'])(
  'the default branch %j is refused',
  async (default_branch) => {
    const body = { name: uniqueName('bad'), default_branch };
    const response = await ashlar.root('POST /projects', { body });
    expect([response.status, response.body.message]).toEqual([
      400,
      { default_branch: ['is not a valid branch name'] },
    ]);
  },
);

test('new projects go to the storages that have a weight', async () => {
  const weigh = (weights: Record<string, number>) =>
    ashlar.root('PUT /application/settings', { body: { repository_storages_weighted: weights } });
  bodyOf(await weigh({ default: 0, fast: 100 }), 200);
  const { id } = await makeProject(ashlar, { initialize_with_readme: true });
  expect(bodyOf(await ashlar.root(`GET /projects/${id}`), 200).repository_storage).toBe('fast');
  expect(await gitText(['rev-list', '--count', 'main'], { folder: folderOf(id, 'fast') })).toBe('1\n');
  bodyOf(await weigh({ default: 100 }), 200);
  const other = await makeProject(ashlar);
  expect(bodyOf(await ashlar.root(`GET /projects/${other.id}`), 200).repository_storage).toBe('default');
});
