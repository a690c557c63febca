/** Rebases, compared with what git does in a checkout: the same commits, or the same conflict. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { CHECKOUT_TIME, checkOut, makeHistory, type Step } from '../../../../test/support/shaped-history.ts';
import { createObjectReader, type GitFolder } from '../objects.ts';
import { git } from '../program/program.ts';
import { createRepository, storeObjects } from '../write.ts';
import { MAX_REBASED_COMMITS, rebaseCommits } from './rebase.ts';

const root = mkdtempSync(join(tmpdir(), 'ashlar-rebase-'));
const reader = createObjectReader();
afterAll(() => {
  reader.stop();
  rmSync(root, { recursive: true, force: true });
});

let made = 0;
let repository: GitFolder;
beforeEach(async () => {
  made += 1;
  repository = reader.open(join(root, `${made}.git`));
  await createRepository(repository.folder, 'main');
});

const committer = { name: 'Grace', email: 'grace@example.com', time: CHECKOUT_TIME, zone: '+0000' };

/** What `git rebase` does: the new head, or the commit that conflicts and the names of files. */
async function rebasedByGit(folder: string, onto: string, head: string) {
  const checkout = await checkOut(folder, head);
  try {
    if ((await checkout.run('rebase', '--quiet', onto)).code === 0)
      return { result: 'rebased', head: await checkout.text('rev-parse', 'HEAD') };
    const names = (await checkout.text('ls-files', '--unmerged', '-z'))
      .split('\0')
      .filter((entry) => entry !== '')
      .map((entry) => entry.slice(entry.indexOf('\t') + 1).replace(/~(HEAD|[0-9a-f]+ \(.*\))$/, ''));
    const commit = await checkout.text('rev-parse', 'REBASE_HEAD');
    return { result: 'conflict', commit, paths: [...new Set(names)].sort() };
  } finally {
    checkout.remove();
  }
}

async function rebase(onto: string, head: string) {
  const result = await rebaseCommits(repository, { onto, head, committer });
  if (result.result !== 'rebased') return result;
  await storeObjects(repository.folder, result.objects);
  return { result: result.result, head: result.head };
}

const lines = (...words: string[]): string => `${words.join('\n')}\n`;
const text = (first: string, last = 'last', middle = 'middle'): string => {
  const filler = Array.from({ length: 12 }, (_, line) => `line ${line}`);
  return lines(first, ...filler, middle, ...filler, last);
};
/** Commits one upon the other, the last of them named. */
const line = (name: string, from: string, ...steps: Partial<Step>[]): Step[] =>
  steps.map((step, index) => ({
    message: `${name} ${index}`,
    ...step,
    name,
    parents: [index === 0 ? from : name],
  }));

const base: Step = { name: 'base', files: { a: text('1'), b: '1' } };
const onto = line('onto', 'base', { files: { a: text('onto') } }, { files: { c: 'onto' } });
const rebased: [what: string, steps: Step[]][] = [
  ['one commit', [base, ...onto, ...line('head', 'base', { files: { b: '2' } })]],
  ['nothing', [base, ...onto, ...line('head', 'base')]],
  ['what is there already', [base, ...onto, ...line('head', 'onto', { files: { b: '2' } }, {})]],
  [
    'what is behind',
    [base, ...line('head', 'base', { files: { b: '2' } }), ...line('onto', 'head', { files: { c: '1' } })],
  ],
  [
    'changes of the same file',
    [
      base,
      ...onto,
      ...line(
        'head',
        'base',
        { files: { a: text('1', '2') } },
        { files: { a: text('1', '3') } },
        { files: { a: text('1', '3', 'x') } },
      ),
    ],
  ],
  [
    'a deep history',
    [
      base,
      ...onto,
      ...line(
        'head',
        'base',
        ...Array.from({ length: 70 }, (_, n) => ({
          files: { a: text('1', `${n}`), [`d/${n % 7}`]: `${n}` },
        })),
      ),
    ],
  ],
  ['commits that are empty', [base, ...onto, ...line('head', 'base', {}, { files: { b: '2' } }, {})]],
  [
    'a change that is there already',
    [
      base,
      ...onto,
      ...line('onto', 'onto', { files: { b: '2' } }),
      ...line('head', 'base', { files: { d: '1' } }, { files: { b: '2' } }, { files: { e: '1' } }),
    ],
  ],
  [
    'a change that is there in part',
    [
      base,
      ...onto,
      ...line('onto', 'onto', { files: { b: '2', f: '1' } }),
      ...line('head', 'base', { files: { b: '2' } }, { files: { e: '1' } }),
    ],
  ],
  [
    'a change that is there already and is undone',
    [
      base,
      ...onto,
      ...line('onto', 'onto', { files: { b: '2', f: '1' } }),
      ...line('head', 'base', { files: { b: '2' } }, { files: { b: '1' } }, { files: { e: '1' } }),
    ],
  ],
  [
    'a change that is undone, and made again otherwise',
    [
      base,
      ...onto,
      ...line(
        'head',
        'base',
        { files: { a: text('1', '2') } },
        { files: { a: text('1') } },
        { files: { a: text('1', '3'), b: null } },
        { files: { b: '1' } },
      ),
    ],
  ],
  [
    'a merge, and what it joins',
    [
      base,
      ...onto,
      ...line('left', 'base', { files: { l: '1' } }, { files: { l: '2' } }),
      ...line('right', 'base', { files: { r: '1' } }, { files: { r: '2' } }),
      { name: 'head', parents: ['left', 'right'], files: { r: '2' } },
      ...line('head', 'head', { files: { h: '1' } }),
    ],
  ],
  [
    'a merge of what it goes upon',
    [
      base,
      ...onto,
      ...line('head', 'base', { files: { h: '1' } }),
      { name: 'head', parents: ['head', 'onto'], files: { a: text('onto'), c: 'onto' } },
      ...line('head', 'head', { files: { h: '2' } }),
      ...line('onto', 'onto', { files: { d: '1' } }),
    ],
  ],
  [
    'a merge beside what stands where it should',
    [
      base,
      ...line('head', 'base', { files: { h: '1' } }),
      ...line('side', 'base', { files: { s: '1' } }),
      { name: 'head', parents: ['head', 'side'], files: { s: '1' } },
      { name: 'onto', parents: ['base'], files: { o: '1' } },
    ],
  ],
  [
    'an octopus',
    [
      base,
      ...onto,
      ...['x', 'y', 'z'].flatMap((name) => line(name, 'base', { files: { [name]: '1' } })),
      { name: 'head', parents: ['x', 'y', 'z'], files: { y: '1', z: '1' } },
    ],
  ],
  [
    'new names on both sides',
    [
      base,
      ...line('onto', 'base', { moved: { a: 'd/a' } }),
      ...line(
        'head',
        'base',
        { files: { a: text('1', '2') } },
        { moved: { b: 'e' } },
        { files: { a: text('0', '2') } },
      ),
    ],
  ],
  [
    'modes, links and submodules',
    [
      base,
      ...onto,
      ...line(
        'head',
        'base',
        { files: { a: { mode: '100755', text: text('1') } } },
        { files: { l: { mode: '120000', text: 'a' } } },
        { files: { m: { mode: '160000', oid: '1'.repeat(40) } } },
        { files: { m: { mode: '160000', oid: '2'.repeat(40) } } },
      ),
    ],
  ],
  [
    'line ends',
    [
      base,
      ...onto,
      ...line('head', 'base', { files: { b: '1\r\n' } }, { files: { a: text('1', 'last\r') } }),
    ],
  ],
  [
    'unrelated histories',
    [...[base, ...onto], { name: 'head', files: { u: '1' } }, ...line('head', 'head', { files: { u: '2' } })],
  ],
  [
    'authors, dates and messages',
    [
      base,
      ...onto,
      ...line(
        'head',
        'base',
        {
          files: { d: '1' },
          author: 'Zoë  <zoe@example.com> 1234567890 -0730',
          message: 'Übel\n\n  body \n\n\n',
        },
        {
          files: { d: '2' },
          author: 'Zo\xeb <zoe@example.com> 5 +0000',
          message: 'caf\xe9\n',
          encoding: 'ISO-8859-1',
        },
        { files: { d: '3' }, message: '\xb5\xda', encoding: 'EUC-JP' },
        { files: { d: '4' }, message: '# no comment\nline' },
      ),
    ],
  ],
  [
    'a folder in place of a file',
    [
      base,
      ...onto,
      ...line('head', 'base', { files: { b: null, 'b/c': '1' } }, { files: { 'b/c': null, b: '3' } }),
    ],
  ],
];

test.each(rebased)('rebases %s as git does', async (_, steps) => {
  const ids = await makeHistory(repository.folder, steps);
  const [upon = '', head = ids.base ?? ''] = [ids.onto, ids.head];
  const result = await rebase(upon, head);
  expect(result).toEqual(await rebasedByGit(repository.folder, upon, head));
  await git(['update-ref', 'refs/heads/result', 'head' in result ? result.head : ''], {
    folder: repository.folder,
  });
  await git(['fsck', '--connectivity-only', 'refs/heads/result'], { folder: repository.folder });
});

describe('a conflict', () => {
  test.each<[what: string, steps: Step[]]>([
    [
      'the first',
      [base, ...onto, ...line('head', 'base', { files: { a: text('2') } }, { files: { b: '2' } })],
    ],
    [
      'a later one',
      [
        base,
        ...onto,
        ...line(
          'head',
          'base',
          { files: { b: '2' } },
          { files: { b: '3' } },
          { files: { a: text('2') } },
          { files: { b: '4' } },
        ),
      ],
    ],
    [
      'one whose change is undone later',
      [base, ...onto, ...line('head', 'base', { files: { a: text('2') } }, { files: { a: text('1') } })],
    ],
    [
      'one after another of a merge',
      [
        base,
        ...onto,
        ...line('left', 'base', { files: { x: '1' } }),
        ...line('right', 'base', { files: { x: '2' } }),
        { name: 'head', parents: ['left', 'right'], files: { x: '3' } },
      ],
    ],
    [
      'of a file and a folder',
      [base, ...onto, ...line('head', 'base', { files: { b: '2' } }, { files: { 'c/d': '1' } })],
    ],
    [
      'of submodules',
      [
        { ...base, files: { m: { mode: '160000', oid: '1'.repeat(40) } } },
        ...line('onto', 'base', { files: { m: { mode: '160000', oid: '2'.repeat(40) } } }),
        ...line('head', 'base', { files: { m: { mode: '160000', oid: '3'.repeat(40) } } }),
      ],
    ],
    [
      'of binary files',
      [
        base,
        ...onto,
        ...line('onto', 'onto', { files: { b: '\0on' } }),
        ...line('head', 'base', { files: { b: '\0head' } }),
      ],
    ],
  ])('is that of git: %s', async (_, steps) => {
    const { onto: upon = '', head = '' } = await makeHistory(repository.folder, steps);
    const result = await rebase(upon, head);
    expect(result.result).toBe('conflict');
    expect(result).toEqual(await rebasedByGit(repository.folder, upon, head));
  });
});

test('random changes of a few files are rebased as git does', async () => {
  const changes = fc.array(
    fc.dictionary(
      fc.constantFrom('a', 'b', 'd/a'),
      fc.option(
        fc
          .tuple(fc.constantFrom('1', '2'), fc.constantFrom('x', 'y'))
          .map(([first, last]) => text(first, last)),
      ),
      { minKeys: 1, maxKeys: 2 },
    ),
    { minLength: 1, maxLength: 6 },
  );
  const files = { a: text('1', 'x'), b: text('1', 'x', 'b'), 'd/a': text('1', 'x', 'd') };
  await fc.assert(
    fc.asyncProperty(changes, changes, async (ours, theirs) => {
      const { onto: upon = '', head = '' } = await makeHistory(repository.folder, [
        { name: 'base', files },
        ...line('onto', 'base', ...ours.map((each) => ({ files: each }))),
        ...line('head', 'base', ...theirs.map((each) => ({ files: each }))),
      ]);
      expect(await rebase(upon, head)).toEqual(await rebasedByGit(repository.folder, upon, head));
    }),
    { numRuns: 15 },
  );
});

test('what is rebased is bounded', async () => {
  const many = Array.from({ length: MAX_REBASED_COMMITS + 1 }, (_, n) => ({ files: { h: `${n}` } }));
  const { onto: upon = '', head = '' } = await makeHistory(repository.folder, [
    base,
    ...onto,
    ...line('head', 'base', ...many),
  ]);
  expect(await rebase(upon, head)).toEqual({ result: 'too_many' });
});
