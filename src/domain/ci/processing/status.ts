/** Statuses of jobs and pipelines (facts for CI: State machines), and the one that many make up. Pure. */

export const statuses = [
  'created',
  'waiting_for_resource',
  'preparing',
  'waiting_for_callback',
  'pending',
  'running',
  'success',
  'failed',
  'canceling',
  'canceled',
  'skipped',
  'manual',
  'scheduled',
] as const;
export type Status = (typeof statuses)[number];

/** Nothing changes them but a retry. */
const completed: readonly Status[] = ['success', 'failed', 'canceled', 'skipped'];
export const isCompleted = (status: Status): boolean => completed.includes(status);

export const isCancelable = (status: Status): boolean => !isCompleted(status) && status !== 'canceling';

/** Why jobs fail that are not to run again: those that start other pipelines in vain, and deployments that were refused. */
export const HOPELESS: readonly string[] = [
  'pipeline_loop_detected',
  'reached_max_descendant_pipelines_depth',
  'deployment_rejected',
];

/** What a job counts as where statuses are joined: one bit each, so that many are joined by `|`. */
const bits = Object.fromEntries(
  [...statuses, 'success_with_warnings' as const, 'ignored' as const].map((name, at) => [name, 1 << at]),
) as Record<Status | 'success_with_warnings' | 'ignored', number>;

export type Counted = { status: Status; allow_failure: boolean };

/** What joins to the composite of many: the bits of all, by `|`; 0 of none. */
export function statusBit({ status, allow_failure }: Counted): number {
  if (allow_failure && (status === 'failed' || status === 'canceled')) return bits.success_with_warnings;
  if (allow_failure && status === 'manual') return bits.ignored;
  return bits[status];
}

const of = (...names: (keyof typeof bits)[]): number => names.reduce((all, name) => all | bits[name], 0);

/** The first that has all that there is; facts for CI: Composite status. */
const whole: readonly [allowed: number, status: Status][] = [
  [of('skipped', 'ignored'), 'skipped'],
  [of('success', 'skipped', 'success_with_warnings', 'ignored'), 'success'],
  [of('created', 'success_with_warnings', 'ignored'), 'created'],
  [of('preparing', 'success_with_warnings', 'ignored'), 'preparing'],
  [of('canceled', 'success', 'skipped', 'success_with_warnings', 'ignored'), 'canceled'],
  [of('pending', 'created', 'skipped', 'success_with_warnings', 'ignored'), 'pending'],
];

/** The first of which there is any. */
const some: readonly [anyOf: number, status: Status][] = [
  [of('running', 'pending'), 'running'],
  [of('waiting_for_resource'), 'waiting_for_resource'],
  [of('waiting_for_callback'), 'waiting_for_callback'],
  [of('manual'), 'manual'],
  [of('scheduled'), 'scheduled'],
  [of('preparing'), 'preparing'],
  [of('created'), 'running'],
  [of('canceling'), 'canceling'],
];

/** The status that jobs of these joined bits make up; `success` of none. */
export function compositeOf(joined: number): Status {
  if (joined === 0) return 'success';
  const all = whole.find(([allowed]) => (joined & ~allowed) === 0);
  const any = some.find(([anyOf]) => (joined & anyOf) !== 0);
  return (all ?? any)?.[1] ?? 'failed';
}

/** That of the jobs that a job needs by name: one that is skipped, or waits for somebody for nothing, is missed. */
export const compositeOfNeeds = (joined: number): Status =>
  (joined & of('skipped', 'ignored')) !== 0 ? 'skipped' : compositeOf(joined);

/** The composite of these jobs. */
export const composite = (jobs: readonly Counted[]): Status =>
  compositeOf(jobs.reduce((all, job) => all | statusBit(job), 0));
