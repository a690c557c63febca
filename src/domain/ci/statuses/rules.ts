/** Changes of a commit status's state. Pure. */
import { isRefName, shortRef } from '../../../platform/git/names.ts';
import type { State } from './schema.ts';

/** The public API's names of the ways into a state, and their origins; `created` is a new status. */
const transitions: Record<State, { event: string; from: readonly string[] }> = {
  pending: { event: 'enqueue', from: ['created'] },
  running: { event: 'run', from: ['created', 'pending'] },
  success: { event: 'success', from: ['created', 'pending', 'running'] },
  failed: { event: 'drop', from: ['created', 'pending', 'running'] },
  canceled: { event: 'cancel', from: ['created', 'pending', 'running'] },
  skipped: { event: 'skip', from: ['created', 'pending'] },
};

/** Whether the state may still change; after it has ended, a new status follows. */
export const isGoingOn = (state: string): boolean => state === 'pending' || state === 'running';

/** The sentence that refuses a change of state; undefined where it is allowed. */
export function transitionRefusal(before: string, after: State): string | undefined {
  const { event, from } = transitions[after];
  return from.includes(before)
    ? undefined
    : `Cannot transition status via :${event} from :${before} (Reason(s): Status cannot transition via "${event}")`;
}

/** The name of a client's branch or tag; undefined for no valid name. */
export function refName(ref: string): string | undefined {
  const name = shortRef(ref)?.name ?? ref;
  return isRefName(name) ? name : undefined;
}
