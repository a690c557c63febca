/** The times of a recipient. Pure. */
import type { MailTexts } from '../events/mail-texts.ts';
import type { MailInput } from './inputs.ts';

function zoneOf(timezone: string | null): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: timezone ?? 'UTC' }).resolvedOptions().timeZone;
  } catch {
    // This Node does not know the zone.
    return 'UTC';
  }
}

/** Date and time in the recipient's zone, with the zone's name. */
export const timeIn = (texts: MailTexts, at: Date, recipient: MailInput['recipient']): string =>
  new Intl.DateTimeFormat(texts.locale, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
    timeZone: zoneOf(recipient.timezone),
  }).format(at);
