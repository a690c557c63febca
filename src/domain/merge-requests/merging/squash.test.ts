/** Squash merges of histories of several shapes, over HTTP: the commits that they make, byte by byte. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers } from '../../../../test/support/factories.ts';
import { makeReviewedProject } from '../../../../test/support/merge-requests.ts';
import { checkOut, type File, makeHistory, type Step } from '../../../../test/support/shaped-history.ts';
import { gitText } from '../../../platform/git/program/program.ts';
import { projectRepository } from '../../repositories/index.ts';

const ashlar = useApp();

type Files = Record<string, File>;
const text = (first: string, last = 'last'): string =>
  [first, ...Array.from({ length: 20 }, (_, line) => `line ${line}`), last, ''].join('\n');
const executable = (words: string): File => ({ mode: '100755', text: words });
const link = (words: string): File => ({ mode: '120000', text: words });

const apart = (base: Files, main: Partial<Step>, ...topic: Partial<Step>[]): Step[] => [
  { name: 'base', files: base },
  { name: 'main', parents: ['base'], ...main },
  ...topic.map((step, at) => ({ name: 'topic', parents: [at === 0 ? 'base' : 'topic'], ...step })),
];

const shapes: [what: string, steps: Step[]][] = [
  [
    'a criss-cross history',
    [
      ...apart({ a: text('1') }, { files: { a: text('ours') } }, { files: { a: text('1', 'theirs') } }),
      { name: 'left', parents: ['main', 'topic'], files: { a: text('ours', 'theirs'), left: '1\n' } },
      { name: 'right', parents: ['topic', 'main'], files: { a: text('ours', 'theirs'), right: '1\n' } },
      { name: 'main', parents: ['left'], files: { b: '1\n' } },
      { name: 'topic', parents: ['right'], files: { a: text('ours', 'theirs again') } },
    ],
  ],
  [
    'renames on both sides',
    apart(
      { a: text('a'), b: text('b'), c: text('c') },
      { moved: { a: 'main/a' }, files: { c: text('c', 'end') } },
      { moved: { b: 'topic/b' } },
      { moved: { c: 'topic/c' } },
    ),
  ],
  [
    'empty commits among others',
    apart(
      { a: '1\n' },
      { files: { b: '1\n' } },
      { message: 'Nothing' },
      { files: { c: '1\n' } },
      { message: 'Nothing more' },
    ),
  ],
  [
    'modes and links',
    apart(
      { a: text('1'), b: '#!\n', l: link('a') },
      { files: { a: text('2') } },
      { files: { a: executable(text('1')), b: executable('#!\n') } },
      { files: { l: link('b') } },
    ),
  ],
];

/** A project with this history, and a merge request of a developer's from topic into main, which is what `main` names. */
async function openShape(steps: readonly Step[], settings: Record<string, unknown>, main = 'main') {
  const { id, path_with_namespace } = await makeReviewedProject(ashlar, settings);
  const { developer, maintainer } = await makeMembers(ashlar, `projects/${id}`, 'developer', 'maintainer');
  const folder = await ashlar.app.services.repositories.write(projectRepository(id), 'main', async (git) => {
    const { [main]: head = '' } = await makeHistory(git.folder, steps);
    await gitText(['update-ref', 'refs/heads/main', head], git);
    return git.folder;
  });
  const body = { title: 'All of it', source_branch: 'topic', target_branch: 'main', squash: true };
  const open = ashlar.as(developer.token)(`POST /projects/${id}/merge_requests`, { body });
  const opened = bodyOf(await open, 201);
  const identity = async (userId: number): Promise<string> => {
    const { name, email } = bodyOf(await ashlar.root(`GET /users/${userId}`), 200);
    return `${name} <${email}>`;
  };
  const [author, merger] = [await identity(developer.id), await identity(maintainer.id)];
  const merge = async (body = {}) =>
    bodyOf(await ashlar.as(maintainer.token)(`PUT /projects/${id}/merge_requests/1/merge`, { body }), 200);
  const git = async (...args: string[]) => (await gitText(args, { folder })).trimEnd();
  return { reference: `${path_with_namespace}!1`, folder, opened, author, merger, merge, git };
}

/** The commit as git stores it, without the times. */
const stored = async (folder: string, commit: string): Promise<string> =>
  (await gitText(['cat-file', 'commit', commit], { folder })).replaceAll(/> \d+ \+0000$/gm, '>');

const commitText = (tree: string, parents: readonly string[], people: string[], message: string): string => {
  const [author = '', committer = author] = people;
  const lines = parents.map((parent) => `parent ${parent}\n`).join('');
  return `tree ${tree}\n${lines}author ${author}\ncommitter ${committer}\n\n${message}`;
};

test.each(shapes)('%s, by a merge commit', async (_what, steps) => {
  const { reference, folder, opened, author, merger, merge, git } = await openShape(steps, {});
  const main = await git('rev-parse', 'main');
  const checkout = await checkOut(folder, 'origin/main');
  await checkout.text('merge', '--quiet', '--squash', 'origin/topic');
  const tree = await checkout.text('write-tree');
  checkout.remove();
  const merged = await merge();
  expect(merged).toMatchObject({ state: 'merged', sha: opened.sha, merge_error: null });
  const { merge_commit_sha: commit, squash_commit_sha: squash } = merged;
  expect(await git('rev-parse', 'main')).toBe(commit);
  const { base_sha } = opened.diff_refs;
  expect(await stored(folder, squash)).toBe(
    commitText(await git('rev-parse', 'topic^{tree}'), [base_sha], [author, merger], 'All of it'),
  );
  const message = `Merge branch 'topic' into 'main'\n\nAll of it\n\nSee merge request ${reference}`;
  expect(await stored(folder, commit)).toBe(commitText(tree, [main, squash], [merger], message));
});

test('histories that cross are merged as their merge status says, whichever line changes again', async () => {
  for (const again of [text('ours again', 'theirs'), text('ours', 'theirs again')]) {
    const steps = (shapes[0]?.[1] ?? []).map((step, at, all) =>
      at === all.length - 1 ? { ...step, files: { a: again } } : step,
    );
    const { opened, merge, git } = await openShape(steps, {});
    expect(opened.merge_status).toBe('can_be_merged');
    await merge();
    expect(await git('show', 'main:a')).toBe(again.trimEnd());
  }
});

test.each(shapes)('%s, forward', async (_what, steps) => {
  const settings = { merge_method: 'ff', squash_commit_template: '%{title}, %{local_reference}' };
  const { folder, opened, author, merger, merge, git } = await openShape(steps, settings, 'base');
  const merged = await merge();
  expect(merged).toMatchObject({ state: 'merged', merge_commit_sha: null });
  const squash = merged.squash_commit_sha;
  expect(await git('rev-parse', 'main')).toBe(squash);
  expect(await stored(folder, squash)).toBe(
    commitText(
      await git('rev-parse', 'topic^{tree}'),
      [await git('rev-parse', 'base')],
      [author, merger],
      'All of it, !1',
    ),
  );
  expect(opened.diff_refs.base_sha).toBe(await git('rev-parse', 'base'));
});

test('of one commit, without a message of its own, nothing is made anew', async () => {
  const steps = apart({ a: '1\n' }, { files: { b: '1\n' } }, { files: { c: '1\n' } });
  const { opened, merge, git } = await openShape(steps, {});
  const merged = await merge();
  expect(merged.squash_commit_sha).toBe(opened.sha);
  expect(await git('rev-parse', `${merged.merge_commit_sha}^2`)).toBe(opened.sha);
});

test('of a history that has nothing to do with the target nothing is made', async () => {
  const steps = [
    { name: 'main', files: { a: '1\n' } },
    { name: 'topic', files: { b: '1\n' } },
    { name: 'topic', parents: ['topic'], files: { c: '1\n' } },
  ];
  const { opened, git } = await openShape(steps, {});
  const main = await git('rev-parse', 'main');
  const path = `/projects/${opened.project_id}/merge_requests/1`;
  expect((await ashlar.root(`PUT ${path}/merge`)).status).toBe(422);
  expect(await git('rev-parse', 'main')).toBe(main);
  expect(bodyOf(await ashlar.root(`GET ${path}`), 200).state).toBe('opened');
});
