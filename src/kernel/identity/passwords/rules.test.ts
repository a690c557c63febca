import { describe, expect, test } from 'vitest';
import { defaultSettings } from '../../settings/definitions.ts';
import { passwordProblems } from './rules.ts';

const all = {
  minimum_password_length: 10,
  password_number_required: true,
  password_symbol_required: true,
  password_uppercase_required: true,
  password_lowercase_required: true,
};

describe('passwordProblems', () => {
  test.each([
    ['short', defaultSettings, ['is too short (minimum is 8 characters)']],
    ['eight ok', defaultSettings, []],
    // Length is counted in characters, not in UTF-16 units: four of these are eight units.
    ['😀😀😀😀', defaultSettings, ['is too short (minimum is 8 characters)']],
    ['x'.repeat(128), defaultSettings, []],
    ['x'.repeat(129), defaultSettings, ['is too long (maximum is 128 characters)']],
    ['Abcdefgh1!', all, []],
    ['abcdefgh1!', all, ['must contain at least one uppercase letter']],
    ['ABCDEFGH1!', all, ['must contain at least one lowercase letter']],
    ['Abcdefghi!', all, ['must contain at least one number']],
    ['Abcdefgh12', all, ['must contain at least one symbol']],
    // A space is neither a letter nor a symbol.
    ['Abcdefg 12', all, ['must contain at least one symbol']],
    ['ÄÖÜäöüß12€', all, []],
    [
      'a',
      all,
      [
        'is too short (minimum is 10 characters)',
        'must contain at least one number',
        'must contain at least one uppercase letter',
        'must contain at least one symbol',
      ],
    ],
  ])('%s', (password, settings, problems) => {
    expect(passwordProblems(password, settings)).toEqual(problems);
  });
});
