/** Limits, times and names of artifacts (facts for CI: Artifacts; Default limits). Pure. */
import { limitOf, type PlanLimits } from '../../../kernel/instance/plan-limits.ts';
import { durationSeconds } from '../file/duration.ts';
import { isCompleted, type Status } from '../processing/status.ts';

const KIBIBYTE = 1_024;
const MEBIBYTE = 1_024 * KIBIBYTE;

/** Of a file that is read whole, whatever the plan allows. */
const MAX_DOTENV_BYTES = MEBIBYTE;

/** Bytes and variables of a dotenv file. */
export type DotenvLimits = { bytes: number; variables: number };

export const dotenvLimits = (limits: PlanLimits): DotenvLimits => ({
  bytes: Math.min(limitOf(limits, 'dotenv_size'), MAX_DOTENV_BYTES),
  variables: limitOf(limits, 'dotenv_variables'),
});

/** Bytes of types that are read by the program, or by others of its kind. */
const typeBytes: Readonly<Record<string, number>> = {
  annotations: 80 * KIBIBYTE,
  cyclonedx: 5 * MEBIBYTE,
  terraform: 5 * MEBIBYTE,
};

/** Bytes of an artifact by its type, where that is known, and by the settings, in mebibytes. */
export function maximumBytes(
  limits: PlanLimits,
  type?: string,
  mebibytes = Number.POSITIVE_INFINITY,
): number {
  const ofType = type === 'dotenv' ? dotenvLimits(limits).bytes : typeBytes[type ?? ''];
  return Math.min(mebibytes * MEBIBYTE, ofType ?? Number.POSITIVE_INFINITY);
}

/** Seconds that are as good as for ever. */
const MAX_SECONDS = 1_000 * 366 * 86_400;

/** When an artifact goes that is kept so long; null for never, undefined for what is no duration. */
export function expiryOf(duration: string, from: Date): Date | null | undefined {
  const text = duration.trim().toLowerCase();
  if (text === 'never') return null;
  const seconds = durationSeconds(text);
  if (seconds === undefined) return undefined;
  return seconds === 0 || seconds > MAX_SECONDS ? null : new Date(from.getTime() + seconds * 1_000);
}

/** Whether a path names a file inside an archive: relative, plain, and with nothing that leads out. */
export const isArchivePath = (path: string): boolean =>
  path !== '' &&
  !/[\\\0]/.test(path) &&
  path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');

/** Whether a job has something that may be erased. */
export const isErasable = (
  { status, erased_at }: { status: Status; erased_at: Date | null },
  left: { artifacts: number; traceBytes: number },
): boolean => isCompleted(status) && erased_at === null && (left.artifacts > 0 || left.traceBytes > 0);
