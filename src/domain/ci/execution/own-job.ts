/** The job that a runner speaks of, by the token that came with it. */
import type { Needs } from '../../../kernel/services.ts';
import { Failure, forbidden } from '../../../platform/failure.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';
import type { JobRow } from '../processing/process-actions.ts';
import { touchJob } from './finish-actions.ts';
import { selectByToken } from './queries.ts';

/** The token of a job, as a parameter or in the header; empty without one. */
export function presentedToken(
  { headers }: Pick<HttpRequest, 'headers'>,
  { token }: { token?: string | undefined },
): string {
  const header = headers['job-token'];
  return token || (typeof header === 'string' ? header : '');
}

/** 403 for a job that is not the runner's own, or has ended. */
export async function jobOf(
  { database }: Needs<'database'>,
  request: Pick<HttpRequest, 'headers'>,
  input: { id: number; token?: string | undefined },
): Promise<JobRow> {
  const presented = presentedToken(request, input);
  const job = presented === '' ? undefined : await selectByToken(database.db, input.id, presented);
  if (!job) throw forbidden();
  if (job.status !== 'running' && job.status !== 'canceling')
    throw new Failure('forbidden', '403 Forbidden - Job is not processing on runner', {
      headers: { 'job-status': job.status },
    });
  await touchJob(database.db, job);
  return job;
}
