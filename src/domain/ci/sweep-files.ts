/** Removes files of artifacts and secure files that no row has. */
import { unlink } from 'node:fs/promises';
import { oldFiles } from '../../kernel/files/stored-files.ts';
import type { Needs } from '../../kernel/services.ts';
import { now } from '../../platform/clock.ts';
import { artifactsFolder } from './artifacts/files.ts';
import { selectKnownSecrets as selectKnownArtifacts } from './artifacts/queries.ts';
import { secureFilesFolder } from './secure-files/actions.ts';
import { selectKnownSecrets as selectKnownSecureFiles } from './secure-files/queries.ts';

const DAY_MS = 86_400_000;

/** Of what went with its pipeline or project, and of uploads that were cut off. Young ones may get a row yet. */
export async function sweepFiles({
  database,
  config,
  log,
}: Needs<'config' | 'database' | 'log'>): Promise<void> {
  const folders = [
    { folder: artifactsFolder(config.data), selectKnown: selectKnownArtifacts },
    { folder: secureFilesFolder(config.data), selectKnown: selectKnownSecureFiles },
  ];
  for (const { folder, selectKnown } of folders)
    for await (const batch of oldFiles(folder, new Date(now().getTime() - DAY_MS))) {
      const secrets = batch.map(({ secret }) => secret);
      const known = await selectKnown(database.background, secrets);
      for (const { path } of batch.filter(({ secret }) => !known.has(secret)))
        await unlink(path).catch((error: unknown) =>
          log.error('a file could not be removed', error, { path }),
        );
    }
}
