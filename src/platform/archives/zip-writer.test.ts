import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { findEntries, openEntry, withZipFile } from './zip-file.ts';
import { zipPieces } from './zip-writer.ts';

const folder = mkdtempSync(join(tmpdir(), 'zip-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function* files(...given: [string, string][]) {
  for (const [name, content] of given) yield { name, content: Buffer.from(content) };
}

async function made(...given: [string, string][]): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of zipPieces(files(...given))) pieces.push(piece);
  return Buffer.concat(pieces);
}

test('what is written is read again', async () => {
  const given: [string, string][] = [
    ['a@v1/ünï.txt', 'one'],
    ['a@v1/empty', ''],
    ['a@v1/large', 'two'.repeat(100_000)],
  ];
  const path = join(folder, 'a.zip');
  writeFileSync(path, await made(...given));
  for (const [name, content] of given)
    await withZipFile(path, async (zip) => {
      const [entry] = await findEntries(zip, (each) => each === name, 1);
      expect(entry && (await text(await openEntry(zip, entry, { bytes: 1_000_000, text: '' })))).toBe(
        content,
      );
    });
  expect(await made(...given)).toEqual(await made(...given));
});

test('an archive of nothing is one', async () => {
  writeFileSync(join(folder, 'b.zip'), await made());
  expect(await withZipFile(join(folder, 'b.zip'), async ({ entryCount }) => entryCount)).toBe(0);
});
