/** The refs that pushers are told, beside what git itself tells of the same repository. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { git, gitText } from '../../platform/git/program.ts';
import { createRepository } from '../../platform/git/write.ts';
import { readAdvertisement } from './advertisement.ts';

const root = mkdtempSync(join(tmpdir(), 'advertisement-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let made = 0;
async function makeRepository(): Promise<string> {
  const folder = join(root, `${++made}.git`);
  await createRepository(folder, 'main');
  return folder;
}

/** A commit; nothing points to it. */
async function makeCommit(folder: string, title: string): Promise<string> {
  const tree = (await gitText(['mktree'], { folder, input: '' })).trim();
  const person = 'Ada <ada@example.com> 1700000000 +0000';
  const input = `tree ${tree}\nauthor ${person}\ncommitter ${person}\n\n${title}\n`;
  return (await gitText(['hash-object', '-t', 'commit', '-w', '--stdin'], { folder, input })).trim();
}

const setRefs = (folder: string, refs: Readonly<Record<string, string>>) =>
  git(['update-ref', '--stdin'], {
    folder,
    input: Object.entries(refs)
      .map(([ref, oid]) => `update ${ref} ${oid}\n`)
      .join(''),
  });

const said = (folder: string): Promise<string> =>
  gitText(['receive-pack', '--stateless-rpc', '--http-backend-info-refs', folder]);

async function expectSame(folder: string): Promise<void> {
  expect((await readAdvertisement(folder))?.toString('utf8')).toBe(await said(folder));
}

test('an empty repository says what it can do', async () => {
  await expectSame(await makeRepository());
});

test('branches, tags and other refs: single, packed, and packed with a newer value or without one', async () => {
  const folder = await makeRepository();
  const [one, two] = [await makeCommit(folder, 'one'), await makeCommit(folder, 'two')];
  await setRefs(folder, {
    'refs/heads/main': one,
    'refs/heads/a/b/c': two,
    'refs/heads/größe-Ω': two,
    'refs/heads/gone': one,
    'refs/notes/commits': one,
    'refs/ashlar/kept': two,
  });
  const input = `object ${one}\ntype commit\ntag v1\ntagger Ada <ada@example.com> 1700000000 +0000\n\nfirst\n`;
  const tag = (await gitText(['mktag'], { folder, input })).trim();
  await setRefs(folder, { 'refs/tags/v1': tag });
  await expectSame(folder);
  await git(['pack-refs', '--all', '--prune'], { folder });
  await expectSame(folder);
  await setRefs(folder, { 'refs/heads/main': two, 'refs/heads/a.b': one, 'refs/heads/new': one });
  await git(['update-ref', '-d', 'refs/heads/gone'], { folder });
  // Whoever writes a ref now, and folders that refs have left behind.
  writeFileSync(join(folder, 'refs', 'heads', 'main.lock'), two);
  await mkdir(join(folder, 'refs', 'heads', 'left', 'behind'), { recursive: true });
  await expectSame(folder);
  expect(await said(folder)).toContain(`${two} refs/heads/main\n`);
});

test.for([
  ['a ref that points to another', { 'refs/heads/link': 'ref: refs/heads/main\n' }],
  ['a ref that is damaged', { 'refs/heads/damaged': '' }],
  ['a list of refs that is damaged', { 'packed-refs': 'nonsense\n' }],
  ['objects of another repository', { 'objects/info/alternates': '/nonexistent\n' }],
  ['history that is cut off', { shallow: '' }],
  ['more refs than are read at once', { 'packed-refs': `${'#'.repeat(300_000)}\n` }],
] as const)('%s is left to git', async ([, files]) => {
  const folder = await makeRepository();
  await setRefs(folder, { 'refs/heads/main': await makeCommit(folder, 'one') });
  expect(await readAdvertisement(folder)).toBeInstanceOf(Buffer);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  expect(await readAdvertisement(folder)).toBeUndefined();
});

test('many single refs are left to git, and read again when they are packed', async () => {
  const folder = await makeRepository();
  const oid = await makeCommit(folder, 'one');
  await setRefs(
    folder,
    Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`refs/tags/v${index}`, oid])),
  );
  expect(await readAdvertisement(folder)).toBeUndefined();
  await git(['pack-refs', '--all', '--prune'], { folder });
  await expectSame(folder);
});

test('no repository is left to git', async () => {
  expect(await readAdvertisement(join(root, 'none.git'))).toBeUndefined();
});
