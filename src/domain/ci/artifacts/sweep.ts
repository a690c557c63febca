/** Removes artifacts whose time has come. */
import type { Needs } from '../../../kernel/services.ts';
import { monotonic } from '../../../platform/clock.ts';
import { addJobs } from '../../../platform/jobs/jobs.ts';
import { sweepExpired } from './actions.ts';

export const EXPIRE_ARTIFACTS = 'ci.expire_artifacts';

/** Other jobs of the program wait no longer: what is left is a job behind those that wait. */
const TURN_MS = 5_000;

export async function expireArtifacts(
  services: Needs<'blobs' | 'database' | 'settings'>,
  turnMs = TURN_MS,
): Promise<void> {
  const { keep_latest_artifact } = await services.settings.read();
  const end = monotonic() + turnMs;
  while (await sweepExpired(services, keep_latest_artifact)) {
    if (monotonic() < end) continue;
    const next = { task: EXPIRE_ARTIFACTS, payload: {}, key: EXPIRE_ARTIFACTS, priority: 1 };
    await addJobs(services.database.background, [next]);
    return;
  }
}
