/**
 * Events that go by a name and have all fields at the top (facts-merge-requests: 10.7): the instance's hooks are told of each, and
 * those of groups of some.
 */
import type { HookEvent } from '../events/hook-events.ts';
import { ALWAYS, type HookFlag } from '../management/kinds.ts';

type Times = { created_at: Date | string; updated_at: Date | string };

/** `2021-04-19T07:05:36Z` */
export const namedTime = (time: Date | string): string =>
  new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');

const bodyOf = (event_name: string, { created_at, updated_at }: Times, fields: object): object => ({
  event_name,
  created_at: namedTime(created_at),
  updated_at: namedTime(updated_at),
  ...fields,
});

/** The event for the instance's hooks; with `inside` also that for the groups' that have its flag. */
export function namedEvents(
  name: string,
  times: Times,
  fields: object,
  inside?: { flag: HookFlag; name?: string; fields: object },
): HookEvent[] {
  const told: HookEvent = { flag: ALWAYS, for: 'instance', body: bodyOf(name, times, fields) };
  if (!inside) return [told];
  const body = bodyOf(inside.name ?? name, times, inside.fields);
  return [told, { flag: inside.flag, for: 'inside', body }];
}
