import { describe, expect, test } from 'vitest';
import { isTooMuch } from './unpack.ts';

const line = (notes: string) => Buffer.from(`{"iid":1,"title":"${'a'.repeat(100_000)}","notes":[${notes}]}`);

describe('isTooMuch', () => {
  test.each<[what: string, json: Buffer, expected: boolean]>([
    ['a short line', Buffer.from('{"iid":1}'), false],
    ['a long text', line('{}'), false],
    ['brackets and commas in a text', line(`{"note":"${'[{,'.repeat(1_000_000)}"}`), false],
    ['brackets behind an escaped quote', line(`{"note":"\\"${'[{,'.repeat(1_000_000)}"}`), false],
    ['many objects', line(`${'{},'.repeat(100_001)}{}`), true],
    ['objects behind an escaped backslash', line(`"\\\\",${'{},'.repeat(100_001)}{}`), true],
    ['lists in lists', line('['.repeat(100_001)), true],
    ['many values', line(`${'1,'.repeat(1_000_001)}1`), true],
  ])('%s', (_what, json, expected) => {
    expect(isTooMuch(json)).toBe(expected);
  });
});
