/** Tar files that are made and read again: long names, names of other alphabets, and headers that say nothing. */
import { expect, test } from 'vitest';
import { tarEntries } from '../../../test/support/tar.ts';
import { tarEnd, tarHead, tarMembers, tarTail } from './tar.ts';

async function read(
  archive: Buffer,
  pieceBytes: number,
  longNames = true,
): Promise<[string, string, boolean][]> {
  async function* pieces() {
    for (let at = 0; at < archive.length; at += pieceBytes) yield archive.subarray(at, at + pieceBytes);
  }
  const found: [string, string, boolean][] = [];
  for await (const member of tarMembers(pieces(), Number.POSITIVE_INFINITY, { longNames })) {
    const parts: Buffer[] = [];
    for await (const piece of member.pieces()) parts.push(piece);
    found.push([member.name, Buffer.concat(parts).toString(), member.isFile]);
  }
  return found;
}

const names = [
  'a',
  'b'.repeat(100),
  'c'.repeat(101),
  `uploads/${'d'.repeat(32)}/${'é'.repeat(120)}.png`,
  'e/f',
];

const made = Buffer.concat([
  ...names.flatMap((name) => {
    const content = Buffer.from(`of ${name}`);
    return [tarHead(name, content.length, new Date(0)), content, tarTail(content.length)];
  }),
  tarEnd(),
]);

test.each([1, 511, 512, 10_000])('what is made is read, in pieces of %i bytes', async (pieceBytes) => {
  expect(await read(made, pieceBytes)).toEqual(names.map((name) => [name, `of ${name}`, true]));
});

test('a name by a header of the older kind is the name of the next member', async () => {
  const long = 'x'.repeat(150);
  const archive = Buffer.concat([
    tarEntries(
      { name: '././@LongLink', type: 'L', content: `${long}\0` },
      { name: 'short', content: '1' },
      { name: 'next', content: '2' },
    ),
    tarEnd(),
  ]);
  expect(await read(archive, 512)).toEqual([
    [long, '1', true],
    ['next', '2', true],
  ]);
});

test.each([
  ['no records', 'aaaa'],
  ['a length of nothing', '0 path=x\n'],
  ['a length beyond its end', '99 path=x\n'],
  ['a size that is none', '16 size=minus1\n\n'],
])('a header with %s says nothing', async (_what, content) => {
  const archive = Buffer.concat([
    tarEntries({ name: 'pax', type: 'x', content }, { name: 'own', content: '1' }),
    tarEnd(),
  ]);
  expect(await read(archive, 512)).toEqual([['own', '1', true]]);
});

test('who does not ask for long names gets the headers as members', async () => {
  const archive = Buffer.concat([
    tarEntries({ name: 'pax', type: 'x', content: 'aa' }, { name: 'own', content: '1' }),
    tarEnd(),
  ]);
  expect(await read(archive, 512, false)).toEqual([
    ['pax', 'aa', false],
    ['own', '1', true],
  ]);
});
