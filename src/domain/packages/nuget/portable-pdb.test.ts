/** Signatures and checksums of portable PDBs. */
import { expect, test } from 'vitest';
import { pdbOf } from '../../../../test/support/pdb.ts';
import { checksumsOf, readPdbHead, spelledSignature } from './portable-pdb.ts';

const guid = Buffer.from('b2f6f895bcafe445884cb4a5bf5addd2', 'hex');
/** The first bytes of one that a compiler wrote (ClrLoader.pdb 0.3). */
const written = Buffer.from(
  '42534a420100010000000000' +
    '0c0000005044422076312e300000000000000500' +
    '7000000068000000235064620000000' +
    '0d8000000c4020000237e00009c030000a000000023537472696e677300000000' +
    '3c04000040000000234755494400000' +
    '07c0400007414000023426c6f6200000' +
    '0b2f6f895bcafe445884cb4a5bf5addd2b1f231fc',
  'hex',
);

test('the signature is the GUID as debuggers write it, and the checksum is over zeros in the place of the id', () => {
  const signature = '95f8f6b2afbc45e4884cb4a5bf5addd2FFFFFFFF';
  expect(readPdbHead(written)?.signature).toBe(signature);
  expect(written.length).toBe(0x70 + 20);
  expect(readPdbHead(written)?.blank).toEqual(Buffer.concat([written.subarray(0, 0x70), Buffer.alloc(20)]));
  const ours = pdbOf({ guid, rest: Buffer.from('rest') });
  expect(readPdbHead(ours)?.signature).toBe(signature);
  expect(readPdbHead(ours)?.blank.subarray(-4).toString()).toBe('rest');
});

const ours = pdbOf({ guid });
const changed = (change: (bytes: Buffer) => unknown): Buffer => {
  const bytes = Buffer.from(ours);
  change(bytes);
  return bytes;
};

test.each<readonly [string, Buffer]>([
  ['nothing', Buffer.alloc(0)],
  ['a PDB of Windows', Buffer.from('Microsoft C/C++ MSF 7.00\r\n')],
  ['a version that is too long', changed((bytes) => bytes.writeUInt32LE(0xffffffff, 12))],
  ['no stream', changed((bytes) => bytes.writeUInt16LE(0, 30))],
  ['another stream', pdbOf({ guid, stream: '#Pdx' })],
  ['a stream whose name does not end', pdbOf({ guid, stream: 'x'.repeat(40) })],
  ['a stream that is too short', changed((bytes) => bytes.writeUInt32LE(19, 48))],
  ['a stream beyond the first bytes', changed((bytes) => bytes.writeUInt32LE(0xfffffff0, 44))],
  ...[1, 19, 20, 31, 33, 40, 47, 55, 75].map(
    (length) => [`${length} bytes`, ours.subarray(0, length)] as const,
  ),
])('%s has no signature', (_, bytes) => {
  expect(readPdbHead(bytes)).toBeUndefined();
});

test('the case of signatures does not matter', () => {
  expect(spelledSignature('95F8F6B2AFBC45E4884CB4A5BF5ADDD2ffffffff')).toBe(
    '95f8f6b2afbc45e4884cb4a5bf5addd2FFFFFFFF',
  );
});

const [one, other] = ['a', 'b'].map((digit) => digit.repeat(64));
test.each([
  [`SHA256:${one}`, [one]],
  [`sha384:${one};SHA256:${one};sha256:${other?.toUpperCase()}`, [one, other]],
  [`SHA256:${one}0`, []],
  [`SHA256:${one?.slice(1)}`, []],
  [`SHA256:${one};`.repeat(100), Array.from({ length: 10 }, () => one)],
  ['granite', []],
])('checksums of %s', (header, found) => {
  expect(checksumsOf(header).map((each) => each.toString('hex'))).toEqual(found);
});
