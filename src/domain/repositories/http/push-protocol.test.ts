import { describe, expect, test } from 'vitest';
import { NO_OBJECT } from '../../../platform/git/names.ts';
import {
  BadPktLine,
  DATA,
  FLUSH,
  inBand,
  PktLineReader,
  pktLine,
} from '../../../platform/git/program/pkt-line.ts';
import { acceptedRefs, CommandReader, type PushCommands, refusalReport } from './push-protocol.ts';

const A = 'a'.repeat(40);
const line = (ref: string, capabilities = '') => pktLine(`${NO_OBJECT} ${A} ${ref}${capabilities}`);

function read(
  bytes: Buffer,
  size = bytes.length,
): { commands: PushCommands | undefined; reader: CommandReader } {
  const reader = new CommandReader();
  for (let at = 0; at < bytes.length; at += size) {
    const commands = reader.push(bytes.subarray(at, at + size));
    if (commands) return { commands, reader };
  }
  return { commands: undefined, reader };
}

describe('the commands of a push', () => {
  const push = Buffer.concat([
    pktLine(`shallow ${A}`),
    line('refs/heads/a', '\0 report-status side-band-64k agent=git/2'),
    line('refs/tags/b'),
    FLUSH,
    Buffer.from('PACKetc'),
  ]);

  test.each([1, 7, 10_000])('in pieces of %s bytes', (size) => {
    const { commands, reader } = read(push, size);
    expect(commands?.updates).toEqual([
      { before: NO_OBJECT, after: A, ref: 'refs/heads/a' },
      { before: NO_OBJECT, after: A, ref: 'refs/tags/b' },
    ]);
    expect(commands?.capabilities).toEqual(new Set(['report-status', 'side-band-64k', 'agent=git/2']));
    const taken = Buffer.concat([...reader.taken]);
    expect(taken).toEqual(push.subarray(0, taken.length));
  });

  test('wait for the options of the push', () => {
    const first = Buffer.concat([line('refs/heads/a', '\0push-options report-status'), FLUSH]);
    expect(read(first).commands).toBeUndefined();
    const { commands } = read(Buffer.concat([first, pktLine('ci.skip'), pktLine('a=b c\n'), FLUSH]));
    expect(commands?.updates).toHaveLength(1);
    expect(commands?.options).toEqual(['ci.skip', 'a=b c']);
    const many = Array.from({ length: 1_001 }, () => pktLine('a'));
    expect(() => read(Buffer.concat([first, ...many, FLUSH]))).toThrow(BadPktLine);
  });

  test('nothing but a flush is a push of nothing', () => {
    expect(read(FLUSH).commands?.updates).toEqual([]);
  });

  test.each<[string, Buffer]>([
    ['a word too many', line('refs/heads/a b')],
    ['no name', pktLine(`${NO_OBJECT} ${A}`)],
    ['no id', pktLine(`${NO_OBJECT} main refs/heads/a`)],
    [
      'a name that is not UTF-8',
      pktLine(Buffer.concat([Buffer.from(`${NO_OBJECT} ${A} refs/heads/`), Buffer.from([0xff])])),
    ],
    ['a signed push', pktLine('push-cert\0push-cert')],
    [
      'too many refs',
      Buffer.concat(Array.from({ length: 100_001 }, (_, index) => line(`refs/tags/${index}`))),
    ],
    ['no pkt-line', Buffer.from('GET / HTTP/1.1')],
  ])('refused: %s', (_, bytes) => {
    expect(() => read(bytes)).toThrow(BadPktLine);
  });
});

test('a refusal says why once, and answers for each ref', () => {
  const updates = ['refs/heads/a', 'refs/heads/b'].map((ref) => ({ ref, before: NO_OBJECT, after: A }));
  const refusals = new Map(updates.map(({ ref }) => [ref, 'No.']));
  const capabilities = new Set(['report-status', 'side-band-64k']);
  const lines = [...new PktLineReader().push(refusalReport({ updates, capabilities }, refusals))];
  expect(lines[0]?.payload?.toString()).toBe('\x02No.\n');
  expect(lines[1]?.payload?.toString()).toContain('ng refs/heads/b pre-receive hook declined\n');
  expect(acceptedRefs(lines, true)).toEqual(new Set());
  expect(refusalReport({ updates, capabilities: new Set() }, refusals)).toHaveLength(0);
});

test.each([true, false])('the refs that a report calls ok, with a side-band: %s', (sideBand) => {
  const report = Buffer.concat([
    pktLine('unpack ok\n'),
    pktLine('ok refs/heads/a\n'),
    pktLine('option refname refs/heads/z\n'),
    pktLine('ng refs/heads/b failed to update ref\n'),
    pktLine('ok refs/tags/c'),
    FLUSH,
  ]);
  const bytes = sideBand ? Buffer.concat([inBand(DATA, report), FLUSH]) : report;
  const lines = [...new PktLineReader().push(bytes)];
  expect(acceptedRefs(lines, sideBand)).toEqual(new Set(['refs/heads/a', 'refs/tags/c']));
});
