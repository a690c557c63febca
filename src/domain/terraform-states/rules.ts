/** Names of states, their serial numbers, and who may write them (facts-packages: 1.13). Pure. */
import { badRequest } from '../../platform/failure.ts';

const NAME = /^(?!\.{1,2}$)[\w.-]{1,255}$/;
const MAX_SERIAL = 2_147_483_647;

/** 400 for what is no name of a state. */
export function requireName(name: string): void {
  if (!NAME.test(name)) throw badRequest('name is invalid');
}

/** The serial number in a state; 400 for what is no state. */
export function serialOf(text: string): number {
  let state: unknown;
  try {
    // What else is in it is the program's: numbers past 2^53, too.
    state = JSON.parse(text);
  } catch {
    throw badRequest('the state is not JSON');
  }
  const serial = typeof state === 'object' && state !== null && 'serial' in state ? state.serial : undefined;
  if (typeof serial !== 'number' || !Number.isInteger(serial) || serial < 0 || serial > MAX_SERIAL)
    throw badRequest('serial of the state is invalid');
  return serial;
}

export type Lock = { readonly [name: string]: string } & { readonly ID: string };

/** Whether a lock keeps off who comes with the id, or without one. */
export const isHeldByOther = (lock: Lock | null, id: string | undefined): boolean =>
  lock !== null && lock.ID !== id;
