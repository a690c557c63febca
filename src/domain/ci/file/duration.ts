/** Durations as configuration files write them: `3h 30m`, `1 week and 2 days`, `1:30:00`, `90`. Pure. */

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
export const WEEK_SECONDS = 7 * DAY;
export const MONTH_SECONDS = 30 * DAY;

const units: readonly [seconds: number, ...names: string[]][] = [
  [1, 's', 'sec', 'secs', 'second', 'seconds'],
  [MINUTE, 'm', 'min', 'mins', 'minute', 'minutes'],
  [HOUR, 'h', 'hr', 'hrs', 'hour', 'hours'],
  [DAY, 'd', 'dy', 'day', 'days'],
  [WEEK_SECONDS, 'w', 'wk', 'wks', 'week', 'weeks'],
  [MONTH_SECONDS, 'mo', 'mos', 'mon', 'mons', 'mth', 'mths', 'month', 'months'],
  [365.25 * DAY, 'y', 'yr', 'yrs', 'year', 'years'],
];
const secondsOf = new Map(units.flatMap(([seconds, ...names]) => names.map((name) => [name, seconds])));

const numberWords =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'.split(
    ' ',
  );
const between = new Set(['and', 'with', 'plus', 'about', 'a', 'for']);

/** Characters: nothing that means a duration is longer. */
const MAX_LENGTH = 255;

/** Whole seconds; undefined for what is no duration. A number without a unit is of seconds. */
export function durationSeconds(value: string | number): number | undefined {
  const text = String(value).trim().toLowerCase();
  if (text === '' || text.length > MAX_LENGTH) return undefined;
  if (/^\d+(:\d{1,2}){1,2}$/.test(text))
    return text.split(':').reduce((total, part) => total * 60 + Number(part), 0);
  const words = text.match(/\d+(?:\.\d+)?|[a-z]+|[^\sa-z\d,]/g) ?? [];
  let total = 0;
  let number: number | undefined;
  let found = false;
  for (const word of words) {
    const seconds = secondsOf.get(word);
    const spelled = numberWords.indexOf(word);
    if (/^\d/.test(word) || spelled >= 0) {
      if (number !== undefined) return undefined;
      number = spelled >= 0 ? spelled : Number(word);
      found = true;
    } else if (seconds !== undefined) {
      if (number === undefined) return undefined;
      total += number * seconds;
      number = undefined;
    } else if (!between.has(word)) return undefined;
  }
  return found ? Math.floor(total + (number ?? 0)) : undefined;
}
