/** Which words somebody reads, and days and times in them. Pure. */
import type { MailInput } from './inputs.ts';
import type { Words } from './vocabulary.ts';
import { german } from './words-de.ts';
import { english } from './words-en.ts';

const languages = new Map([english, german].map((words) => [words.language, words]));

/** The words in the language that the user chose, such as `de` or `pt_BR`; in English where there are none. */
export const wordsFor = (language: string): Words =>
  languages.get(language.split(/[-_]/, 1)[0]?.toLowerCase() ?? '') ?? english;

function zoneOf(timezone: string | null): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: timezone ?? 'UTC' }).resolvedOptions().timeZone;
  } catch {
    // Not a zone that this Node knows.
    return 'UTC';
  }
}

/** Day and time where the reader is, with the name of the zone. */
export const timeIn = (words: Words, at: Date, recipient: MailInput['recipient']): string =>
  new Intl.DateTimeFormat(words.locale, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
    timeZone: zoneOf(recipient.timezone),
  }).format(at);

/** A day without a time, which is the same everywhere. */
export const dayIn = (words: Words, day: string): string =>
  new Intl.DateTimeFormat(words.locale, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  }).format(new Date(`${day}T00:00:00Z`));
