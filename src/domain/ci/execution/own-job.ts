/** The job that a runner speaks of, by the token that came with it. */
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import { Failure, forbidden } from '../../../platform/failure.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';
import type { JobRow } from '../processing/process-actions.ts';
import { beginJob, keepPreparing } from './begin-actions.ts';
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

async function presentedJob(
  { database }: Needs<'database'>,
  request: Pick<HttpRequest, 'headers'>,
  input: { id: number; token?: string | undefined },
): Promise<JobRow> {
  const presented = presentedToken(request, input);
  const job = presented === '' ? undefined : await selectByToken(database.points, input.id, presented);
  if (!job) throw forbidden();
  return job;
}

async function requireRunning(db: Db, job: JobRow): Promise<JobRow> {
  if (job.status !== 'running' && job.status !== 'canceling')
    throw new Failure('forbidden', '403 Forbidden - Job is not processing on runner', {
      headers: { 'job-status': job.status },
    });
  await touchJob(db, job);
  return job;
}

/** 403 for a job that is not the runner's own, or has ended. One that it only prepared begins. */
export async function jobOf(
  services: Needs<'database' | 'wake'>,
  request: Pick<HttpRequest, 'headers'>,
  input: { id: number; token?: string | undefined },
): Promise<JobRow> {
  const { db } = services.database;
  const job = await presentedJob(services, request, input);
  const begun = job.status === 'pending' ? await beginJob(db, job) : job;
  if (job.status === 'pending') services.wake();
  // Another one may have it meanwhile.
  return requireRunning(db, begun ?? (await presentedJob(services, request, input)));
}

/** The same of a job that the runner goes on to prepare. */
export async function preparedJobOf(
  ...[services, request, input]: Parameters<typeof presentedJob>
): Promise<JobRow> {
  const { db } = services.database;
  const job = await presentedJob(services, request, input);
  if (job.status !== 'pending') return requireRunning(db, job);
  await keepPreparing(db, job);
  return job;
}
