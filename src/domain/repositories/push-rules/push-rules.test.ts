/** Push rules over HTTP, and what they do to pushes by git and to every other write of a repository. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeUser,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
  uniqueName,
} from '../../../../test/support/factories.ts';
import { addressOf, commitFiles, makeHome, mustGit, runGit } from '../../../../test/support/git.ts';
import { gitRunsDuring } from '../../../../test/support/git-runs.ts';
import { commitTo, makeMergeRequest } from '../../../../test/support/merge-requests.ts';

const app = useApp({ env: { ASHLAR_TIER: 'premium' } });
const home = makeHome();
afterAll(() => rmSync(home, { recursive: true, force: true }));

const nothing = {
  commit_message_regex: null,
  commit_message_negative_regex: null,
  branch_name_regex: null,
  author_email_regex: null,
  file_name_regex: null,
  max_file_size: 0,
  deny_delete_tag: false,
  member_check: false,
  prevent_secrets: false,
  commit_committer_check: false,
  commit_committer_name_check: false,
  reject_unsigned_commits: false,
  reject_non_dco_commits: false,
};

/** A project with a first commit, a rule, and who pushes to it. */
async function makeRuled(rule: Record<string, unknown>) {
  const project = await makeProject(app);
  const { developer, maintainer } = await makeMembers(
    app,
    `projects/${project.id}`,
    'developer',
    'maintainer',
  );
  await commitTo(app, project.id, 'main', { 'a.txt': 'a\n' });
  await app.root(`DELETE /projects/${project.id}/protected_branches/main`);
  bodyOf(await app.root(`POST /projects/${project.id}/push_rule`, { body: rule }), 201);
  const clone = async (user: MadeUser): Promise<string> => {
    const work = join(home, uniqueName('work'));
    await mustGit(home, ['clone', '-q', addressOf(app.url, project.path_with_namespace, user.token), work]);
    return work;
  };
  /** Pushes a commit upon what main is now; undefined where it was taken, else what git said. */
  const push = async (
    files: Record<string, string>,
    { message = 'Change', ref = 'main', options = [] as string[], user = developer } = {},
  ): Promise<string | undefined> => {
    const work = await clone(user);
    await commitFiles(work, files, message);
    if (options.length > 0) await mustGit(work, [...options, 'commit', '-q', '--amend', '--no-edit']);
    const { code, output } = await runGit(work, ['push', 'origin', `HEAD:${ref}`]);
    return code === 0 ? undefined : output;
  };
  const change = async (body: Record<string, unknown>) =>
    bodyOf(await app.root(`PUT /projects/${project.id}/push_rule`, { body: { ...nothing, ...body } }), 200);
  return { project, developer, maintainer, clone, push, change };
}

test.each(['project', 'group'] as const)(
  'the rule of a %s is made, shown, changed and removed',
  async (kind) => {
    const place = kind === 'project' ? await makeProject(app) : await makeGroup(app);
    const path = `/${kind}s/${place.id}/push_rule` as const;
    expect((await app.root(`GET ${path}`)).body).toEqual({ message: '404 Push Rule Not Found' });
    expect((await app.root(`PUT ${path}`, { body: {} })).status).toBe(404);
    const body = { commit_message_regex: 'JIRA-\\d+', deny_delete_tag: true, max_file_size: 3 };
    const made = bodyOf(await app.root(`POST ${path}`, { body }), 201);
    expect(made).toEqual({
      id: expect.any(Number),
      ...(kind === 'project' && { project_id: place.id }),
      created_at: expect.any(String),
      ...nothing,
      ...body,
    });
    expect((await app.root(`POST ${path}`, { body })).body).toEqual({
      message: `${kind === 'project' ? 'Project' : 'Group'} push rule exists, try updating`,
    });
    const changes = { commit_message_regex: null, member_check: true };
    expect(bodyOf(await app.root(`PUT ${path}`, { body: changes }), 200)).toEqual({ ...made, ...changes });
    expect(bodyOf(await app.root(`GET ${path}`), 200)).toEqual({ ...made, ...changes });
    for (const [bad, message] of [
      [
        { branch_name_regex: '(' },
        { branch_name_regex: ['is not valid RE2 syntax: missing closing ): `(`'] },
      ],
      [{ file_name_regex: '((a{100}){10}){10}' }, undefined],
      [{ author_email_regex: 'x'.repeat(512) }, undefined],
      [{ max_file_size: -1 }, undefined],
    ] as const) {
      const refused = await app.root(`PUT ${path}`, { body: bad });
      expect(refused.status).toBe(400);
      if (message) expect(refused.body).toEqual({ message });
    }
    expect((await app.root(`DELETE ${path}`)).status).toBe(204);
    expect((await app.root(`DELETE ${path}`)).status).toBe(404);
  },
);

test('rules are for Maintainers of projects and Owners of groups, from premium up', async () => {
  const group = await makeGroup(app);
  const project = await makeProject(app, { namespace_id: group.id });
  const { maintainer, developer } = await makeMembers(app, `groups/${group.id}`, 'maintainer', 'developer');
  const stranger = await makeUser(app);
  const [ofProject, ofGroup] = [
    `/projects/${project.id}/push_rule`,
    `/groups/${group.id}/push_rule`,
  ] as const;
  const body = { member_check: false };
  const status = async (user: MadeUser, path: string) =>
    (await app.as(user.token)(`POST ${path}`, { body })).status;
  expect(await status(stranger, ofProject)).toBe(404);
  expect(await status(developer, ofProject)).toBe(403);
  expect(await status(maintainer, ofGroup)).toBe(403);
  expect((await app.as(developer.token)(`GET ${ofProject}`)).status).toBe(403);
  expect(await status(maintainer, ofProject)).toBe(201);
  const { config } = app.app.services;
  Object.assign(config, { tier: 'free' });
  try {
    expect((await app.root(`GET ${ofProject}`)).status).toBe(403);
  } finally {
    Object.assign(config, { tier: 'premium' });
  }
});

test('a new project has a copy of the rule of the nearest group', async () => {
  const outer = await makeGroup(app);
  const inner = await makeGroup(app, { parent_id: outer.id });
  const empty = await makeGroup(app, { parent_id: inner.id });
  const of = async (id: number) => (await app.root(`GET /projects/${id}/push_rule`)).body;
  const before = await makeProject(app, { namespace_id: inner.id });
  bodyOf(await app.root(`POST /groups/${outer.id}/push_rule`, { body: { max_file_size: 7 } }), 201);
  bodyOf(await app.root(`POST /groups/${inner.id}/push_rule`, { body: { prevent_secrets: true } }), 201);
  expect(await of(before.id)).toEqual({ message: '404 Push Rule Not Found' });
  const first = await makeProject(app, { namespace_id: outer.id });
  expect(await of(first.id)).toMatchObject({ ...nothing, max_file_size: 7 });
  const nested = await makeProject(app, { namespace_id: empty.id });
  expect(await of(nested.id)).toMatchObject({ ...nothing, prevent_secrets: true });
  // It is a copy.
  await app.root(`DELETE /groups/${inner.id}/push_rule`);
  expect(await of(nested.id)).toMatchObject({ prevent_secrets: true });
  // What the program writes first is no client's.
  bodyOf(
    await app.root(`PUT /groups/${outer.id}/push_rule`, { body: { commit_message_regex: 'JIRA' } }),
    200,
  );
  const filled = await makeProject(app, { namespace_id: outer.id, initialize_with_readme: true });
  bodyOf(await app.root(`GET /projects/${filled.id}/repository/branches/main`), 200);
});

test('messages, addresses and names of commits that git pushes', async () => {
  const { push, change, developer } = await makeRuled({ commit_message_regex: '^JIRA-\\d+$' });
  expect(await push({ b: 'b' }, { message: 'Add b' })).toContain(
    "remote: Commit message does not follow the pattern '^JIRA-\\d+$'",
  );
  expect(await push({ b: 'b' }, { message: 'Add b\n\nJIRA-1' })).toBeUndefined();
  await change({ commit_message_negative_regex: 'ssh\\:' });
  expect(await push({ c: 'c' }, { message: 'ssh: x' })).toContain('contains the forbidden pattern');
  await change({ author_email_regex: '@example\\.com$' });
  expect(await push({ c: 'c' })).toBeUndefined();
  const elsewhere = ['-c', 'user.email=ada@example.org', '-c', 'user.name=Ada'];
  await change({ author_email_regex: '@example\\.org$' });
  expect(await push({ d: 'd' }, { options: elsewhere })).toContain("email 'ada@example.com' does not follow");
  await change({ reject_non_dco_commits: true });
  expect(await push({ e: 'e' })).toContain('Commit message must contain a DCO signoff');
  expect(await push({ e: 'e' }, { message: 'E\n\nSigned-off-by: Ada <ada@example.com>' })).toBeUndefined();
  await change({ reject_unsigned_commits: true });
  expect(await push({ f: 'f' })).toContain('Commit must be signed');
  await change({ member_check: true });
  expect(await push({ f: 'f' })).toContain("Author 'ada@example.com' is not a member of team");
  await change({ commit_committer_check: true });
  expect(await push({ f: 'f' })).toContain("You cannot push commits for 'ada@example.com'");
  await change({ commit_committer_name_check: true });
  expect(await push({ f: 'f' })).toContain('Your git username is inconsistent');
  // The same commits of who they are of.
  const { name, email } = bodyOf(await app.as(developer.token)('GET /user'), 200);
  await change({ member_check: true, commit_committer_check: true, commit_committer_name_check: true });
  const { sql } = app.app.services.database;
  await sql`update emails set email = 'ada@example.com' where user_id = ${developer.id}`;
  await sql`update users set email = 'ada@example.com', name = 'Ada Lovelace' where id = ${developer.id}`;
  try {
    expect(await push({ f: 'f' })).toBeUndefined();
    await sql`update emails set confirmed_at = null where user_id = ${developer.id}`;
    await sql`update users set confirmed_at = null where id = ${developer.id}`;
    expect(await push({ g: 'g' })).toContain("Committer's email 'ada@example.com' is not verified");
  } finally {
    await sql`update emails set email = ${email} where user_id = ${developer.id}`;
    await sql`update users set email = ${email}, name = ${name} where id = ${developer.id}`;
  }
});

test('names and sizes of files, of each commit that comes', async () => {
  const { push, change, clone, developer, project } = await makeRuled({ file_name_regex: '\\.jar$' });
  expect(await push({ 'lib/x.jar': 'x' })).toContain(
    'remote: File name lib/x.jar was prohibited by the pattern "\\.jar$"',
  );
  await change({ prevent_secrets: true });
  expect(await push({ 'home/id_rsa': 'x' })).toContain('File name home/id_rsa was prohibited by the pattern');
  expect(await push({ 'home/id_rsa.pub': 'x' })).toBeUndefined();
  await change({ max_file_size: 1 });
  expect(await push({ 'big.bin': 'x'.repeat(1_048_577) })).toContain(
    'File "big.bin" is larger than the allowed size of 1 MiB',
  );
  expect(await push({ 'big.bin': 'x'.repeat(1_048_576) })).toBeUndefined();
  // One that a later commit takes out again, and one that a merge brings.
  const work = await clone(developer);
  await commitFiles(work, { 'huge.bin': 'x'.repeat(2_000_000) });
  await mustGit(work, ['rm', '-q', 'huge.bin']);
  await mustGit(work, ['commit', '-qm', 'Out again']);
  const out = await runGit(work, ['push', 'origin', 'HEAD:main']);
  expect(out.output).toContain('File "huge.bin" is larger');
  // A tag has them as well as a branch.
  expect((await runGit(work, ['push', 'origin', 'HEAD:refs/tags/v1'])).output).toContain('is larger');
  await mustGit(work, ['reset', '-q', '--hard', 'origin/main']);
  await mustGit(work, ['checkout', '-q', '-b', 'side', 'HEAD~1']);
  await commitFiles(work, { side: 'x' });
  await mustGit(work, ['merge', '-q', '--no-commit', 'main']);
  await commitFiles(work, { 'evil.bin': 'x'.repeat(2_000_000) }, 'Merge');
  expect((await runGit(work, ['push', 'origin', 'HEAD:main'])).output).toContain('File "evil.bin" is larger');
  // Renamed to a forbidden name.
  await change({ file_name_regex: '^secret' });
  await mustGit(work, ['reset', '-q', '--hard', 'origin/main']);
  await mustGit(work, ['mv', 'a.txt', 'secret.txt']);
  await mustGit(work, ['commit', '-qm', 'Rename']);
  expect((await runGit(work, ['push', 'origin', 'HEAD:main'])).output).toContain('File name secret.txt');
  // What the repository has already is not judged again.
  bodyOf(await app.root(`DELETE /projects/${project.id}/push_rule`), 204);
  await mustGit(work, ['push', '-q', 'origin', 'HEAD:main']);
  bodyOf(
    await app.root(`POST /projects/${project.id}/push_rule`, { body: { file_name_regex: '^secret' } }),
    201,
  );
  await mustGit(work, ['push', '-q', 'origin', 'HEAD:refs/heads/again']);
});

test('names are held to a pattern as far as that takes little of the thread that answers all', async () => {
  const { project, developer, clone } = await makeRuled({ branch_name_regex: '^feature/' });
  const work = await clone(developer);
  const [head] = (await mustGit(work, ['rev-parse', 'HEAD'])).split('\n');
  const long = 'x'.repeat(200);
  const names = Array.from({ length: 500 }, (_, at) => `feature/${long}-${at}`);
  await mustGit(
    work,
    ['update-ref', '--stdin'],
    names.map((name) => `create refs/heads/${name} ${head}\n`).join(''),
  );
  const refused = await runGit(work, ['push', 'origin', 'refs/heads/feature/*:refs/heads/feature/*']);
  expect(refused.output).toContain('Push fewer commits at a time');
  const [one] = names;
  await mustGit(work, ['push', 'origin', `${one}:${one}`]);
  const branches = `/projects/${project.id}/repository/branches` as const;
  expect(bodyOf(await app.root(`GET ${branches}`), 200)).toHaveLength(2);
});

test('names of branches, and tags that stay', async () => {
  const { push, project, developer, clone, change } = await makeRuled({
    branch_name_regex: '^(feature|fix)/',
    deny_delete_tag: true,
  });
  expect(await push({ b: 'b' }, { ref: 'refs/heads/topic' })).toContain(
    "Branch name 'topic' does not follow the pattern '^(feature|fix)/'",
  );
  expect(await push({ b: 'b' }, { ref: 'refs/heads/fix/b' })).toBeUndefined();
  expect(await push({ b: 'b' }, { ref: 'main' })).toBeUndefined();
  const as = app.as(developer.token);
  const branches = `/projects/${project.id}/repository/branches` as const;
  expect((await as(`POST ${branches}`, { body: { branch: 'x', ref: 'main' } })).body).toEqual({
    message: "Branch name 'x' does not follow the pattern '^(feature|fix)/'",
  });
  bodyOf(await as(`POST ${branches}`, { body: { branch: 'feature/x', ref: 'main' } }), 201);
  expect((await as(`DELETE ${branches}/feature%2Fx`)).status).toBe(204);
  const tags = `/projects/${project.id}/repository/tags` as const;
  bodyOf(await app.root(`POST ${tags}`, { body: { tag_name: 'v1', ref: 'main' } }), 201);
  const refused = await app.root(`DELETE ${tags}/v1`);
  expect([refused.status, refused.body]).toEqual([400, { message: 'You cannot delete a tag' }]);
  const work = await clone(developer);
  expect((await runGit(work, ['push', 'origin', ':refs/tags/v1'])).output).toContain(
    'You cannot delete a tag',
  );
  await change({});
  await mustGit(work, ['push', '-q', 'origin', ':refs/tags/v1']);
});

test('commits of requests, which the program signs off by itself', async () => {
  const { project, developer, change } = await makeRuled({
    commit_message_regex: 'JIRA',
    file_name_regex: '\\.jar$',
    max_file_size: 1,
    reject_unsigned_commits: true,
    reject_non_dco_commits: true,
    commit_committer_check: true,
  });
  const as = app.as(developer.token);
  const commit = (commit_message: string, file_path: string, content = 'x') =>
    as(`POST /projects/${project.id}/repository/commits`, {
      body: { branch: 'main', commit_message, actions: [{ action: 'create', file_path, content }] },
    });
  const refused = await commit('Add', 'x');
  expect([refused.status, refused.body]).toEqual([
    400,
    { message: "Commit message does not follow the pattern 'JIRA'" },
  ]);
  expect((await commit('JIRA-1', 'x.jar')).body.message).toContain('File name x.jar was prohibited');
  expect((await commit('JIRA-1', 'x.bin', 'x'.repeat(1_048_577))).body.message).toContain('is larger than');
  const { id } = bodyOf(await commit('JIRA-1', 'x'), 201);
  const path = `/projects/${project.id}/repository` as const;
  const file = { branch: 'main', commit_message: 'Change', content: 'y' };
  expect((await as(`PUT ${path}/files/x`, { body: file })).status).toBe(400);
  const message = { body: { branch: 'main', commit_message: 'no' } };
  expect((await as(`DELETE ${path}/files/x`, message)).status).toBe(400);
  await change({ commit_message_negative_regex: '^Revert' });
  expect(
    (await as(`POST ${path}/commits/${id}/revert`, { body: { branch: 'main' } })).body.message,
  ).toContain('contains the forbidden pattern');
  const { config } = app.app.services;
  Object.assign(config, { tier: 'free' });
  try {
    bodyOf(await as(`POST ${path}/commits/${id}/revert`, { body: { branch: 'main' } }), 201);
  } finally {
    Object.assign(config, { tier: 'premium' });
  }
});

test('a merge is held to the rule of the project that it is merged into', async () => {
  const { project, change, maintainer } = await makeRuled({ commit_message_regex: 'JIRA' });
  await change({});
  const { iid } = await makeMergeRequest(app, project.id, 'topic');
  await change({ commit_message_regex: 'JIRA', reject_unsigned_commits: true });
  const merge = (body: Record<string, unknown>) =>
    app.as(maintainer.token)(`PUT /projects/${project.id}/merge_requests/${iid}/merge`, { body });
  const refused = await merge({});
  expect([refused.status, refused.body]).toEqual([
    422,
    { message: "Commit message does not follow the pattern 'JIRA'" },
  ]);
  expect(bodyOf(await merge({ merge_commit_message: 'JIRA-7: merge' }), 200).state).toBe('merged');
});

test('a first push of thousands of commits is judged whole or refused, and a slow pattern holds up nobody', async () => {
  const { clone, change, developer } = await makeRuled({ commit_message_regex: '^(\\w+\\s?)*x$' });
  const work = await clone(developer);
  await commitFiles(work, { b: 'b' }, `${'word '.repeat(20_000)}y`);
  const slow = runGit(work, ['push', 'origin', 'HEAD:main']);
  bodyOf(await app.root('GET /version'), 200);
  expect((await slow).output).toMatch(/does not follow the pattern|More is pushed at once/);
  await change({ commit_message_negative_regex: 'forbidden' });
  const stream = Array.from(
    { length: 10_001 },
    (_, i) =>
      `commit refs/heads/many\nmark :${i + 1}\ncommitter Ada <ada@example.com> ${1_700_000_000 + i} +0000\ndata 2\nm\n${i > 0 ? `from :${i}\n` : ''}\n`,
  ).join('');
  await mustGit(work, ['fast-import', '--quiet'], stream);
  const { output } = await runGit(work, ['push', 'origin', 'many']);
  expect(output).toContain('More is pushed at once than can be held to the push rules of this project.');
  await mustGit(work, ['push', '-q', 'origin', 'many~1:refs/heads/many']);
  // Many commits without a pattern, and one that is too long to be read.
  await change({ reject_non_dco_commits: true });
  const other = await runGit(work, ['push', 'origin', `many~5000:refs/tags/old`, 'many:refs/heads/many']);
  expect(other.output).toContain('Commit message must contain a DCO signoff');
  await mustGit(work, ['checkout', '-q', 'main']);
  await mustGit(work, ['commit', '-q', '--allow-empty', '-F', '-'], `${'long '.repeat(300_000)}\n`);
  expect((await runGit(work, ['push', 'origin', 'HEAD:refs/heads/long'])).output).toContain(
    'More is pushed at once',
  );
  await change({});
  await mustGit(work, ['push', '-q', 'origin', 'many']);
});

test('git reads files for a rule about files, and for no other project', async () => {
  const { push, change, project } = await makeRuled({ deny_delete_tag: true, branch_name_regex: 'x' });
  const reads = async () => {
    const { 'diff-tree': count = 0 } = await gitRunsDuring(async () => {
      expect(await push({ [uniqueName('file')]: 'x' })).toBeUndefined();
    });
    return count;
  };
  expect(await reads()).toBe(0);
  await change({ commit_message_regex: '.' });
  expect(await reads()).toBe(0);
  await change({ max_file_size: 1 });
  expect(await reads()).toBe(1);
  bodyOf(await app.root(`DELETE /projects/${project.id}/push_rule`), 204);
  expect(await reads()).toBe(0);
});
