/** Removes artifacts whose time has come, and files that no artifact has. */
import { unlink } from 'node:fs/promises';
import { oldFiles } from '../../../kernel/files/stored-files.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { sweepExpired } from './actions.ts';
import { artifactsFolder } from './files.ts';
import { selectKnownSecrets } from './queries.ts';

const DAY_MS = 86_400_000;

export async function expireArtifacts(services: Needs<'config' | 'database' | 'settings'>): Promise<void> {
  const { keep_latest_artifact } = await services.settings.read();
  await sweepExpired(services, keep_latest_artifact);
}

/** Those of jobs that went with their pipeline or project, and of uploads that were cut off. Young ones may get a row yet. */
export async function sweepArtifactFiles({
  database,
  config,
  log,
}: Needs<'config' | 'database' | 'log'>): Promise<void> {
  for await (const batch of oldFiles(artifactsFolder(config.data), new Date(now().getTime() - DAY_MS))) {
    const known = await selectKnownSecrets(
      database.background,
      batch.map(({ secret }) => secret),
    );
    for (const { path } of batch.filter(({ secret }) => !known.has(secret)))
      await unlink(path).catch((error: unknown) => log.error('a file could not be removed', error, { path }));
  }
}
