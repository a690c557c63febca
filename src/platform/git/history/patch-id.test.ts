/** Ids of changes. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkOut, makeHistory } from '../../../../test/support/shaped-history.ts';
import { createRepository } from '../write.ts';
import { EMPTY_TREE } from './diff.ts';
import { patchIdOf } from './patch-id.ts';

const root = mkdtempSync(join(tmpdir(), 'ashlar-patch-id-'));
const folder = join(root, 'one.git');
afterAll(() => rmSync(root, { recursive: true, force: true }));

const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`);
const text = (change: string, before = 'first'): string =>
  [before, ...lines, change, ...lines, ''].join('\n');
let ids: Record<string, string> = {};
beforeAll(async () => {
  await createRepository(folder, 'main');
  ids = await makeHistory(folder, [
    { name: 'base', files: { a: text('x'), b: '\0one' } },
    { name: 'changed', parents: ['base'], files: { a: text('y') } },
    { name: 'elsewhere', parents: ['base'], files: { a: text('x', 'one\ntwo\nthree'), c: '1' } },
    { name: 'again', parents: ['elsewhere'], files: { a: text('y', 'one\ntwo\nthree') } },
    { name: 'indented', parents: ['base'], files: { a: text('  y') } },
    { name: 'moved', parents: ['base'], moved: { a: 'd' } },
    { name: 'mode', parents: ['base'], files: { a: { mode: '100755', text: text('x') } } },
    { name: 'binary', parents: ['base'], files: { b: '\0two' } },
    { name: 'other-binary', parents: ['base'], files: { b: '\0three' } },
    { name: 'large', parents: ['base'], files: { l: randomBytes(12 * 1_048_576).toString('base64') } },
  ]);
});

const between = (from: string, to: string) =>
  patchIdOf({ folder }, { from: ids[from] ?? from, to: ids[to] ?? to });

test.each([
  ['base', 'changed'],
  ['base', 'indented'],
  ['base', 'moved'],
  ['base', 'mode'],
  ['base', 'binary'],
  [EMPTY_TREE, 'base'],
])('from %s to %s it is that of git', async (from, to) => {
  const checkout = await checkOut(folder, ids.base ?? '');
  const diff = `git diff --full-index ${ids[from] ?? from} ${ids[to]} | git patch-id --verbatim`;
  const [oid] = (await checkout.text('-c', `alias.piped=!${diff}`, 'piped')).split(' ');
  checkout.remove();
  expect(oid).toMatch(/^[0-9a-f]{40}$/);
  expect(await between(from, to)).toBe(oid);
});

test('it is the same wherever the change is made, and another for each change', async () => {
  expect(await between('elsewhere', 'again')).toBe(await between('base', 'changed'));
  const changes = ['changed', 'indented', 'moved', 'mode', 'binary', 'other-binary', 'elsewhere'];
  const found = await Promise.all(changes.map((name) => between('base', name)));
  expect(new Set(found).size).toBe(changes.length);
});

test('no change and one that is too large have none', async () => {
  expect(await between('base', 'base')).toBeUndefined();
  expect(await between('base', 'large')).toBeUndefined();
});
