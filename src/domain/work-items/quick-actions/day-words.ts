/** Parses days such as `tomorrow` and `in 2 weeks`. Pure. */

const DAY = 86_400_000;
const isoDay = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** `YYYY-MM-DD` of `2026-01-31`, `today`, `tomorrow`, `in 3 days`, `in 2 weeks` or `next month`. */
export function parseDay(text: string, today: string): string | undefined {
  const said = text.trim().toLowerCase();
  const start = Date.parse(today);
  if (/^\d{4}-\d{2}-\d{2}$/.test(said)) {
    const time = Date.parse(said);
    // PostgreSQL has no year 0.
    return Number.isNaN(time) || isoDay(time) !== said || said < '0001' ? undefined : said;
  }
  if (said === 'today') return today;
  if (said === 'tomorrow') return isoDay(start + DAY);
  const [, next, count, unit] = /^(?:(next)|in\s+(\d{1,3}))\s+(day|week|month|year)s?$/.exec(said) ?? [];
  if (unit === undefined) return undefined;
  const amount = next ? 1 : Number(count);
  if (unit === 'day') return isoDay(start + amount * DAY);
  if (unit === 'week') return isoDay(start + amount * 7 * DAY);
  const day = new Date(start);
  const months = day.getUTCMonth() + amount * (unit === 'year' ? 12 : 1);
  const last = new Date(Date.UTC(day.getUTCFullYear(), months + 1, 0)).getUTCDate();
  return isoDay(Date.UTC(day.getUTCFullYear(), months, Math.min(day.getUTCDate(), last)));
}
