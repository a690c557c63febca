/** What the bodies of the clock's routes mean. */
import { LabError } from '../wire.ts';

export type ClockTime = { now: Date; frozen: boolean };

const EARLIEST = Date.UTC(1970, 0, 1);
/** Expiries some years later are still times that all programs write with four digits. */
const LATEST = Date.UTC(3000, 0, 1);

const timePattern =
  /^(?<day>\d{4}-\d\d-\d\d)(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):?[0-5]\d))?$/;

/** Undefined for what is no time, such as the 30th of February, which Date.parse() takes for a day of March. */
function parseTime(text: unknown): Date | undefined {
  const day = typeof text === 'string' ? timePattern.exec(text)?.groups?.day : undefined;
  if (day === undefined || typeof text !== 'string') return undefined;
  const midnight = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day) return undefined;
  return new Date(text);
}

function requireTime(milliseconds: number): Date {
  if (milliseconds >= EARLIEST && milliseconds < LATEST) return new Date(milliseconds);
  throw new LabError('the clock goes from 1970 to 2999');
}

function refuseOthers(others: Record<string, unknown>, known: string): void {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new LabError(`the clock has no ${unknown}: it takes ${known}`);
}

/** The clock after `{ now, frozen }`, of which one may be left out. */
export function setBy(clock: ClockTime, body: Record<string, unknown>): ClockTime {
  const { now, frozen, ...others } = body;
  refuseOthers(others, 'now and frozen');
  if (now === undefined && frozen === undefined) throw new LabError('now or frozen is missing');
  if (frozen !== undefined && typeof frozen !== 'boolean') throw new LabError('frozen is true or false');
  const time = now === undefined ? clock.now : parseTime(now);
  if (time === undefined)
    throw new LabError(
      'now is a day, such as 2030-01-31, or a time with its zone, such as 2030-01-31T12:00:00Z',
    );
  return { now: requireTime(time.getTime()), frozen: frozen ?? clock.frozen };
}

const unitMilliseconds = {
  milliseconds: 1,
  seconds: 1_000,
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
};
const units = Object.keys(unitMilliseconds).join(', ');

/** The clock after `{ days, hours, minutes, seconds, milliseconds }`, which add up. */
export function advancedBy(clock: ClockTime, body: Record<string, unknown>): ClockTime {
  const { milliseconds, seconds, minutes, hours, days, ...others } = body;
  refuseOthers(others, units);
  const parts = Object.entries(unitMilliseconds).flatMap(([unit, factor]) => {
    const value = body[unit];
    if (value === undefined) return [];
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
      throw new LabError(`${unit} is a number that is not negative: PUT sets an earlier time`);
    return [value * factor];
  });
  if (parts.length === 0) throw new LabError(`one of ${units} is missing`);
  const step = Math.round(parts.reduce((sum, part) => sum + part, 0));
  return { ...clock, now: requireTime(clock.now.getTime() + step) };
}
