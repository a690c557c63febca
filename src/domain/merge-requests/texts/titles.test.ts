import { expect, test } from 'vitest';
import { fitsTitle, fittingTitle } from './titles.ts';

test.each<[what: string, text: string, fitting: string]>([
  ['nothing', '', ''],
  ['a title', 'Title', 'Title'],
  ['255 characters', 'é'.repeat(255), 'é'.repeat(255)],
  ['255 characters of two units', '\u{1f600}'.repeat(255), '\u{1f600}'.repeat(255)],
  ['256 characters', 'é'.repeat(256), `${'é'.repeat(252)}...`],
  ['256 characters of two units', '\u{1f600}'.repeat(256), `${'\u{1f600}'.repeat(252)}...`],
  ['a million characters', 'x'.repeat(1_048_576), `${'x'.repeat(252)}...`],
])('%s', (_what, text, fitting) => {
  expect(fittingTitle(text)).toBe(fitting);
  expect(fitsTitle(text)).toBe(text === fitting);
});
