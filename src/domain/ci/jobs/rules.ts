/** What may be done with a job in a status (facts for CI: Actions). Pure. */
import type { Status } from '../processing/status.ts';

/** Another row has taken the place of one that was retried. */
export const isRetryable = ({ status, retried }: { status: Status; retried: boolean }): boolean =>
  !retried && (status === 'success' || status === 'failed' || status === 'canceled');

export const isPlayable = (status: Status): boolean => status === 'manual' || status === 'scheduled';
