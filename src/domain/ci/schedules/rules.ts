/** Pipeline schedules: how many there may be, whose they are, what they pass on (facts-ci: 5.4, 9). Pure. */
import { MAINTAINER, type Role } from '../../../kernel/policy/roles.ts';
import { invalid } from '../../../platform/failure.ts';
import { type RefKind, shortRef } from '../../../platform/git/names.ts';
import type { Json } from '../file/plan.ts';
import { nextRun, type Timing } from './cron.ts';

/** Of one schedule: its record has all of them. */
export const MAX_VARIABLES = 100;
export const MAX_INPUTS = 20;

/** 400 where there are as many as there may be. */
export function requirePlace(count: number, most: number, noun: string): void {
  if (count >= most) throw invalid({ base: [`Maximum number of ${noun} (${most}) exceeded`] });
}

/** When it is due after `from`; 400 for a wrong pattern or zone. */
export function requireNextRun(timing: Timing, from: Date): Date {
  const next = nextRun(timing, from);
  if (typeof next === 'string') throw invalid({ [next]: ['syntax is invalid'] });
  return next;
}

/** The ref in full where there is one of the name; 400 where a branch and a tag have it. */
export function fullRefAmong(ref: string, there: readonly { kind: RefKind; ref: string }[]): string {
  if (there.length > 1) throw invalid({ ref: ['is ambiguous'] });
  return there[0]?.ref ?? ref;
}

/** What pipelines are asked for of a schedule's ref; without its kind where it was not there to be seen. */
export function refOf(ref: string): { ref: string; tag?: boolean } {
  const short = shortRef(ref);
  return short ? { ref: short.name, tag: short.kind === 'tag' } : { ref };
}

type Rights = { isOwner: boolean; role: Role };

/** Whether the user sees the values, deletes what is there, and may make the schedule theirs. */
export const administers = ({ isOwner, role }: Rights): boolean => isOwner || role >= MAINTAINER;

export type Input = { name: string; value: Json };
export type InputChange = { name: string; value?: unknown; destroy?: boolean };

/** The inputs after a change: those that it does not name stay. 400 for too many. */
export function changedInputs(before: readonly Input[], changes: readonly InputChange[]): Input[] {
  const inputs = new Map(before.map(({ name, value }) => [name, value]));
  for (const { name, value, destroy } of changes)
    if (destroy) inputs.delete(name);
    // Of JSON, which the request was.
    else inputs.set(name, (value ?? null) as Json);
  requirePlace(inputs.size - 1, MAX_INPUTS, 'inputs');
  return [...inputs].map(([name, value]) => ({ name, value }));
}
