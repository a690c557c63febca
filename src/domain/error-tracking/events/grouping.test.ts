/** Pairs of events that are the same error, and pairs that are not. */
import { describe, expect, test } from 'vitest';
import { fingerprintOf, maskVarying } from './grouping.ts';
import { outlineEvent } from './normalise.ts';

type Said = Record<string, unknown>;

const arrival = { receivedAt: new Date('2026-10-30T10:40:00Z'), keepAddresses: false, address: null };
const group = (event: Said): string =>
  fingerprintOf(outlineEvent(event, arrival, 100_000).complete()).toString('hex');

const frame = (name: string, changes: Said = {}): Said => ({
  function: name,
  filename: 'src/walls.js',
  lineno: 3,
  in_app: true,
  ...changes,
});
const foreign = (name: string, changes: Said = {}): Said =>
  frame(name, { filename: 'node_modules/a/b.js', in_app: false, ...changes });
const thrown = (type: string | null, frames: readonly Said[], changes: Said = {}): Said => ({
  exception: { values: [{ type, value: 'no stone', stacktrace: { frames } }] },
  ...changes,
});
const lay = [foreign('run'), frame('lay')];

describe('one error are', () => {
  test.each<[string, Said, Said]>([
    [
      'events whose lines moved',
      thrown('A', lay),
      thrown('A', [foreign('run'), frame('lay', { lineno: 99, colno: 4, context_line: 'x' })]),
    ],
    [
      'events that came by other ways through the code of others',
      thrown('A', lay),
      thrown('A', [foreign('start'), foreign('x'), frame('lay')]),
    ],
    [
      'events that say something else',
      thrown('A', lay),
      { exception: [{ type: 'A', value: 'other', stacktrace: { frames: lay } }] },
    ],
    [
      'events of other users, releases and levels',
      thrown('A', lay),
      thrown('A', lay, { release: '2', level: 'fatal', user: { id: 3 } }),
    ],
    [
      'calls of a function by itself',
      thrown('A', [frame('lay')]),
      thrown('A', [frame('lay'), frame('lay'), frame('lay')]),
    ],
    [
      'the same files of another bundle',
      thrown('A', [frame('e', { filename: 'https://a.example/app-3fa92bc1.js?v=1' })]),
      thrown('A', [frame('e', { filename: 'https://b.example/app-81bd02ac.js' })]),
    ],
    [
      'what compilers number',
      thrown('A', [frame('lambda$lay$0', { module: 'walls.Wall$$Lambda$14/0x0000000800066840' })]),
      thrown('A', [frame('lambda$lay$3', { module: 'walls.Wall$$Lambda$15/0x0000000800061111' })]),
    ],
    [
      'stacks of others alone, alike',
      thrown('A', [foreign('run')]),
      thrown('A', [foreign('run', { lineno: 8 })]),
    ],
    [
      'exceptions without a stack that say the same but for numbers',
      thrown('A', []),
      { exception: { type: 'A', value: 'no stone' } },
    ],
    [
      'numbers in what was said',
      { exception: { type: 'A', value: 'id 7 of 12' } },
      { exception: { type: 'A', value: 'id 8 of 3' } },
    ],
    [
      'messages of one template',
      { logentry: { message: 'wall %s', formatted: 'wall a' } },
      { logentry: { message: 'wall %s', formatted: 'wall b' } },
    ],
    [
      'messages alike',
      { message: 'job 0f8fad5b-d9cb-469f-a165-70867728950e took 3.5s' },
      { message: 'job 7c9e6679-7425-40de-944b-e07fc1f90ae7 took 12s' },
    ],
    [
      'what the client says',
      thrown('A', lay, { fingerprint: ['x'] }),
      thrown('B', [frame('c')], { fingerprint: ['x'] }),
    ],
    ['the default, said', thrown('A', lay), thrown('A', lay, { fingerprint: ['{{ default }}'] })],
    ['the default, said otherwise', thrown('A', lay), thrown('A', lay, { fingerprint: ['{{default}}'] })],
    ['fingerprints by their old name', { message: 'a', checksum: 'x' }, { message: 'b', fingerprint: ['x'] }],
  ])('%s', (_, one, other) => {
    expect(group(one)).toBe(group(other));
  });
});

describe('two errors are', () => {
  test.each<[string, Said, Said]>([
    ['types', thrown('A', lay), thrown('B', lay)],
    ['functions', thrown('A', lay), thrown('A', [frame('other')])],
    ['files', thrown('A', lay), thrown('A', [frame('lay', { filename: 'src/roofs.js' })])],
    [
      'ways through the application',
      thrown('A', [frame('a'), frame('lay')]),
      thrown('A', [frame('b'), frame('lay')]),
    ],
    [
      'causes',
      {
        exception: [
          { type: 'C', stacktrace: { frames: lay } },
          { type: 'A', stacktrace: { frames: lay } },
        ],
      },
      {
        exception: [
          { type: 'D', stacktrace: { frames: lay } },
          { type: 'A', stacktrace: { frames: lay } },
        ],
      },
    ],
    [
      'what was said, without a stack',
      { exception: { type: 'A', value: 'one' } },
      { exception: { type: 'A', value: 'other' } },
    ],
    ['messages', { message: 'wall fell' }, { message: 'roof fell' }],
    [
      'what the client adds to the default',
      thrown('A', lay),
      thrown('A', lay, { fingerprint: ['{{ default }}', 'x'] }),
    ],
    ['a message and an exception that says it', { message: 'a' }, { exception: { type: null, value: 'a' } }],
  ])('%s', (_, one, other) => {
    expect(group(one)).not.toBe(group(other));
  });
});

test.each([
  ['id 12345 of 3.5 at 10:20', 'id # of # at #'],
  ['0xdeadBEEF', '#'],
  ['commit 81bd02ac9f', 'commit #'],
  ['deadbeef is a word', 'deadbeef is a word'],
  ['user 0f8fad5b-d9cb-469f-a165-70867728950e', 'user #'],
])('%s is alike %s', (text, masked) => {
  expect(maskVarying(text)).toBe(masked);
});
