import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { parseDotenv } from './dotenv.ts';

const most = { bytes: 5_120, variables: 20 };
const parse = (text: string): string =>
  parseDotenv(gzipSync(text), most)
    .map(({ key, value }) => `${key}=${value}`)
    .join('|');
const lines = (count: number): string => Array.from({ length: count }, (_, at) => `K${at}=v`).join('\n');

test.each([
  ['A=1', 'A=1'],
  ['A=1\nB=2\n', 'A=1|B=2'],
  ['A=1\r\nB=2\r\n', 'A=1|B=2'],
  [' A = one two ', 'A=one two'],
  ['A="x"', 'A="x"'],
  ['A=b=c', 'A=b=c'],
  ['A=', 'A='],
  ['A=1\nA=2', 'A=2'],
  ['\uFEFFA=1', 'A=1'],
  ['', ''],
  [lines(20), lines(20).replaceAll('\n', '|')],
  [`A=${'x'.repeat(5_118)}`, `A=${'x'.repeat(5_118)}`],
])('%j has %j', (text, variables) => expect(parse(text)).toBe(variables));

describe('what is refused', () => {
  test.each([
    ['A=1\n\nB=2', 'Invalid Format'],
    ['A=1\n\n', 'Invalid Format'],
    ['# comment', 'Invalid Format'],
    ['export A', 'Invalid Format'],
    ['export A=1', "Validation failed: Key can contain only letters, digits and '_'."],
    ['=1', "Validation failed: Key can contain only letters, digits and '_'."],
    ['A-B=1', "Validation failed: Key can contain only letters, digits and '_'."],
    [lines(21), 'Dotenv files cannot have more than 20 variables'],
    [`A=${'x'.repeat(5_119)}`, 'Dotenv Artifact Too Big. Maximum Allowable Size: 5120'],
  ])('%j', (text, message) => expect(() => parse(text)).toThrow(message));

  test('what is not packed, and a bomb', () => {
    expect(() => parseDotenv(Buffer.from('A=1'), most)).toThrow('Invalid Format');
    expect(() => parseDotenv(gzipSync(Buffer.alloc(1_000_000, 'A=1\n')), most)).toThrow('Too Big');
  });
});
