/** Archives that jobs made, the hostile ones among them, read from the disk. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from 'vitest';
import { type ZipEntry, zipOf } from '../../../../test/support/zip.ts';
import { asBlob, type OpenBlob } from '../../../platform/blobs/blob-store.ts';
import { listArchive, openArchived } from './archive.ts';

const folder = mkdtempSync(join(tmpdir(), 'ashlar-archive-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function written(content: Buffer): Promise<OpenBlob> {
  const path = join(folder, 'archive.zip');
  writeFileSync(path, content);
  return asBlob(await open(path));
}

async function read(content: Buffer, path: string): Promise<string> {
  const { stream } = await openArchived(await written(content), path);
  return (await buffer(stream)).toString();
}

const good: ZipEntry[] = [
  { name: 'a.txt', content: 'one' },
  { name: 'folder/', mode: 0o040755 },
  { name: 'folder/ünï.txt', content: 'two'.repeat(50_000) },
  { name: 'empty' },
];

test.each([
  ['a.txt', 'one'],
  ['folder/ünï.txt', 'two'.repeat(50_000)],
  ['empty', ''],
])('%s is read', async (path, content) => expect(await read(zipOf(...good), path)).toBe(content));

test.each<[string, Buffer, string, string]>([
  ['a file that is not there', zipOf(...good), 'b.txt', '404'],
  ['a folder', zipOf(...good), 'folder', '404'],
  ['what is no archive', Buffer.from('not a zip'), 'a.txt', 'the archive cannot be read'],
  ['nothing', Buffer.alloc(0), 'a.txt', 'the archive cannot be read'],
  ['a truncated archive', zipOf(...good).subarray(0, -30), 'a.txt', 'the archive cannot be read'],
  [
    'a name that leads out',
    zipOf({ name: '../a', content: 'x' }, ...good),
    'a.txt',
    'invalid relative path: ../a',
  ],
  ['an absolute name', zipOf({ name: '/etc/passwd' }, ...good), 'a.txt', 'absolute path: /etc/passwd'],
  [
    'a symbolic link',
    zipOf({ name: 'l', content: '/etc/passwd', mode: 0o120777 }),
    'l',
    'is a symbolic link',
  ],
  ['a device', zipOf({ name: 'd', mode: 0o020666 }), 'd', 'is no file'],
  ['an encrypted file', zipOf({ name: 'e', content: 'x', claims: { flags: 1 } }), 'e', 'is encrypted'],
  ['an unknown packing', zipOf({ name: 'u', content: 'x', claims: { method: 12 } }), 'u', 'packed in a way'],
  [
    'a file of two gibibytes',
    zipOf({ name: 'b', content: 'x', claims: { size: 2 ** 31 } }),
    'b',
    'larger than 1 GiB',
  ],
])('%s is refused', async (_, content, path, message) => {
  await expect(read(content, path)).rejects.toThrow(message);
});

test('a file that is longer than it says ends with an error, after as many bytes', async () => {
  const bomb = zipOf({ name: 'bomb', content: Buffer.alloc(50_000_000), claims: { size: 100 } });
  await expect(read(bomb, 'bomb')).rejects.toThrow('too many bytes');
  const short = zipOf({ name: 'short', content: 'x', claims: { size: 100 } });
  await expect(read(short, 'short')).rejects.toThrow('not enough bytes');
});

test('a directory of more entries than are read is refused before it is read', async () => {
  const zip = zipOf({ name: 'a', content: 'x' });
  const end = zip.length - 22;
  zip.writeUInt16LE(65_535, end + 10);
  await expect(read(zip, 'b')).rejects.toThrow('the archive cannot be read');
});

test('of many entries the last one is found', async () => {
  const many = Array.from({ length: 20_000 }, (_, at) => ({ name: `folder/file-${at}`, content: `${at}` }));
  expect(await read(zipOf(...many), 'folder/file-19999')).toBe('19999');
});

describe('the directory', () => {
  const archive = zipOf(
    { name: 'b/', mode: 0o040700 },
    { name: 'b/two.sh', content: '12', mode: 0o100755 },
    { name: 'a.txt', content: '123' },
    { name: 'c/d/e.txt', content: '1', mode: 0 },
  );
  test.each<[string, boolean, string[]]>([
    ['', false, ['a.txt file 3 100644', 'b directory 0 040700', 'c directory 0 040755']],
    ['b', false, ['b/two.sh file 2 100755']],
    ['c', false, ['c/d directory 0 040755']],
    ['c', true, ['c/d directory 0 040755', 'c/d/e.txt file 1 100644']],
  ])('%j, with what is below: %s', async (folder, recursive, lines) => {
    const entries = await listArchive(await written(archive), folder, recursive);
    expect(entries.map(({ path, type, size, mode }) => `${path} ${type} ${size} ${mode}`)).toEqual(lines);
  });

  test('of what is not there, and of what is too deep', async () => {
    await expect(listArchive(await written(archive), 'x', false)).rejects.toThrow('404');
    const deep = zipOf({ name: `${'x/'.repeat(101)}y` });
    await expect(listArchive(await written(deep), '', true)).rejects.toThrow('more than 100 folders');
    // A few names of many folders each are more text than memory is for.
    const long = Array.from({ length: 20 }, (_, nth) => ({
      name: `${nth}${`${'x'.repeat(500)}/`.repeat(99)}y`,
    }));
    await expect(listArchive(await written(zipOf(...long)), '', true)).rejects.toThrow(
      'the paths in the archive are too long',
    );
    expect(await listArchive(await written(zipOf(...long)), '', false)).toHaveLength(20);
  });
});
