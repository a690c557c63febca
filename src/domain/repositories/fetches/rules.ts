/** Which requests of git begin a clone or a fetch. Pure. */

const WANT = Buffer.from('want ');
const HAVE = Buffer.from('have ');

/** What git names of its own commits before it waits for the first answer. */
const FIRST_HAVES = 16;

const hasMoreThan = (question: Buffer, word: Buffer, most: number): boolean => {
  let found = 0;
  for (let at = question.indexOf(word); at !== -1; at = question.indexOf(word, at + word.length))
    if (++found > most) return true;
  return false;
};

/**
 * Whether a request for a pack is the first of its fetch: one that goes on names more commits each time. A request for
 * refs wants nothing.
 */
export const beginsFetch = (question: Buffer): boolean =>
  question.includes(WANT) && !hasMoreThan(question, HAVE, FIRST_HAVES);

/** The number of days that are shown, today among them. */
export const DAYS_SHOWN = 30;

/** The first of the days that are shown, as `2026-11-29`. */
export const firstDay = (today: Date): string =>
  new Date(today.getTime() - (DAYS_SHOWN - 1) * 86_400_000).toISOString().slice(0, 10);
