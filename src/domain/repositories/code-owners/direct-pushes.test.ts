/** Pushes and commits straight into a branch whose code owners are asked, by git and over HTTP. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeUser,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
  uniqueName,
} from '../../../../test/support/factories.ts';
import { addressOf, commitFiles, makeHome, mustGit, runGit } from '../../../../test/support/git.ts';
import { commitTo } from '../../../../test/support/merge-requests.ts';

const app = useApp({ env: { ASHLAR_TIER: 'premium' } });
const home = makeHome();
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** A project into whose main developers push, and where code owners are asked. */
async function makeOwned(owners: (people: { developer: MadeUser; maintainer: MadeUser }) => string) {
  const project = await makeProject(app);
  const members = await makeMembers(app, `projects/${project.id}`, 'developer', 'maintainer');
  await commitTo(app, project.id, 'main', {
    CODEOWNERS: owners(members),
    'code.rb': 'code\n',
    'docs/a.md': 'text\n',
  });
  const protect = async (body: Record<string, unknown>) =>
    bodyOf(await app.root(`PATCH /projects/${project.id}/protected_branches/main`, { body }), 200);
  await protect({ allowed_to_push: [{ access_level: 30 }], code_owner_approval_required: true });
  /** Pushes a commit upon what main is now; whether it was taken, and what git said. */
  const push = async (
    user: MadeUser,
    files: Record<string, string>,
    ...options: string[]
  ): Promise<{ taken: boolean; output: string }> => {
    const work = join(home, uniqueName('work'));
    const url = addressOf(app.url, project.path_with_namespace, user.token);
    await mustGit(home, ['clone', '-q', url, work]);
    await commitFiles(work, files);
    const refs = options.length > 0 ? options : ['HEAD:main'];
    const { code, output } = await runGit(work, ['push', 'origin', ...refs]);
    return { taken: code === 0, output };
  };
  const commit = (user: MadeUser, file_path: string, more: Record<string, unknown> = {}) =>
    app.as(user.token)(`POST /projects/${project.id}/repository/commits`, {
      body: {
        branch: 'main',
        commit_message: 'Change',
        actions: [{ action: 'update', file_path, content: uniqueName('content') }],
        ...more,
      },
    });
  return { project, protect, push, commit, ...members };
}

test('a git push that changes what others own is refused, with what it is', async () => {
  const { push, developer, maintainer, project } = await makeOwned(
    ({ maintainer }) =>
      `*.rb @${maintainer.username}\n^[Docs] @${maintainer.username}\n/docs/\n[None]\n*.txt @nobody-there\n`,
  );
  const refused = await push(developer, { 'code.rb': 'other\n', 'docs/a.md': 'other\n', 'x.txt': 'x' });
  expect(refused.taken).toBe(false);
  expect(refused.output).toContain(
    'remote: You are no code owner of files that this changes (*.rb, /docs/).',
  );
  expect(refused.output).toContain('[remote rejected] HEAD -> main (pre-receive hook declined)');
  // One branch of several is enough; others are not judged.
  const both = await push(developer, { 'code.rb': 'other\n' }, 'HEAD:main', 'HEAD:refs/heads/topic');
  expect(both.taken).toBe(false);
  expect((await app.root(`GET /projects/${project.id}/repository/branches/topic`)).status).toBe(404);
  expect((await push(developer, { 'code.rb': 'other\n' }, 'HEAD:refs/heads/topic')).taken).toBe(true);
  // What nobody owns, or an owner changes.
  expect((await push(developer, { 'x.txt': 'x', 'y.py': 'y' })).taken).toBe(true);
  expect((await push(maintainer, { 'code.rb': 'other\n', 'docs/a.md': 'other\n' })).taken).toBe(true);
});

test('by the file of the branch as it was: a push that takes the owners out is refused', async () => {
  const { push, developer } = await makeOwned(
    ({ maintainer }) => `CODEOWNERS @${maintainer.username}\n*.rb @${maintainer.username}\n`,
  );
  expect((await push(developer, { CODEOWNERS: '', 'code.rb': 'other\n' })).taken).toBe(false);
  expect((await push(developer, { 'docs/CODEOWNERS': '' })).taken).toBe(false);
  expect((await push(developer, { 'docs/other.md': '' })).taken).toBe(true);
});

test('whom the protection names pushes; a role names nobody', async () => {
  const { push, commit, protect, developer, maintainer } = await makeOwned(() => '* @root\n');
  expect((await push(maintainer, { 'code.rb': 'other\n' })).taken).toBe(false);
  await protect({ allowed_to_push: [{ user_id: developer.id }] });
  expect((await push(developer, { 'code.rb': 'other\n' })).taken).toBe(true);
  bodyOf(await commit(developer, 'code.rb'), 201);
  expect((await push(maintainer, { 'code.rb': 'another\n' })).taken).toBe(false);
  await protect({ code_owner_approval_required: false });
  expect((await push(maintainer, { 'code.rb': 'another\n' })).taken).toBe(true);
});

test('commits over the API are refused alike, however they are made', async () => {
  const { commit, project, developer, maintainer } = await makeOwned(
    ({ maintainer }) => `*.rb @${maintainer.username}\n`,
  );
  const as = app.as(developer.token);
  const path = `/projects/${project.id}/repository` as const;
  const refused = await commit(developer, 'code.rb');
  expect(refused.status).toBe(403);
  expect(refused.body.message).toContain('You are no code owner of files that this changes (*.rb).');
  const file = { branch: 'main', commit_message: 'Change', content: 'x' };
  expect((await as(`PUT ${path}/files/code.rb`, { body: file })).status).toBe(403);
  expect((await as(`DELETE ${path}/files/code.rb`, { body: { ...file, content: undefined } })).status).toBe(
    403,
  );
  bodyOf(await commit(developer, 'docs/a.md'), 201);
  const { id: sha } = bodyOf(
    await commit(developer, 'code.rb', { branch: 'topic', start_branch: 'main' }),
    201,
  );
  const pick = { body: { branch: 'main' } };
  expect((await as(`POST ${path}/commits/${sha}/cherry_pick`, pick)).status).toBe(403);
  bodyOf(await app.as(maintainer.token)(`POST ${path}/commits/${sha}/cherry_pick`, pick), 201);
});

test('groups and roles own by what they are at the moment', async () => {
  const group = await makeGroup(app);
  const { push, project, developer } = await makeOwned(() => `*.rb @${group.full_path} @@maintainer\n`);
  const member = await makeUser(app);
  await addMember(app, `groups/${group.id}`, member, 30);
  await addMember(app, `projects/${project.id}`, member, 30);
  expect((await push(member, { 'code.rb': 'other\n' })).taken).toBe(false);
  const body = { group_id: group.id, group_access: 30 };
  bodyOf(await app.root(`POST /projects/${project.id}/share`, { body }), 201);
  expect((await push(member, { 'code.rb': 'other\n' })).taken).toBe(true);
  expect((await push(developer, { 'code.rb': 'more\n' })).taken).toBe(false);
  await app.root(`PUT /projects/${project.id}/members/${developer.id}`, { body: { access_level: 40 } });
  expect((await push(developer, { 'code.rb': 'more\n' })).taken).toBe(true);
});

test('what is too much to tell is refused, and a push that is none is no harm', async () => {
  const { push, developer, project, protect } = await makeOwned(() => `${'# a comment\n'.repeat(30_000)}`);
  const refused = await push(developer, { 'code.rb': 'other\n' });
  expect(refused.output).toContain(
    'remote: CODEOWNERS is too long, or too much is changed, to tell who owns it.',
  );
  await protect({ allow_force_push: true, code_owner_approval_required: false });
  expect((await push(developer, { 'code.rb': 'other\n' })).taken).toBe(true);
  await protect({ code_owner_approval_required: true });
  const { id } = project;
  const main = bodyOf(await app.root(`GET /projects/${id}/repository/branches/main`), 200);
  // To a commit that the repository has already, back and forth.
  const [parent] = main.commit.parent_ids;
  expect((await push(developer, { y: 'y' }, '--force', `${parent}:refs/heads/main`)).taken).toBe(false);
});

test('a lower tier asks nobody', async () => {
  const { config } = app.app.services;
  const { push, commit, developer } = await makeOwned(() => '* @root\n');
  Object.assign(config, { tier: 'free' });
  try {
    expect((await push(developer, { 'code.rb': 'other\n' })).taken).toBe(true);
    bodyOf(await commit(developer, 'code.rb'), 201);
  } finally {
    Object.assign(config, { tier: 'premium' });
  }
  expect((await push(developer, { 'code.rb': 'more\n' })).taken).toBe(false);
});
