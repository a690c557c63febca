/** Whole differences, streamed: byte by byte those of git. */
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { makeTrees, useRepository } from '../../../../test/support/git-trees.ts';
import { git } from '../program/program.ts';
import { streamDiff } from './raw-diff.ts';

const place = useRepository();

async function makeTree(files: Record<string, string>): Promise<string> {
  const [tree = ''] = await makeTrees(
    place,
    Object.entries(files).map(([path, text]) => ({ path, text })),
  );
  return tree;
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
  const whole = await git(['diff', '-M', from, to], { folder: place.folder });
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
