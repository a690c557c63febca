/**
 * Dates and numbers for people. At the first of each kind the engine looks through all of its locales, which takes 10 to 30 ms
 * and 10 MB: not at the start, and not amid other work.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Formats dates; what the engine has for it is made at the first. */
export function dateFormat(locale: string, options: Intl.DateTimeFormatOptions): (time: Date) => string {
  let format: Intl.DateTimeFormat | undefined;
  return (time) => {
    format ??= new Intl.DateTimeFormat(locale, options);
    return format.format(time);
  };
}

let known: Promise<void> | undefined;

/** Has the engine look through its locales, each kind in a turn of its own: to be awaited before texts with many formats. */
export function localesKnown(): Promise<void> {
  known ??= lookThrough();
  return known;
}

async function lookThrough(): Promise<void> {
  for (const make of [() => new Intl.NumberFormat('en'), () => new Intl.DateTimeFormat('en')]) {
    await nextTurn();
    make();
  }
  await nextTurn();
}
