/** Durations such as `3h30m`, `1w 2d`, `-1h`. A day of work has 8 hours, a week 5 days, a month 4 weeks. */

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 8 * HOUR;
const WEEK = 5 * DAY;
const MONTH = 4 * WEEK;

const units: readonly (readonly [short: string, seconds: number, names: readonly string[]])[] = [
  ['mo', MONTH, ['mo', 'mos', 'month', 'months']],
  ['w', WEEK, ['w', 'wk', 'wks', 'week', 'weeks']],
  ['d', DAY, ['d', 'day', 'days']],
  ['h', HOUR, ['h', 'hr', 'hrs', 'hour', 'hours']],
  ['m', MINUTE, ['m', 'min', 'mins', 'minute', 'minutes']],
  ['s', 1, ['s', 'sec', 'secs', 'second', 'seconds']],
];
const secondsOf = new Map(
  units.flatMap(([, seconds, names]) => names.map((name) => [name, seconds] as const)),
);

/** The maximum of the integer columns. */
const MAX_SECONDS = 2 ** 31 - 1;

/** Characters. */
const MAX_TEXT_LENGTH = 255;

/** Seconds; a number without a unit is hours. Undefined for other text. */
export function parseDuration(text: string): number | undefined {
  const trimmed = text.slice(0, MAX_TEXT_LENGTH + 1).trim();
  const sign = /^[+-]/.exec(trimmed)?.[0] ?? '';
  const rest = trimmed.slice(sign.length).trim();
  if (/^\d+$/.test(rest)) return bounded(Number(rest) * HOUR, sign);
  if (rest.length > MAX_TEXT_LENGTH || !/^(?:\d+(?:\.\d+)?\s*[a-z]+[\s,]*)+$/i.test(rest)) return undefined;
  let total = 0;
  for (const [, amount = '', unit = ''] of rest.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/gi)) {
    const seconds = secondsOf.get(unit.toLowerCase());
    if (seconds === undefined) return undefined;
    total += Number(amount) * seconds;
  }
  return bounded(Math.round(total), sign);
}

const bounded = (seconds: number, sign: string): number | undefined => {
  if (seconds > MAX_SECONDS) return undefined;
  return sign === '-' && seconds > 0 ? -seconds : seconds;
};

/** `1w 2d 3h`, in hours at most where the instance says so; null for 0. */
export function humanDuration(seconds: number, limitToHours = false): string | null {
  let left = Math.abs(seconds);
  const parts = units
    .filter(([, size]) => !limitToHours || size <= HOUR)
    .flatMap(([short, size]) => {
      const amount = Math.floor(left / size);
      left -= amount * size;
      return amount > 0 ? [`${amount}${short}`] : [];
    });
  if (parts.length === 0) return null;
  return `${seconds < 0 ? '-' : ''}${parts.join(' ')}`;
}
