/** Merge commits, squashes and fast-forwards, compared with what git does in a checkout. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { CHECKOUT_TIME, checkOut, makeHistory, type Step } from '../../../../test/support/shaped-history.ts';
import { createObjectReader, type GitFolder } from '../objects.ts';
import { git } from '../program/program.ts';
import { createRepository } from '../write.ts';
import { type Join, joinCommits } from './join.ts';

const root = mkdtempSync(join(tmpdir(), 'ashlar-join-'));
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

const grace = { name: 'Grace', email: 'grace@example.com', time: CHECKOUT_TIME, zone: '+0000' };
const ada = { name: 'Ada', email: 'ada@example.com', time: 5, zone: '+0200' };
const merge = { message: "Merge branch 'source'", author: grace, committer: grace };
const squash = { message: 'All of it\n', author: ada, committer: grace };

const base: Step = { name: 'base', files: { a: '1', b: '1' } };
const source: Step[] = [
  { name: 'source', parents: ['base'], files: { a: '2' } },
  { name: 'source', parents: ['source'], files: { c: '1' } },
];
const diverged = [base, { name: 'target', parents: ['base'], files: { b: '2' } }, ...source];
const ahead = [
  base,
  { name: 'target', parents: ['base'] },
  { ...source[0], name: 'source', parents: ['target'] },
];
const conflicting = [...diverged, { name: 'target', parents: ['target'], files: { a: '3' } }];
const unrelated = [
  { name: 'target', files: { a: '1' } },
  { name: 'source', files: { a: '1' } },
];

/** The head that git's commands make of the target. */
async function madeByGit(ids: Record<string, string>, how: Omit<Join, 'target' | 'source'>): Promise<string> {
  const { base: start = '', target = '', source: from = '' } = ids;
  const checkout = await checkOut(repository.folder, start);
  const identity = `${ada.name} <${ada.email}>`;
  try {
    let incoming = from;
    if (how.squash) {
      await checkout.text('checkout', '--quiet', '--detach', await checkout.text('merge-base', target, from));
      await checkout.text('merge', '--quiet', '--squash', from);
      // Git takes a small number for a day of the month, without the @.
      const date = `@${ada.time} ${ada.zone}`;
      await checkout.text(
        'commit',
        '-q',
        '--cleanup=verbatim',
        '-m',
        squash.message,
        `--author=${identity}`,
        '--date',
        date,
      );
      incoming = await checkout.text('rev-parse', 'HEAD');
    }
    await checkout.text('checkout', '--quiet', '--detach', target);
    if (how.merge)
      await checkout.text('merge', '--quiet', '--no-ff', '--cleanup=verbatim', '-m', merge.message, incoming);
    else await checkout.text('merge', '--quiet', '--ff-only', incoming);
    return await checkout.text('log', '-1', '--format=%T %P %an %ae %cn %ct %B');
  } finally {
    checkout.remove();
  }
}

async function joinHere(ids: Record<string, string>, how: Omit<Join, 'target' | 'source'>) {
  const { target = '', source: from = '' } = ids;
  return joinCommits(repository, { target, source: from, ...how });
}

describe('the commits are those of git', () => {
  test.each<[what: string, steps: Step[], how: Omit<Join, 'target' | 'source'>, squash?: string]>([
    ['a merge', diverged, { merge }],
    ['a merge of what is ahead', ahead, { merge }],
    ['a fast-forward', ahead, {}],
    ['a squash that is merged', diverged, { squash, merge }, '^2'],
    ['a squash that the target is moved to', ahead, { squash }, '^{commit}'],
  ])('%s', async (_, steps, how, squashed) => {
    const ids = await makeHistory(repository.folder, steps);
    const joined = await joinHere(ids, how);
    if (joined.result !== 'joined') throw new Error(joined.result);
    const { folder } = repository;
    const idOf = async (name: string) => (await git(['rev-parse', name], { folder })).toString().trim();
    expect(joined.squash).toBe(squashed && (await idOf(`${joined.head}${squashed}`)));
    await git(['update-ref', 'refs/heads/joined', joined.head], { folder });
    await git(['fsck', '--connectivity-only', 'refs/heads/joined'], { folder });
    const log = await git(['log', '-1', '--format=%T %P %an %ae %cn %ct %B', joined.head], { folder });
    expect(log.toString().trim()).toBe(await madeByGit(ids, how));
  });
});

test.each<[what: string, steps: Step[], how: Omit<Join, 'target' | 'source'>, result: unknown]>([
  ['a conflict', conflicting, { merge }, { result: 'conflict', paths: ['a'] }],
  ['a conflict of a squash', conflicting, { squash, merge }, { result: 'conflict', paths: ['a'] }],
  ['unrelated histories', unrelated, { merge }, { result: 'unrelated' }],
  ['unrelated histories, squashed', unrelated, { squash }, { result: 'unrelated' }],
  ['no fast-forward', diverged, {}, { result: 'diverged' }],
  ['no fast-forward of a squash', diverged, { squash }, { result: 'diverged' }],
  ['no fast-forward to what is unrelated', unrelated, {}, { result: 'diverged' }],
])('%s makes no commit', async (_, steps, how, result) => {
  expect(await joinHere(await makeHistory(repository.folder, steps), how)).toEqual(result);
});

test('a message that could not be read again is refused', async () => {
  const ids = await makeHistory(repository.folder, diverged);
  const message = 'x'.repeat(1_048_577);
  await expect(joinHere(ids, { merge: { ...merge, message } })).rejects.toMatchObject({ status: 422 });
});
