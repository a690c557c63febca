/** Languages and time zones of mail. */

export const languages = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof languages;

export const isLanguage = (name: string): name is Language => Object.hasOwn(languages, name);

/** IANA names of time zones, sorted. */
export const timezones = (): readonly string[] => Intl.supportedValuesOf('timeZone');
