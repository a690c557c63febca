/** Merge requests by options of git pushes. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeUser,
  uniqueName,
} from '../../../../test/support/factories.ts';
import { addressOf, commitFiles, makeHome, mustGit, runGit } from '../../../../test/support/git.ts';
import { insertIssue } from '../../../../test/support/issues.ts';
import { commitTo, makeReviewedProject } from '../../../../test/support/merge-requests.ts';

const ashlar = useApp();
const home = makeHome();
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** A clone in which a branch has a commit that is to be pushed. */
async function workOn(
  project: MadeProject,
  branch: string,
  { token = ROOT_TOKEN, message = 'Change it' }: { token?: string; message?: string } = {},
): Promise<string> {
  const work = join(home, uniqueName('work'));
  await mustGit(home, ['clone', '--quiet', addressOf(ashlar.url, project.path_with_namespace, token), work]);
  await mustGit(work, ['checkout', '--quiet', '-b', branch]);
  await commitFiles(work, { [`${branch}.txt`]: 'text\n' }, message);
  return work;
}

/** Pushes with options; the lines that git shows of the server's. */
async function push(work: string, branch: string, ...options: string[]): Promise<string> {
  const args = options.flatMap((option) => ['-o', option]);
  return mustGit(work, ['push', ...args, 'origin', branch]);
}

const openIn = async ({ id }: MadeProject) =>
  bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests`, { query: 'state=opened' }), 200);

const urlOf = ({ path_with_namespace }: MadeProject, rest: string) =>
  `${ashlar.url}/${path_with_namespace}/-/merge_requests/${rest}`;

test.each([0, 1, 2])('version %i of the protocol opens one with the texts of its commit', async (version) => {
  const project = await makeReviewedProject(ashlar);
  const work = await workOn(project, 'topic', { message: 'Add it\n\nSince it was missing.' });
  await mustGit(work, ['config', 'protocol.version', String(version)]);
  const shown = await push(work, 'topic', 'merge_request.create');
  expect(shown).toContain(`View merge request for topic:`);
  expect(shown).toContain(urlOf(project, '1'));
  expect(shown).not.toContain('WARNINGS');
  expect(await openIn(project)).toMatchObject([
    { title: 'Add it', description: 'Since it was missing.', target_branch: 'main', source_branch: 'topic' },
  ]);
});

test('all options are followed, and those of a later push change it', async () => {
  const project = await makeReviewedProject(ashlar);
  const { developer } = await makeMembers(ashlar, `projects/${project.id}`, 'developer');
  await insertIssue(ashlar, { project_id: project.id, author_id: 1, title: 'Broken' });
  bodyOf(
    await ashlar.root(`POST /projects/${project.id}/repository/branches`, {
      body: { branch: 'stable', ref: 'main' },
    }),
    201,
  );
  const work = await workOn(project, '1-broken', { token: developer.token });
  const options = [
    'merge_request.create',
    'merge_request.target=stable',
    'merge_request.title=Mend it',
    'merge_request.description=One\\nTwo',
    'merge_request.draft',
    'merge_request.label=bug',
    `merge_request.assign=${developer.username}`,
    'merge_request.remove_source_branch',
    'merge_request.squash',
  ];
  expect(await push(work, '1-broken', ...options)).not.toContain('WARNINGS');
  expect(await openIn(project)).toMatchObject([
    {
      title: 'Draft: Mend it',
      description: 'One\nTwo\n\nCloses #1',
      target_branch: 'stable',
      labels: ['bug'],
      assignees: [{ id: developer.id }],
      author: { id: developer.id },
      force_remove_source_branch: true,
      squash: true,
    },
  ]);
  await commitFiles(work, { 'more.txt': 'more\n' }, 'More');
  const later = ['merge_request.draft=false', 'merge_request.unlabel=bug', 'merge_request.target=main'];
  expect(await push(work, '1-broken', ...later)).toContain(urlOf(project, '1'));
  expect(await openIn(project)).toMatchObject([{ title: 'Mend it', labels: [], target_branch: 'main' }]);
});

test('a push without options is told where to open one, and one to the default branch nothing', async () => {
  const project = await makeReviewedProject(ashlar);
  const work = await workOn(project, 'topic');
  const shown = await push(work, 'topic');
  expect(shown).toContain('To create a merge request for topic, visit:');
  expect(shown).toContain(urlOf(project, 'new?merge_request%5Bsource_branch%5D=topic'));
  expect(await push(work, 'topic:main')).not.toContain('merge request');
  expect(await openIn(project)).toEqual([]);
});

test.each<[what: string, options: string[], warning: string]>([
  ['a branch that is missing', ['merge_request.target=none'], 'target_branch does not exist'],
  ['a hidden project', ['merge_request.target_project=no/where'], '404 Project Not Found'],
  ['a milestone that is missing', ['merge_request.milestone=none'], 'There is no such milestone'],
  ['an unknown option', ['merge_request.nothing'], '"merge_request.nothing" is not a push option.'],
  ['a long title', [`merge_request.title=${'a'.repeat(300)}`], 'title is too long'],
])('%s is told, and the push is taken', async (what, options, warning) => {
  const project = await makeReviewedProject(ashlar);
  const work = await workOn(project, 'topic');
  const shown = await push(work, 'topic', 'merge_request.create', ...options);
  expect(shown).toContain(warning);
  expect(await openIn(project)).toHaveLength(what === 'an unknown option' ? 1 : 0);
  await mustGit(work, ['fetch', '--quiet', 'origin', 'topic']);
});

test('options have the rights of who pushes', async () => {
  const [project, other] = [await makeReviewedProject(ashlar), await makeReviewedProject(ashlar)];
  const { developer } = await makeMembers(ashlar, `projects/${project.id}`, 'developer');
  const work = await workOn(project, 'topic', { token: developer.token });
  const foreign = [`merge_request.target_project=${other.path_with_namespace}`, 'merge_request.create'];
  expect(await push(work, 'topic', ...foreign)).toContain('404 Project Not Found');
  await push(work, 'topic:second', 'merge_request.create', 'merge_request.auto_merge');
  // The default branch is protected: developers do not merge.
  expect(await openIn(project)).toHaveLength(1);
  const stranger = await makeUser(ashlar);
  await mustGit(work, [
    'remote',
    'set-url',
    'origin',
    addressOf(ashlar.url, project.path_with_namespace, stranger.token),
  ]);
  const refused = await runGit(work, ['push', '-o', 'merge_request.create', 'origin', 'topic:third']);
  expect(refused.code).not.toBe(0);
  expect(await openIn(project)).toHaveLength(1);
  expect(await openIn(other)).toEqual([]);
});

test('auto_merge merges what may be merged', async () => {
  const project = await makeReviewedProject(ashlar);
  const work = await workOn(project, 'topic');
  await push(work, 'topic', 'merge_request.create', 'merge_request.auto_merge');
  const [merged] = bodyOf(await ashlar.root(`GET /projects/${project.id}/merge_requests`), 200);
  expect(merged).toMatchObject({ state: 'merged', merged_by: { id: 1 } });
});

/** Opens one by a push, and reads its description. */
async function describedAs(
  project: MadeProject,
  branch: string,
  ...options: string[]
): Promise<string | null> {
  const work = await workOn(project, branch, { message: 'Add it\n\nSince it was missing.' });
  await push(work, branch, 'merge_request.create', ...options);
  return (await openIn(project)).find((each: { source_branch: string }) => each.source_branch === branch)
    .description;
}

test('a description is that of the option, of the setting, of the template, or of the commit', async () => {
  const project = await makeReviewedProject(ashlar);
  expect(await describedAs(project, 'first')).toBe('Since it was missing.');
  const text = '%{source_branch} to %{target_branch}\n\n%{co_authored_by}\n\n%{first_commit} %{title}\n';
  await commitTo(ashlar, project.id, 'main', { '.gitlab/merge_request_templates/DEFAULT.md': text });
  expect(await describedAs(project, '12-second')).toBe(
    '12-second to main\n\nCo-authored-by: Ada Lovelace <ada@example.com>\n\nAdd it\n\nSince it was missing. %{title}\n',
  );
  bodyOf(
    await ashlar.root(`PUT /projects/${project.id}`, {
      body: { merge_requests_template: 'Ours: %{all_commits}' },
    }),
    200,
  );
  expect(await describedAs(project, 'third')).toBe('Ours: * Add it\n\nSince it was missing.');
  expect(await describedAs(project, 'fourth', 'merge_request.description=On %{source_branch}')).toBe(
    'On fourth',
  );
  bodyOf(await ashlar.root(`PUT /projects/${project.id}`, { body: { merge_requests_template: ' ' } }), 200);
  expect(await describedAs(project, 'fifth')).toMatch(/^fifth to main/);
});

test('quick actions of a template are done', async () => {
  const project = await makeReviewedProject(ashlar);
  await commitTo(ashlar, project.id, 'main', {
    '.gitlab/merge_request_templates/Default.md': 'Why?\n/label ~bug\n/draft\n',
  });
  bodyOf(
    await ashlar.root(`POST /projects/${project.id}/labels`, { body: { name: 'bug', color: '#ff0000' } }),
    201,
  );
  await describedAs(project, 'topic');
  expect(await openIn(project)).toMatchObject([{ description: 'Why?', labels: ['bug'], draft: true }]);
});

/** A fork of the user's, where it is to be pushed from. */
async function forkOf(project: MadeProject, { token }: MadeUser, attributes: Record<string, unknown> = {}) {
  const name = uniqueName('fork');
  const body = { path: name, name, ...attributes };
  return bodyOf(await ashlar.as(token)(`POST /projects/${project.id}/fork`, { body }), 201);
}

test('from a fork one goes to the project that it is of, unless the fork says otherwise', async () => {
  const project = await makeReviewedProject(ashlar, { visibility: 'public' });
  const author = await makeUser(ashlar);
  const fork = await forkOf(project, author);
  const work = await workOn(fork, 'topic', { token: author.token });
  expect(await push(work, 'topic', 'merge_request.create')).toContain(urlOf(project, '1'));
  expect(await openIn(project)).toMatchObject([{ source_project_id: fork.id, target_branch: 'main' }]);
  await commitFiles(work, { 'more.txt': 'more\n' }, 'More');
  expect(await push(work, 'topic', 'merge_request.title=Another')).toContain(urlOf(project, '1'));
  expect(await openIn(project)).toMatchObject([{ title: 'Another' }]);
  bodyOf(await ashlar.root(`PUT /projects/${fork.id}`, { body: { mr_default_target_self: true } }), 200);
  expect(await push(work, 'topic:second', 'merge_request.create')).toContain(urlOf(fork, '1'));
  const other = await forkOf(project, author, { visibility: 'private' });
  const hidden = await workOn(other, 'topic', { token: author.token });
  // Nobody would be told of a private fork unasked.
  expect(await push(hidden, 'topic', 'merge_request.create')).toContain(urlOf(other, '1'));
  expect(await openIn(project)).toHaveLength(1);
});

test('who may push to a shared branch alone changes its merge request, and opens none', async () => {
  const project = await makeReviewedProject(ashlar, { visibility: 'public' });
  const { maintainer } = await makeMembers(ashlar, `projects/${project.id}`, 'maintainer');
  const author = await makeUser(ashlar);
  const fork = await forkOf(project, author);
  await push(await workOn(fork, 'topic', { token: author.token }), 'topic');
  const body = {
    title: 'From afar',
    source_branch: 'topic',
    target_branch: 'main',
    target_project_id: project.id,
    allow_collaboration: true,
  };
  bodyOf(await ashlar.as(author.token)(`POST /projects/${fork.id}/merge_requests`, { body }), 201);
  const work = join(home, uniqueName('work'));
  const address = addressOf(ashlar.url, fork.path_with_namespace, maintainer.token);
  await mustGit(home, ['clone', '--quiet', '--branch', 'topic', address, work]);
  await commitFiles(work, { 'help.txt': 'help\n' }, 'Help');
  const shown = await push(work, 'topic', 'merge_request.label=bug', 'merge_request.title=Helped');
  expect(shown).toContain(urlOf(project, '1'));
  expect(shown).not.toContain('WARNINGS');
  expect(await openIn(project)).toMatchObject([{ title: 'Helped', labels: ['bug'] }]);
  await commitFiles(work, { 'help.txt': 'more\n' }, 'More');
  const own = ['merge_request.create', `merge_request.target_project=${fork.path_with_namespace}`];
  expect(await push(work, 'topic', ...own)).toContain('not followed: 403 Forbidden');
  expect(await openIn(fork)).toEqual([]);
});
