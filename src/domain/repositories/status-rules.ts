/** How the state of a commit's status changes, and what it makes of the pipeline. Pure. */
import { isRefName, shortRef } from '../../platform/git/names.ts';
import type { State } from './status-schema.ts';

/** What the public API calls the way into a state, and from where it leads there; `created` is a new status. */
const transitions: Record<State, { event: string; from: readonly string[] }> = {
  pending: { event: 'enqueue', from: ['created'] },
  running: { event: 'run', from: ['created', 'pending'] },
  success: { event: 'success', from: ['created', 'pending', 'running'] },
  failed: { event: 'drop', from: ['created', 'pending', 'running'] },
  canceled: { event: 'cancel', from: ['created', 'pending', 'running'] },
  skipped: { event: 'skip', from: ['created', 'pending'] },
};

/** Whether more is to be heard; what has ended is followed by a new status. */
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

/** The name of the branch or tag that a client means; undefined for what is none. */
export function refName(ref: string): string | undefined {
  const name = shortRef(ref)?.name ?? ref;
  return isRefName(name) ? name : undefined;
}
