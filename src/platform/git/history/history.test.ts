import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { gitRunsDuring } from '../../../../test/support/git-runs.ts';
import { createObjectReader } from '../objects.ts';
import { git, gitText } from '../program/program.ts';
import { createRepository } from '../write.ts';
import {
  commitIdsBetween,
  commitLinksBetween,
  commitsBetween,
  countHistory,
  type HistoryFilter,
  listHistory,
  mergeBase,
  refsContaining,
} from './history.ts';

const root = mkdtempSync(join(tmpdir(), 'ashlar-history-'));
const reader = createObjectReader();
afterAll(() => {
  reader.stop();
  rmSync(root, { recursive: true, force: true });
});

/** The same numbers for the same seed. */
const randomOf = (seed: number) => {
  let state = seed;
  return (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
};

/** Commits with up to three parents, many of the same second, some older than their parents. */
async function makeHistory(seed: number, count: number): Promise<string> {
  const folder = join(root, `${seed}.git`);
  await createRepository(folder, 'main');
  const random = randomOf(seed);
  const parts: string[] = [];
  for (let mark = 1; mark <= count; mark++) {
    const parents = mark === 1 ? [] : [mark - 1 - random(Math.min(mark - 1, 4))];
    while (random(3) === 0 && mark > 5 && parents.length < 3) parents.push(1 + random(mark - 1));
    const [first, ...merged] = [...new Set(parents)];
    const time = 1_700_000_000 + Math.floor(mark / 4) - (random(10) === 0 ? random(20) : 0);
    const who = `${random(2) === 0 ? 'Ada <ada@example.com>' : 'Bob [x] <bob@example.com>'} ${time} +0000`;
    parts.push(
      `commit refs/heads/b${mark % 3}\nmark :${mark}\nauthor ${who}\ncommitter ${who}\ndata 1\nx\n`,
      ...(first === undefined ? [] : [`from :${first}\n`]),
      ...merged.map((parent) => `merge :${parent}\n`),
      `M 100644 inline ${random(2) === 0 ? 'docs/a*b' : 'src/f'}\ndata ${String(mark).length}\n${mark}\n\n`,
    );
  }
  parts.push(`reset refs/heads/main\nfrom :${count}\n`);
  await git(['fast-import', '--quiet', '--force'], { folder, input: parts.join('') });
  return folder;
}

const idsOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

describe.each([1, 2, 3, 4, 5])('history %i', (seed) => {
  const filters: { filter: HistoryFilter; args: string[] }[] = [
    { filter: {}, args: [] },
    { filter: { firstParent: true }, args: ['--first-parent'] },
    { filter: { topological: true }, args: ['--topo-order'] },
    { filter: { author: 'Bob [x]' }, args: ['--author=Bob \\[x\\]'] },
    { filter: { path: 'docs/' }, args: ['main', '--', 'docs'] },
    { filter: { path: 'docs/a*b' }, args: ['main', '--', 'docs/a[*]b'] },
    {
      filter: { since: 1_700_000_010, until: 1_700_000_020 },
      args: ['--since=@1700000010', '--until=@1700000020'],
    },
    { filter: {}, args: ['--branches', '--tags'] },
  ];
  const made = makeHistory(seed, 160);

  test.each(filters)('is that of git log: $filter', async ({ filter, args }) => {
    const folder = await made;
    const store = reader.open(folder);
    const main = (await gitText(['rev-parse', 'main'], { folder })).trim();
    const head = args.includes('--tags') ? undefined : main;
    const heads = head === undefined || args.includes('--') ? [] : [head];
    const expected = idsOf(await gitText(['log', '--format=%H', ...heads, ...args], { folder }));
    for (const [offset, limit] of [
      [0, 1_000],
      [0, 1],
      [3, 7],
      [150, 20],
      [1_000, 5],
      [Number.MAX_SAFE_INTEGER, 5],
    ] as const) {
      const found = await listHistory(store, head, filter, { offset, limit });
      expect(found.map(({ oid }) => oid)).toEqual(expected.slice(offset, offset + limit));
    }
  });

  test('counts, bases, ranges and refs are those of git', async () => {
    const folder = await made;
    const store = reader.open(folder);
    const [head = '', old = ''] = idsOf(await gitText(['rev-parse', 'main', 'main~9'], { folder }));
    const all = idsOf(await gitText(['rev-list', 'main'], { folder }));
    expect(await countHistory(store, head)).toBe(all.length);
    const firsts = idsOf(await gitText(['rev-list', '--first-parent', 'main'], { folder }));
    expect(await countHistory(store, head, true)).toBe(firsts.length);
    expect(await mergeBase(store, [head, old])).toBe(old);
    const between = await commitsBetween(store, store, old, head, 1_000);
    expect(between.map(({ oid }) => oid)).toEqual(
      idsOf(await gitText(['rev-list', '--reverse', 'main~9..main'], { folder })),
    );
    expect(between.at(-1)?.oid).toBe(head);
    await gitText(['update-ref', 'refs/tags/v1', old], { folder });
    const refs = await refsContaining(store, old, ['branch', 'tag']);
    expect(refs).toContainEqual({ type: 'branch', name: 'main' });
    expect(refs.at(-1)).toEqual({ type: 'tag', name: 'v1' });
    expect(await refsContaining(store, head, ['tag'])).toEqual([]);
  });
});

test('the commits and links of a short range are listed once, whatever is asked of it', async () => {
  const folder = await makeHistory(99, 30);
  const store = reader.open(folder);
  const [head = '', old = ''] = idsOf(await gitText(['rev-parse', 'main', 'main~2'], { folder }));
  const runs = await gitRunsDuring(async () => {
    const links = await commitLinksBetween(store, old, head);
    const ids = links.map(({ oid }) => oid);
    expect(await commitIdsBetween(store, old, head, 1)).toEqual([head]);
    expect((await commitsBetween(store, store, old, head, 1_000)).map(({ oid }) => oid)).toEqual(
      ids.toReversed(),
    );
    expect((await commitIdsBetween(store, old, head, 1_000)).join()).toBe(ids.join());
  });
  expect(runs['rev-list']).toBe(1);
});

test('two histories that share nothing have no base', async () => {
  const folder = join(root, 'two.git');
  await createRepository(folder, 'main');
  const who = 'Ada <ada@example.com> 1700000000 +0000';
  const commit = (branch: string) => `commit refs/heads/${branch}\ncommitter ${who}\ndata 1\n${branch}\n`;
  await git(['fast-import', '--quiet'], { folder, input: commit('a') + commit('b') });
  const ids = idsOf(await gitText(['rev-parse', 'a', 'b'], { folder }));
  expect(await mergeBase({ folder }, ids)).toBeUndefined();
});

test.each(['../x', '.git/config', 'a//b', 'a\u0001b'])('nothing was ever at %j', async (path) => {
  const folder = join(root, 'none.git');
  expect(await listHistory(reader.open(folder), '1'.repeat(40), { path }, { offset: 0, limit: 1 })).toEqual(
    [],
  );
});
