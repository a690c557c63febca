/** What somebody searches for, as PostgreSQL matches it. */

/** A pattern for `like`: the text anywhere, with `%` and `_` as the letters that they are. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
