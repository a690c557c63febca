/** Whole differences, streamed: byte by byte those of git. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mustGit } from '../../../../test/support/git.ts';
import { createObjectReader } from '../objects.ts';
import { git } from '../program/program.ts';
import { createRepository } from '../write.ts';
import { streamDiff } from './raw-diff.ts';

const folder = join(mkdtempSync(join(tmpdir(), 'ashlar-raw-')), 'one.git');
const reader = createObjectReader();
const place = reader.open(folder);
beforeAll(() => createRepository(folder, 'main'));
afterAll(() => {
  reader.stop();
  rmSync(join(folder, '..'), { recursive: true, force: true });
});

/** The tree of a new commit with these files, in Latin-1. */
async function makeTree(files: Record<string, string>): Promise<string> {
  const listed = Object.entries(files).map(
    ([path, text]) => `M 100644 inline ${path}\ndata ${text.length}\n${text}\n`,
  );
  const input = `commit refs/heads/made\ncommitter A <a@b> 1 +0000\ndata 0\ndeleteall\n${listed.join('')}\n`;
  await git(['fast-import', '--quiet', '--force'], { folder, input: Buffer.from(input, 'latin1') });
  return (await mustGit(folder, ['rev-parse', 'made^{tree}'])).trim();
}

const long = Array.from({ length: 50_000 }, (_, at) => `line ${at}\n`).join('');

test('one of every kind of content is that of git, without a bound', async () => {
  const from = await makeTree({ crlf: 'a\r\nb\r\n', bytes: 'a\xff\n', zero: 'a\0', long, old: `x\n${long}` });
  const to = await makeTree({
    crlf: 'a\r\nc',
    bytes: 'b\xfe\n',
    zero: 'b\0',
    long: `${long}!`,
    '\xe9': `y\n${long}`,
  });
  const streamed = await buffer(streamDiff(place, { from, to }));
  const whole = await git(['diff', '-M', from, to], { folder });
  expect(streamed.equals(whole)).toBe(true);
  expect(streamed.toString('latin1')).toContain('rename from old');
});

test('one without a difference is empty', async () => {
  const tree = await makeTree({ a: 'a' });
  expect((await buffer(streamDiff(place, { from: tree, to: tree }))).length).toBe(0);
});

test('one of what is not there fails before its first byte', async () => {
  const tree = await makeTree({ a: 'a' });
  await expect(buffer(streamDiff(place, { from: tree, to: '1'.repeat(40) }))).rejects.toThrow(/git diff/);
});

test('its reader may go at any time', async () => {
  const from = await makeTree({ a: long });
  const to = await makeTree({ a: long.replaceAll('line', 'row') });
  const early = streamDiff(place, { from, to });
  const closed = new Promise((resolve) => early.once('close', resolve));
  early.on('error', () => {}).destroy();
  await closed;
  const late = streamDiff(place, { from, to });
  for await (const chunk of late) {
    expect((chunk as Buffer).length).toBeGreaterThan(0);
    break;
  }
  expect(late.destroyed).toBe(true);
  expect((await buffer(streamDiff(place, { from, to }))).length).toBeGreaterThan(2 * long.length);
});
