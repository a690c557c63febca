/**
 * Parses times of monitoring tools. Ambiguous ones, with day and month in either order or a bare hour, are
 * refused.
 */
import type { Value } from './values.ts';

const ZONE = '(?<zone>Z|UTC|GMT|[+-]\\d\\d(?::?\\d\\d)?)';
const CLOCK = '(?<hour>\\d\\d):?(?<minute>\\d\\d)(?::?(?<second>\\d\\d)(?:[.,](?<fraction>\\d{1,9}))?)?';
const WEEKDAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const NAME = `(?<name>${MONTHS.join('|')})`;

const SHAPES = [
  // ISO 8601 and its variants of databases and of Go, which writes the zone twice.
  `(?<year>\\d{4})([-/]?)(?<month>\\d\\d)\\2(?<day>\\d\\d)(?:[T ]${CLOCK} ?${ZONE}?(?: UTC)?)?`,
  // RFC 5322, for mail and HTTP.
  `(?:${WEEKDAY}, ?)?(?<day>\\d{1,2}) ${NAME} (?<year>\\d{4}) ${CLOCK}(?: ${ZONE})?`,
  // date(1) and asctime().
  `${WEEKDAY} ${NAME} +(?<day>\\d{1,2}) ${CLOCK}(?: ${ZONE})? (?<year>\\d{4})`,
].map((shape) => new RegExp(`^${shape}$`, 'i'));

/** Go's zero time, which tools send for none, is before the first; after the last, years have five digits. */
const FIRST = Date.parse('0002-01-01T00:00:00Z');
const LAST = Date.parse('9999-12-31T23:59:59.999Z');
const within = (time: number): Date | undefined =>
  time >= FIRST && time <= LAST ? new Date(time) : undefined;

/** Smaller numbers are seconds since 1970, larger ones milliseconds, which begin in March 1973. */
const MILLISECONDS_FROM = 1e11;
const EARLIEST_SECONDS = 1e8;

function sinceEpoch(count: number): Date | undefined {
  if (count < EARLIEST_SECONDS) return undefined;
  return within(Math.trunc(count < MILLISECONDS_FROM ? count * 1000 : count));
}

/** The zone's offset; UTC without a zone. */
function offsetOf(zone: string | undefined): string {
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone ?? '') ?? [];
  return sign === undefined ? 'Z' : `${sign}${hours}:${minutes ?? '00'}`;
}

function written(text: string): Date | undefined {
  for (const shape of SHAPES) {
    const parts = shape.exec(text)?.groups;
    if (!parts) continue;
    const month = parts.month ?? String(MONTHS.indexOf(parts.name?.toLowerCase() ?? '') + 1).padStart(2, '0');
    const date = `${parts.year}-${month}-${parts.day?.padStart(2, '0')}`;
    const clock = `${parts.hour ?? '00'}:${parts.minute ?? '00'}:${parts.second ?? '00'}`;
    const fraction = (parts.fraction ?? '').slice(0, 3).padEnd(3, '0');
    return within(Date.parse(`${date}T${clock}.${fraction}${offsetOf(parts.zone)}`));
  }
  return undefined;
}

/** The time that a value names: ISO 8601, RFC 5322 or date(1) text, or seconds or milliseconds since 1970. */
export function timeOf(value: Value): Date | undefined {
  if (typeof value === 'number') return sinceEpoch(value);
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  return /^\d{9,}(?:\.\d{1,9})?$/.test(text) ? sinceEpoch(Number(text)) : written(text);
}
