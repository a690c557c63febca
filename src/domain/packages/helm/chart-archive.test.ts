import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { type TarEntry, tarEntries, tarFile } from '../../../../test/support/tar.ts';
import { descriptionIn, readDescription } from './chart-archive.ts';

async function* inPieces(archive: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < archive.length; at += length) yield archive.subarray(at, at + length);
}

const chart: TarEntry = { name: 'app/Chart.yaml', content: 'name: app\n' };
const other: TarEntry = { name: 'app/values.yaml', content: 'x'.repeat(2_000) };

test.each<[string, TarEntry[]]>([
  ['first', [chart, other]],
  ['behind other files', [other, { name: 'app/empty' }, chart]],
  ['with a dot before it', [{ ...chart, name: './app/Chart.yaml' }]],
  ['with a long name', [{ ...chart, name: 'Chart.yaml', prefix: 'a'.repeat(155) }]],
  ['beside those of other charts', [{ ...chart, name: 'app/charts/b/Chart.yaml', content: 'b' }, chart]],
  ['beside a folder of its name', [{ ...chart, type: '5', content: '' }, chart]],
  ['beside a link of its name', [{ ...chart, type: '2', content: '' }, chart]],
])('a description %s', async (_, entries) => {
  for (const length of [1, 511, 512, 100_000])
    expect(await descriptionIn(inPieces(tarFile(...entries), length))).toBe('name: app\n');
});

test.each<[string, Buffer, string]>([
  ['nothing', Buffer.alloc(0), 'not a tar'],
  ['zeros', Buffer.alloc(1_024), 'no Chart.yaml'],
  ['a text', Buffer.from('granite '.repeat(100)), 'not a tar'],
  ['one without it', tarFile(other), 'no Chart.yaml'],
  ['one above all folders', tarFile({ ...chart, name: 'Chart.yaml' }), 'no Chart.yaml'],
  ['a file that is larger than the archive', tarEntries({ ...chart, size: '00000001001' }), 'not a tar'],
  ['a skipped file that is larger', tarEntries({ ...other, size: '77777777777' }), 'not a tar'],
  ['a large description', tarFile({ ...chart, content: 'x'.repeat(65_537) }), 'too large'],
  ['a negative size', tarFile({ ...chart, size: '-0000000001' }), 'not a tar'],
  ['a size that is none', tarFile({ ...chart, size: '0x10' }), 'not a tar'],
  ['a wrong sum', tarFile({ ...chart, sum: '000001\0 ' }), 'not a tar'],
  ['half a header', tarFile(chart).subarray(0, 300), 'not a tar'],
])('%s is refused', async (_, archive, problem) => {
  await expect(descriptionIn(inPieces(archive, 1_000))).rejects.toThrow(problem);
});

const folder = mkdtempSync(join(tmpdir(), 'charts-'));
afterAll(() => rmSync(folder, { recursive: true }));
function stored(content: Buffer): string {
  const path = join(folder, 'chart.tgz');
  writeFileSync(path, content);
  return path;
}

test('packed files are read, and a small one that is large when it is unpacked is refused', async () => {
  expect(await readDescription(stored(gzipSync(tarFile(other, chart))))).toBe('name: app\n');
  const content = 'x'.repeat(70_000_000);
  const bomb = gzipSync(tarFile({ name: 'app/bomb', content }, chart));
  expect(bomb.length).toBeLessThan(100_000);
  await expect(readDescription(stored(bomb))).rejects.toThrow('too large when it is unpacked');
  await expect(readDescription(stored(tarFile(chart)))).rejects.toThrow('gzip');
  const packed = gzipSync(tarFile(other, chart));
  await expect(readDescription(stored(packed.subarray(0, 40)))).rejects.toThrow('gzip');
});
