/**
 * The runtime of the mutated sources: the active mutant, and the mutants that were met where they would have
 * made a difference.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, inject } from 'vitest';
import type { AccessRequest } from '../../src/kernel/access/access.ts';
import type { Caller } from '../../src/kernel/actor.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The active mutant, and the folder for the list of those that were met. */
    mutation: { awake: string; folder: string };
  }
}

type Finds = { find(request: AccessRequest): Promise<{ actor: Caller }> };

const { awake, folder } = inject('mutation');
export const mutation = { awake, folder, met: new Set<string>() };

afterAll(() => writeFileSync(join(folder, 'met.json'), JSON.stringify([...mutation.met])));

function isAwake(id: string): boolean {
  mutation.met.add(id);
  return mutation.awake === id;
}

/** A promise, or a condition of the database, may be either. */
const isUnknown = (value: unknown): boolean => typeof value === 'object' && value !== null;

/** The caller as an administrator; an anonymous one stays so. */
const asAdmin = (caller: Caller): Caller => caller && { ...caller, admin: true };

/** The other, where the first refuses; it makes a difference where it does not refuse too. */
async function instead<T>(id: string, requested: Promise<T>, other: () => Promise<T>): Promise<T> {
  try {
    return await requested;
  } catch (error) {
    if (mutation.awake === id) return other();
    if (mutation.awake === '' && (await isGiven(other))) mutation.met.add(id);
    throw error;
  }
}

const isGiven = (requested: () => Promise<unknown>): Promise<boolean> =>
  requested().then(
    () => true,
    () => false,
  );

/** Decides by the one access, and by the other where that refuses, at each request. */
const either = (id: string, access: Finds, other: Finds): Finds => ({
  ...access,
  find: (request) => instead(id, access.find(request), () => other.find(request)),
});

Object.assign(globalThis, {
  __mutant: isAwake,
  __always: (id: string, value: unknown) => (value && !isUnknown(value) ? value : isAwake(id) ? true : value),
  __never: (id: string, value: unknown) => (value && isAwake(id) ? false : value),
  __negated: (id: string, value: unknown) => (isAwake(id) ? !value : value),
  __admin: (id: string, caller: Caller) =>
    caller && !caller.admin && isAwake(id) ? asAdmin(caller) : caller,
  __instead: instead,
  __access: either,
  __opened: (id: string, access: Finds): Finds =>
    either(id, access, {
      find: async (request) => ({
        ...(await access.find({ ...request, caller: asAdmin(request.caller) })),
        actor: request.caller,
      }),
    }),
});
