/** The user of a job's token, where a request has it in a field of its own. */
import type { Actor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { unauthenticated } from '../../../platform/failure.ts';

/** What tokens of jobs begin with. */
export const JOB_TOKEN_PREFIX = 'glcbt-';

/** The user of the job that runs and has this token, as far as a job acts for them; 401 without one. */
export async function authenticateJob(
  { authenticator }: Needs<'authenticator'>,
  settings: ApplicationSettings,
  token: string,
): Promise<Actor> {
  const credential = { form: 'job_token', token } as const;
  const request = { credential, jobToken: true, safeMethod: true, csrfToken: undefined, sudo: undefined };
  const caller = await authenticator.authenticate(request, settings);
  if (!caller) throw unauthenticated();
  return caller;
}
