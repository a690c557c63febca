/** What a runner's report makes of a job (facts for CI: Runner protocol; Auto retry). Pure. */
import type { PlannedJob, PlannedRetry } from '../file/plan.ts';

/** The reasons that runners may give; another is none that is known. */
const reasons = new Set([
  ...['script_failure', 'api_failure', 'stuck_or_timeout_failure', 'runner_system_failure'],
  ...['missing_dependency_failure', 'runner_unsupported', 'stale_schedule', 'job_execution_timeout'],
  ...['archived_failure', 'unmet_prerequisites', 'scheduler_failure', 'data_integrity_failure'],
  ...[
    'image_pull_failure',
    'runner_configuration_error',
    'runner_external_dependency_failure',
    'runner_interrupted',
  ],
]);
/** Reasons that a job's record may have; the runner reports no other. */
export const failureReasons: readonly string[] = ['unknown_failure', ...reasons];

export const failureReason = (given: string | undefined): string =>
  given !== undefined && reasons.has(given) ? given : 'unknown_failure';

/** What is kept of it: Windows has codes beyond the column, and a runner that is refused for one could never end its job. */
export const keptExitCode = (code: number | undefined): number | null =>
  code !== undefined && Math.abs(code) < 2 ** 31 ? code : null;

const neverRetried = new Set(['missing_dependency_failure', 'runner_unsupported']);

/** Whether a job that failed runs once more, after so many attempts before this one. */
export function isRetried(
  retry: PlannedRetry | null,
  failure: { reason: string; exitCode: number | undefined },
  attempts: number,
): boolean {
  if (neverRetried.has(failure.reason)) return false;
  if (retry === null) return failure.reason === 'scheduler_failure' && attempts < 2;
  if (attempts >= retry.max) return false;
  const { when, exitCodes } = retry;
  const any = when.length === 0 && exitCodes.length === 0;
  return (
    any ||
    when.includes('always') ||
    when.includes(failure.reason) ||
    (failure.exitCode !== undefined && exitCodes.includes(failure.exitCode))
  );
}

/** Where a part of a trace begins, of `<start>-<end>`; undefined for another header. */
export function rangeStart(header: string | undefined): number | undefined {
  const [, start] = /^(\d{1,15})-(\d{1,15})$/.exec(header?.trim() ?? '') ?? [];
  return start === undefined ? undefined : Number(start);
}

/** The group of a parallel job: its name without what tells one from the others. */
export const groupName = (name: string): string =>
  name.replace(/(?:\s*\[.*\]|:? \[.*\]|[: ]+\d+[/: ]\d+)$/, '').replace(/:$/, '');

/** What a job may ask of its runner that not every runner does, by the feature that says so. */
const asked = {
  release: 'multi_build_steps',
  run: 'native_steps_integration',
  inputs: 'job_inputs',
  secrets: 'vault_secrets',
} as const;

/** Whether a runner does all that the job asks: one that leaves out the step of the release, say, would end it well without one. */
export const isSupported = (
  planned: Partial<Pick<PlannedJob, keyof typeof asked>>,
  features: Readonly<Record<string, boolean>>,
): boolean =>
  (Object.keys(asked) as (keyof typeof asked)[]).every(
    (name) => (planned[name] ?? null) === null || features[asked[name]] === true,
  );

const debugging = ['CI_DEBUG_TRACE', 'CI_DEBUG_SERVICES'];

/** Whether the job's variables make its runner write all that it does; of one key, the last value counts. */
export const isDebugged = (variables: readonly { key: string; value: string }[]): boolean =>
  debugging.some((name) => {
    const value = variables.findLast(({ key }) => key === name)?.value;
    return value !== undefined && /^(true|t|1)$/i.test(value);
  });
