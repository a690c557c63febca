/** The vocabulary and the times of a recipient. Pure. */

import type { Words } from '../events/mail-words.ts';
import type { MailInput } from './inputs.ts';
import { german } from './words-de.ts';
import { english } from './words-en.ts';

const languages = new Map<string, Words>([english, german].map((words) => [words.language, words]));

/** The vocabulary of a user's language, such as `de` or `pt_BR`; English for an unknown one. */
export const wordsFor = (language: string): Words =>
  languages.get(language.split(/[-_]/, 1)[0]?.toLowerCase() ?? '') ?? english;

function zoneOf(timezone: string | null): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: timezone ?? 'UTC' }).resolvedOptions().timeZone;
  } catch {
    // This Node does not know the zone.
    return 'UTC';
  }
}

/** Date and time in the recipient's zone, with the zone's name. */
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
