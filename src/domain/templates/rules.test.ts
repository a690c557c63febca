import { expect, test } from 'vitest';
import { filled } from './rules.ts';

const text = '[project]: (c) [year] [fullname], [fullname] [other]';

test.each([
  [{ year: 2030 }, '[project]: (c) 2030 [fullname], [fullname] [other]'],
  [{ year: 2030, project: 'P', fullname: 'Ada' }, 'P: (c) 2030 Ada, Ada [other]'],
  [{ year: 2030, project: ' ', fullname: '' }, '[project]: (c) 2030 [fullname], [fullname] [other]'],
  [{ year: 2030, project: '$&', fullname: '[year]' }, '$&: (c) 2030 [year], [year] [other]'],
])('%j fills in %j', (filling, expected) => {
  expect(filled(text, filling)).toBe(expected);
});
