/** The catalogues of mails: what one is, and that all of them are whole in each of their languages. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { IntlMessageFormat } from 'intl-messageformat';
import { describe, expect, test } from 'vitest';
import { createCatalog } from './texts.ts';

describe('a catalogue', () => {
  const texts = createCatalog({
    en: {
      hello: 'Hello {name}, it isn’t <b>bold</b>',
      mails: '{count, plural, one {a mail} other {{count} mails}}',
    },
    de: { hello: 'Hallo {name}', mails: '{count, plural, one {eine Mail} other {{count} Mails}}' },
  });

  test.each([
    ['en', 'en'],
    ['de_AT', 'de'],
    ['fr', 'en'],
    ['constructor', 'en'],
  ])('for %j is in %s', (language, expected) => {
    expect(texts(language).language).toBe(expected);
  });

  test('puts values in as they are', () => {
    const name = "{name} <i> ''{0}'' #";
    expect(texts('en').say('hello', { name })).toBe(`Hello ${name}, it isn’t <b>bold</b>`);
    expect(texts('de').say('hello', { name: '' })).toBe('Hallo ');
  });

  test('counts as the language does', () => {
    expect([0, 1, 2, 1_000].map((count) => texts('en').say('mails', { count }))).toEqual([
      '0 mails',
      'a mail',
      '2 mails',
      '1000 mails',
    ]);
    expect(texts('de').say('mails', { count: 1 })).toBe('eine Mail');
  });

  test('in one language is in English for everybody', () => {
    expect(createCatalog({ en: { hello: 'Hello' } })('de').say('hello')).toBe('Hello');
  });

  test('throws for a text that is not there, and for a value that is missing', () => {
    const loose = texts('de') as ReturnType<ReturnType<typeof createCatalog<string>>>;
    expect(() => loose.say('other')).toThrow('no text for other in de');
    expect(() => loose.say('hello')).toThrow('name');
  });
});

type Element = { type: number; value?: string; options?: Record<string, { value: Element[] }> };
const LITERAL = 0;
const POUND = 7;

/** The names of the values that a message takes. */
const namesIn = (elements: readonly Element[]): string[] =>
  elements
    .filter(({ type }) => type !== LITERAL && type !== POUND)
    .flatMap(({ value = '', options = {} }) => [
      value,
      ...Object.values(options).flatMap((option) => namesIn(option.value)),
    ]);

const messagesOf = (path: string): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>).map(([key, text]) => {
      const message = new IntlMessageFormat(text, 'en', undefined, { ignoreTag: true });
      return [key, [...new Set(namesIn(message.getAst() as Element[]))].sort()];
    }),
  );

const catalogs = globSync('src/**/*.en.json');

test('there are catalogues', () => {
  expect(catalogs.length).toBeGreaterThan(8);
});

/** Mails about accounts are in English alone. */
const english = 'src/domain/notifications/account-mails/mail-texts.en.json';

test.each(catalogs)('%s has the same texts with the same values in German', (path) => {
  const german = path.replace('.en.json', '.de.json');
  expect(existsSync(german)).toBe(path !== english);
  if (path !== english) expect(messagesOf(german)).toEqual(messagesOf(path));
});
