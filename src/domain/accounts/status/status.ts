/** The status of a user. Pure. */
import type { Json } from '../../../platform/db/rows.ts';
import type { ValidationMessages } from '../../../platform/failure.ts';
import { html } from '../../../platform/http/pages/html.ts';

/** Seconds after which a status expires (facts §2.2). */
const clearAfter = {
  '30_minutes': 1_800,
  '3_hours': 10_800,
  '8_hours': 28_800,
  '1_day': 86_400,
  '3_days': 259_200,
  '7_days': 604_800,
  '30_days': 2_592_000,
} as const;
type ClearAfter = keyof typeof clearAfter;
export const clearingTimes = [
  '30_minutes',
  '3_hours',
  '8_hours',
  '1_day',
  '3_days',
  '7_days',
  '30_days',
] as const satisfies readonly ClearAfter[];

export type Status = { emoji: string; message: string; availability: 'not_set' | 'busy' };

export type StatusRow = { status: Json; status_clears_at: Date | null };

/** The emoji of a status with a message alone. */
const DEFAULT_EMOJI = 'speech_balloon';

const isStatus = (value: Json): value is Status =>
  typeof value === 'object' && value !== null && 'emoji' in value && 'message' in value;

/** The status at this time; undefined without one. */
function currentStatus(row: StatusRow, time: Date): Status | undefined {
  if (row.status_clears_at && row.status_clears_at <= time) return undefined;
  return isStatus(row.status) ? row.status : undefined;
}

/** The record; empty without a status, or after it expired. */
export function presentStatus(row: StatusRow, time: Date) {
  const status = currentStatus(row, time);
  return {
    emoji: status?.emoji ?? null,
    message: status?.message || null,
    availability: status?.availability ?? null,
    message_html: html`${status?.message}`.text,
    clear_status_at: (status && row.status_clears_at?.toISOString()) ?? null,
  };
}

export type StatusChange = {
  emoji?: string | null | undefined;
  message?: string | null | undefined;
  availability?: Status['availability'] | null | undefined;
  clear_status_after?: ClearAfter | null | undefined;
};

/** The status after a change of `before`, or a new one; null when it is empty. */
export function statusFrom(
  change: StatusChange,
  before: StatusRow | undefined,
  time: Date,
): { status: Status | null; clearsAt: Date | null; problem?: ValidationMessages } {
  const known = before && currentStatus(before, time);
  const { clear_status_after: after } = change;
  const emoji = (change.emoji === undefined ? known?.emoji : change.emoji) || '';
  const message = (change.message === undefined ? known?.message : change.message) || '';
  const availability =
    (change.availability === undefined ? known?.availability : change.availability) ?? 'not_set';
  if (emoji !== '' && !/^[a-z0-9_+-]+$/i.test(emoji)) {
    return { status: null, clearsAt: null, problem: { emoji: ['is not a valid emoji name'] } };
  }
  if (emoji === '' && message === '' && availability === 'not_set') return { status: null, clearsAt: null };
  const kept = known ? (before?.status_clears_at ?? null) : null;
  const clearsAt = after
    ? new Date(time.getTime() + clearAfter[after] * 1_000)
    : after === undefined
      ? kept
      : null;
  return { status: { emoji: emoji || DEFAULT_EMOJI, message, availability }, clearsAt };
}
