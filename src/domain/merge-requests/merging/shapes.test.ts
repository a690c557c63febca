/** Histories of every shape, made by git: what merge requests show of them, and make of them, is what git does. */
import { describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf } from '../../../../test/support/factories.ts';
import { openBetween } from '../../../../test/support/git-histories.ts';
import { commitTo, makeReviewedProject, waitForFollowing } from '../../../../test/support/merge-requests.ts';
import {
  type Checkout,
  checkOut,
  type File,
  makeHistory,
  type Step,
} from '../../../../test/support/shaped-history.ts';
import { gitText } from '../../../platform/git/program/program.ts';
import { projectRepository } from '../../repositories/index.ts';

const ashlar = useApp();

type Files = Record<string, File>;
const text = (first: string, last = 'last', end = '\n'): string =>
  [first, ...Array.from({ length: 20 }, (_, line) => `line ${line}`), last, ''].join(end);
const submodule = (digit: string): File => ({ mode: '160000', oid: digit.repeat(40) });
const executable = (words: string): File => ({ mode: '100755', text: words });

/** Two changes of the same commit. */
const apart = (base: Files, main: Partial<Step>, topic: Partial<Step>): Step[] => [
  { name: 'base', files: base },
  { name: 'main', parents: ['base'], ...main },
  { name: 'topic', parents: ['base'], ...topic },
];

const many = (word: string): Files =>
  Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`d${at % 100}/f${at}`, `${word} ${at}\n`]));

type Shape = [what: string, steps: Step[]];
const shapes: Shape[] = [
  [
    'a criss-cross history',
    [
      ...apart({ a: text('1') }, { files: { a: text('ours') } }, { files: { a: text('1', 'theirs') } }),
      { name: 'left', parents: ['main', 'topic'], files: { a: text('ours', 'theirs'), left: '1\n' } },
      { name: 'right', parents: ['topic', 'main'], files: { a: text('ours', 'theirs'), right: '1\n' } },
      { name: 'main', parents: ['left'], files: { a: text('ours again', 'theirs') } },
      { name: 'topic', parents: ['right'], files: { a: text('ours', 'theirs again') } },
    ],
  ],
  [
    'renames on both sides',
    apart(
      { a: text('a'), b: text('b'), c: text('c') },
      { moved: { a: 'main/a' }, files: { c: text('c', 'end') } },
      { moved: { b: 'topic/b', c: 'topic/c' } },
    ),
  ],
  [
    'one file under two names',
    apart({ a: text('a') }, { moved: { a: 'main/a' } }, { moved: { a: 'topic/a' } }),
  ],
  [
    'a submodule that moved, and a new one',
    apart(
      { m: submodule('1'), a: '1\n' },
      { files: { a: '2\n' } },
      { files: { m: submodule('2'), n: submodule('3') } },
    ),
  ],
  [
    'a submodule that moved on both sides',
    apart({ m: submodule('1') }, { files: { m: submodule('2') } }, { files: { m: submodule('3') } }),
  ],
  [
    'modes and links',
    apart(
      { a: text('1'), b: '#!\n', l: { mode: '120000', text: 'a' } },
      { files: { a: text('2') } },
      { files: { a: executable(text('1')), b: executable('#!\n'), l: { mode: '120000', text: 'b' } } },
    ),
  ],
  [
    'CRLF that becomes LF',
    apart(
      { a: text('1', 'last', '\r\n'), b: '1\n' },
      { files: { b: '2\n' } },
      { files: { a: text('1', 'last') } },
    ),
  ],
  [
    'CRLF that is kept on one side only',
    apart(
      { a: text('1', 'last', '\r\n') },
      { files: { a: text('1', 'last') } },
      { files: { a: text('1', 'end', '\r\n') } },
    ),
  ],
  [
    'empty commits among others',
    [
      ...apart({ a: '1\n' }, { files: { b: '1\n' } }, { message: 'Nothing' }),
      { name: 'topic', parents: ['topic'], files: { c: '1\n' } },
      { name: 'topic', parents: ['topic'], message: 'Nothing more' },
    ],
  ],
  ['nothing but an empty commit', apart({ a: '1\n' }, { files: { b: '1\n' } }, { message: 'Nothing' })],
  [
    'an octopus',
    [
      ...apart({ a: '1\n' }, { files: { b: '1\n' } }, { files: { c: '1\n' } }),
      { name: 'third', parents: ['base'], files: { d: '1\n' } },
      { name: 'fourth', parents: ['base'], files: { e: '1\n' } },
      { name: 'topic', parents: ['topic', 'third', 'fourth'], files: { d: '1\n', e: '1\n' } },
    ],
  ],
  [
    'unrelated histories',
    [
      { name: 'main', files: { a: '1\n' } },
      { name: 'topic', files: { a: '2\n', b: '1\n' } },
    ],
  ],
  ['ten thousand changed files', apart(many('before'), { files: { own: '1\n' } }, { files: many('after') })],
];

type Opened = {
  id: number;
  path: string;
  record: { merge_status: string; sha: string; diff_refs: object };
  folder: string;
};

async function openShape(steps: readonly Step[], method: string): Promise<Opened> {
  const { id } = await makeReviewedProject(ashlar, { merge_method: method });
  const folder = await ashlar.app.services.repositories.write(projectRepository(id), 'main', async (git) => {
    await makeHistory(git.folder, steps);
    return git.folder;
  });
  const record = await openBetween(ashlar, id, 'topic');
  return { id, path: `/projects/${id}/merge_requests/${record.iid}`, record, folder };
}

/** What git does at one of the branches, in a checkout that is removed then. */
async function inCheckout<T>(
  { folder }: Opened,
  branch: string,
  work: (checkout: Checkout) => Promise<T>,
): Promise<T> {
  const checkout = await checkOut(folder, branch);
  try {
    return await work(checkout);
  } finally {
    checkout.remove();
  }
}

/** The tree that a command of git makes of a branch; undefined where it fails. */
const treeBy = (opened: Opened, branch: string, ...command: string[]): Promise<string | undefined> =>
  inCheckout(opened, branch, async (checkout) =>
    (await checkout.run(...command)).code === 0 ? checkout.text('rev-parse', 'HEAD^{tree}') : undefined,
  );
const objectOf = async ({ folder }: Opened, name: string): Promise<string> =>
  (await gitText(['rev-parse', name], { folder })).trim();

const mergeOf = ({ path }: Opened) => ashlar.root(`PUT ${path}/merge`);
const recordOf = async ({ path }: Opened) => bodyOf(await ashlar.root(`GET ${path}`), 200);

/** Every file's first added line takes a note: of the first files, by the numbers of the patches. */
async function noteLines({ path, record }: Opened, changes: readonly ChangedFile[]): Promise<void> {
  for (const { diff, old_path, new_path } of changes.slice(0, 5)) {
    const [hunk, first = ''] = /^@@ -\d+(?:,\d+)? \+(\d+)/m.exec(diff) ?? [];
    const lines = hunk === undefined ? [] : diff.slice(diff.indexOf(hunk)).split('\n').slice(1);
    const at = lines.findIndex((line) => line.startsWith('+'));
    if (at < 0) continue;
    const new_line = Number(first) + lines.slice(0, at).filter((line) => line.startsWith(' ')).length;
    const position = { ...record.diff_refs, position_type: 'text', old_path, new_path, new_line };
    const body = { body: 'Here', position };
    const thread = bodyOf(await ashlar.root(`POST ${path}/discussions`, { body }), 201);
    expect(thread.notes[0].position).toMatchObject({ new_line, new_path });
  }
}

type ChangedFile = { diff: string; old_path: string; new_path: string };

const methods = ['rebase_merge', 'ff'] as const;

describe.each(shapes.map(([what, steps], at): [...Shape, string] => [what, steps, methods[at % 2] ?? '']))(
  '%s',
  (_what, steps, method) => {
    test('is shown as by git diff, and merged as by git merge', async () => {
      const opened = await openShape(steps, 'merge');
      const tree = await treeBy(
        opened,
        'origin/main',
        'merge',
        '--quiet',
        '--no-ff',
        '-m',
        'Merge',
        'origin/topic',
      );
      expect(opened.record.merge_status).toBe(tree === undefined ? 'cannot_be_merged' : 'can_be_merged');
      const [diff = '', names = ''] = await inCheckout(opened, 'origin/main', async (checkout) => {
        const base = (await checkout.run('merge-base', 'HEAD', 'origin/topic')).output.trim();
        const ends = ['-M', base || 'HEAD', 'origin/topic'];
        return [await checkout.text('diff', ...ends), await checkout.text('diff', '--name-only', ...ends)];
      });
      const paths = names.split('\n').filter((name) => name !== '');
      expect((await ashlar.root(`GET ${opened.path}/raw_diffs`)).text.trim()).toBe(diff);
      const { changes, overflow } = bodyOf(await ashlar.root(`GET ${opened.path}/changes`), 200);
      expect(changes.map((file: ChangedFile) => file.new_path)).toEqual(paths.slice(0, 3_000));
      expect(overflow).toBe(paths.length > 3_000);
      const paged = bodyOf(await ashlar.root(`GET ${opened.path}/diffs`, { query: 'per_page=100' }), 200);
      expect(paged).toEqual(changes.slice(0, 100));
      await noteLines(opened, changes);
      const before = await objectOf(opened, 'main');
      const merged = await mergeOf(opened);
      if (tree === undefined) {
        expect(merged.status).toBe(422);
        expect(await objectOf(opened, 'main')).toBe(before);
      } else {
        expect(bodyOf(merged, 200)).toMatchObject({ state: 'merged', sha: opened.record.sha });
        expect(await objectOf(opened, 'main^{tree}')).toBe(tree);
      }
    });

    test(`is rebased as by git rebase, and merged then: ${method}`, async () => {
      const opened = await openShape(steps, method);
      const before = await objectOf(opened, 'topic');
      const tree = await treeBy(opened, 'origin/topic', 'rebase', '--quiet', '--empty=drop', 'origin/main');
      // What is behind is not merged before.
      expect((await mergeOf(opened)).status).toBe(422);
      expect((await ashlar.root(`PUT ${opened.path}/rebase`)).status).toBe(202);
      await waitForFollowing(ashlar);
      const rebased = await recordOf(opened);
      if (tree === undefined) {
        expect(await objectOf(opened, 'topic')).toBe(before);
        expect(rebased.merge_error).toContain('Rebase failed');
        return;
      }
      expect(await objectOf(opened, 'topic^{tree}')).toBe(tree);
      expect(rebased.sha).toBe(await objectOf(opened, 'topic'));
      expect(bodyOf(await mergeOf(opened), 200).state).toBe('merged');
      expect(await objectOf(opened, 'main^{tree}')).toBe(tree);
      if (method === 'ff') expect(await objectOf(opened, 'main')).toBe(rebased.sha);
    });
  },
);

test('a branch that is rewritten while it is merged is merged as it was or as it is', async () => {
  for (let round = 0; round < 5; round++) {
    const { id } = await makeReviewedProject(ashlar);
    const first = await commitTo(ashlar, id, 'topic', { first: '1\n' });
    const { iid } = await openBetween(ashlar, id, 'topic');
    const main = bodyOf(await ashlar.root(`GET /projects/${id}/repository/branches/main`), 200).commit.id;
    const rewrite = {
      branch: 'topic',
      start_sha: main,
      force: true,
      commit_message: 'Rewritten',
      actions: [{ action: 'create', file_path: 'second', content: '2\n' }],
    };
    const path = `/projects/${id}/merge_requests/${iid}`;
    const [merged, pushed] = await Promise.all([
      ashlar.root(`PUT ${path}/merge`),
      ashlar.root(`POST /projects/${id}/repository/commits`, { body: rewrite }),
    ]);
    const second = bodyOf(pushed, 201).id;
    const head = bodyOf(await ashlar.root(`GET /projects/${id}/repository/commits/main`), 200);
    const record = bodyOf(await ashlar.root(`GET ${path}`), 200);
    if (merged.status !== 200) {
      expect([merged.status, record.state, head.id]).toEqual([expect.any(Number), 'opened', main]);
      expect([405, 406, 409, 422]).toContain(merged.status);
      continue;
    }
    expect(record).toMatchObject({ state: 'merged', merge_commit_sha: head.id });
    expect([first, second]).toContain(record.sha);
    expect(head.parent_ids).toEqual([main, record.sha]);
  }
});
