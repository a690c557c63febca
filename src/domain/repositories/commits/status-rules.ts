/** Changes of a commit status's state, and the pipeline's state. Pure. */
import { isRefName, shortRef } from '../../../platform/git/names.ts';
import type { State } from './status-schema.ts';

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

/** The status of a pipeline with statuses of these states. */
export function pipelineStatus(statuses: readonly string[]): string {
  const all = (...states: string[]) => statuses.every((status) => states.includes(status));
  if (all('skipped')) return 'skipped';
  if (all('success', 'skipped')) return 'success';
  if (all('success', 'skipped', 'canceled')) return 'canceled';
  if (all('pending', 'skipped')) return 'pending';
  return statuses.some(isGoingOn) ? 'running' : 'failed';
}

/** The name of a client's branch or tag; undefined for no valid name. */
export function refName(ref: string): string | undefined {
  const name = shortRef(ref)?.name ?? ref;
  return isRefName(name) ? name : undefined;
}
