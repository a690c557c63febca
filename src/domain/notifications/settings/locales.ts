/** Time zones of mail. */

/** IANA names of time zones, sorted. */
export const timezones = (): readonly string[] => Intl.supportedValuesOf('timeZone');
