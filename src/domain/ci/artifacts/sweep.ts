/** Removes artifacts whose time has come. */
import type { Needs } from '../../../kernel/services.ts';
import { sweepExpired } from './actions.ts';

export async function expireArtifacts(services: Needs<'blobs' | 'database' | 'settings'>): Promise<void> {
  const { keep_latest_artifact } = await services.settings.read();
  await sweepExpired(services, keep_latest_artifact);
}
