import { expect, test } from 'vitest';
import { extensionOf, nameOf } from './rules.ts';

test.each<[name: string | undefined, taken: boolean]>([
  ['upload-keystore.jks', true],
  ['My profile_1.mobileprovision', true],
  ['.env', true],
  ['a'.repeat(255), true],
  ['a'.repeat(256), false],
  [undefined, false],
  ['', false],
  ['   ', false],
  ['.', false],
  ['..', false],
  ['a/b', false],
  ['..\\b', false],
  ['a\nb', false],
  ['schlüssel', false],
])('the name %j is taken: %s', (name, taken) => {
  const read = () => nameOf(name);
  if (taken) expect(read()).toBe(name);
  else expect(read).toThrow();
});

test.each([
  ['upload.keystore.jks', 'jks'],
  ['keystore', null],
  ['.env', null],
  ['keystore.', null],
])('%s ends with %s', (name, ending) => {
  expect(extensionOf(name)).toBe(ending);
});
