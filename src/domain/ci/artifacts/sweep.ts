/** Removes artifacts whose time has come. */
import type { Needs } from '../../../kernel/services.ts';
import { goOnLater, startTurn } from '../../../platform/jobs/turn.ts';
import { sweepExpired } from './actions.ts';

export const EXPIRE_ARTIFACTS = 'ci.expire_artifacts';

export async function expireArtifacts(
  services: Needs<'blobs' | 'database' | 'settings'>,
  turnMs?: number,
): Promise<void> {
  const { keep_latest_artifact } = await services.settings.read();
  const isOver = startTurn(turnMs);
  while (await sweepExpired(services, keep_latest_artifact)) {
    if (isOver()) return goOnLater(services.database.background, EXPIRE_ARTIFACTS);
  }
}
