/** What a commit is called: its title, the rest of its message, its short id, its times. Pure. */
import type { Signature } from './parse.ts';

/** The first line with text; empty for an empty message. As long as the line is: git does not bound it. */
export const titleOf = (message: string): string => message.trimStart().split('\n', 1)[0]?.trimEnd() ?? '';

/** The message after its first line with text, trimmed; empty where there is none. */
export function bodyOf(message: string): string {
  const text = message.trim();
  const end = text.indexOf('\n');
  return end < 0 ? '' : text.slice(end).trim();
}

const SHORT_SHA_LENGTH = 8;

export const shortSha = (sha: string): string => sha.slice(0, SHORT_SHA_LENGTH);

/** A cache, as lists repeat the same commits. */
const dates = new WeakMap<Signature, string>();

/** `2012-09-20T11:50:22.000+03:00`: in the signer's zone. */
export function commitDate(signature: Signature): string {
  const known = dates.get(signature);
  if (known !== undefined) return known;
  const date = dateOf(signature);
  dates.set(signature, date);
  return date;
}

function dateOf({ time, zone }: Signature): string {
  const [, sign = '+', hours = '00', minutes = '00'] = /^([+-])(\d\d)(\d\d)$/.exec(zone) ?? [];
  const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  const local = new Date(time * 1_000 + offset);
  return Number.isNaN(local.getTime())
    ? new Date(0).toISOString()
    : local.toISOString().replace('Z', `${sign}${hours}:${minutes}`);
}
