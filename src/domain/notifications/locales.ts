/** In which languages mail is written, and by which clocks. */

export const languages = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof languages;

export const isLanguage = (name: string): name is Language => Object.hasOwn(languages, name);

/** The names of the IANA's time zones, in their order. */
export const timezones = (): readonly string[] => Intl.supportedValuesOf('timeZone');
