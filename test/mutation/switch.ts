/** What the mutated sources call: which mutant is awake, and which were met. */
import type { AccessQuestion } from '../../src/core/access/access.ts';
import type { Caller } from '../../src/core/identity/actor.ts';

type Finds = { find(question: AccessQuestion): Promise<{ actor: Caller }> };

export const mutation = { awake: process.env.ASHLAR_MUTANT ?? '', met: new Set<string>() };

function isAwake(id: string): boolean {
  mutation.met.add(id);
  return mutation.awake === id;
}

/** Who may do everything; the one that is nobody stays so. */
const asAdmin = (caller: Caller): Caller => caller && { ...caller, admin: true };

/** Decides by the one access or by the other, at each request. */
const either = (id: string, access: Finds, other: Finds): Finds => ({
  ...access,
  find: (question) => (isAwake(id) ? other : access).find(question),
});

Object.assign(globalThis, {
  __mutant: isAwake,
  __negated: (id: string, value: unknown) => (isAwake(id) ? !value : value),
  __admin: (id: string, caller: Caller) => (isAwake(id) ? asAdmin(caller) : caller),
  __access: either,
  __opened: (id: string, access: Finds): Finds =>
    either(id, access, {
      find: async (question) => ({
        ...(await access.find({ ...question, caller: asAdmin(question.caller) })),
        actor: question.caller,
      }),
    }),
});
