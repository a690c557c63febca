/** What servers say of their repositories, good and bad. */
import { expect, test } from 'vitest';
import { BadPktLine, FLUSH, pktLine } from '../program/pkt-line.ts';
import { BadAnswer, readAdvertisement } from './advertisement.ts';

const oid = 'a'.repeat(40);
const said = (...lines: string[]) =>
  Buffer.concat([
    pktLine('# service=git-upload-pack\n'),
    FLUSH,
    ...lines.map((line) => pktLine(`${line}\n`)),
    FLUSH,
  ]);
const read = (bytes: Buffer, maximum = 10) => readAdvertisement(bytes, 'upload-pack', maximum);

test('has branches and tags, and the branch of HEAD', async () => {
  const bytes = said(
    `${oid} HEAD\0ofs-delta symref=HEAD:refs/heads/trunk agent=git/2`,
    `${oid} refs/heads/trunk`,
    `${oid} refs/pull/1/head`,
    `${oid} refs/tags/v1`,
    `${'b'.repeat(40)} refs/tags/v1^{}`,
  );
  const { refs, head, bytes: rest } = await read(bytes);
  expect(Object.fromEntries(refs)).toEqual({ 'refs/heads/trunk': oid, 'refs/tags/v1': oid });
  expect(head).toBe('refs/heads/trunk');
  expect(rest.subarray(0, 4).toString()).not.toBe('001e');
  expect(rest.subarray(-4).toString()).toBe('0000');
});

test('of an empty repository has nothing', async () => {
  const { refs, head } = await read(said(`${'0'.repeat(40)} capabilities^{}\0report-status`));
  expect([refs.size, head]).toEqual([0, undefined]);
});

test.each<[string, Buffer, string]>([
  ['another service', said(`${oid} HEAD`).fill('x', 4, 20), 'not one of a git server'],
  ['no lines', Buffer.from('<html>'), 'not one of a git server'],
  ['nothing', Buffer.alloc(0), 'ends too early'],
  ['a part', said(`${oid} HEAD`).subarray(0, -8), 'ends too early'],
  ['SHA-256', said(`${'a'.repeat(64)} HEAD\0object-format=sha256`), 'SHA-256'],
  ['an empty one of SHA-256', said(`${'0'.repeat(40)} capabilities^{}\0object-format=sha256`), 'SHA-256'],
  ['a shallow one', said(`${oid} HEAD\0x`, `shallow ${oid}`), 'is shallow'],
  ['no ids', said('nonsense refs/heads/a'), 'not one of a git server'],
  [
    'too many',
    said(...Array.from({ length: 11 }, (_, index) => `${oid} refs/heads/b${index}`)),
    'more than 10',
  ],
])('%s is refused', async (_, bytes, words) => {
  const failure = await read(bytes).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(BadAnswer);
  expect(failure).not.toBeInstanceOf(BadPktLine);
  expect(String(failure)).toContain(words);
});
