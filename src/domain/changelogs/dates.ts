/** Dates in the words of `strftime`, by the clock of UTC. Pure. */

const two = (value: number): string => String(value).padStart(2, '0');
const word = (date: Date, options: Intl.DateTimeFormatOptions): string =>
  date.toLocaleDateString('en', { ...options, timeZone: 'UTC' });
const dayOfYear = (date: Date): number =>
  Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / 86_400_000) + 1;

const directives: Readonly<Record<string, (date: Date) => string>> = {
  Y: (date) => String(date.getUTCFullYear()),
  y: (date) => two(date.getUTCFullYear() % 100),
  m: (date) => two(date.getUTCMonth() + 1),
  '-m': (date) => String(date.getUTCMonth() + 1),
  d: (date) => two(date.getUTCDate()),
  '-d': (date) => String(date.getUTCDate()),
  e: (date) => String(date.getUTCDate()).padStart(2, ' '),
  j: (date) => String(dayOfYear(date)).padStart(3, '0'),
  B: (date) => word(date, { month: 'long' }),
  b: (date) => word(date, { month: 'short' }),
  A: (date) => word(date, { weekday: 'long' }),
  a: (date) => word(date, { weekday: 'short' }),
  H: (date) => two(date.getUTCHours()),
  M: (date) => two(date.getUTCMinutes()),
  S: (date) => two(date.getUTCSeconds()),
  F: (date) => date.toISOString().slice(0, 10),
  '%': () => '%',
};

/** What is no directive stays as it is written. */
export const formatDate = (date: Date, format: string): string =>
  format.replace(/%(-?[A-Za-z%])/g, (written, name: string) =>
    Object.hasOwn(directives, name) ? (directives[name]?.(date) ?? written) : written,
  );
