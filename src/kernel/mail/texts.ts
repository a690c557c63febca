/** Texts of mails: a JSON file for each language, whose messages have the format of ICU. */
import { IntlMessageFormat } from 'intl-messageformat';

export const languages = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof languages;

export const isLanguage = (name: string): name is Language => Object.hasOwn(languages, name);

const locales: Record<Language, string> = { en: 'en-GB', de: 'de-DE' };

/** The texts of a catalogue in one language. */
export type Texts<Key extends string> = {
  /** The mail's language tag (RFC 3282). */
  language: Language;
  /** The locale of dates and times. */
  locale: string;
  /** The message with its values, as plain text: escape it where it becomes HTML. */
  say(key: Key, values?: Readonly<Record<string, string | number>>): string;
};

/** A catalogue's texts in the language of a user, such as `de` or `pt_BR`; in English where it has no other. */
export type Catalog<Key extends string> = (language: string) => Texts<Key>;

function textsIn<Key extends string>(
  language: Language,
  messages: Readonly<Record<string, string>>,
): Texts<Key> {
  const locale = locales[language];
  const parsed = new Map<string, IntlMessageFormat>();
  return {
    language,
    locale,
    say(key, values) {
      const text = messages[key];
      if (text === undefined) throw new Error(`no text for ${key} in ${language}`);
      const message = parsed.get(key) ?? new IntlMessageFormat(text, locale, undefined, { ignoreTag: true });
      parsed.set(key, message);
      return String(message.format(values));
    },
  };
}

/** Catalogues have English; `texts.test.ts` knows those that have nothing else. */
export function createCatalog<Key extends string>(
  messages: { en: Record<Key, string> } & Partial<Record<Language, Record<NoInfer<Key>, string>>>,
): Catalog<Key> {
  const english = textsIn<Key>('en', messages.en);
  const others = new Map<string, Texts<Key>>();
  for (const language of Object.keys(languages).filter(isLanguage)) {
    const own = messages[language];
    if (own && language !== 'en') others.set(language, textsIn(language, own));
  }
  return (language) => others.get(language.split(/[-_]/, 1)[0]?.toLowerCase() ?? '') ?? english;
}
