/** Publishes NuGet packages and their symbols, and deletes them. */
import { inTransaction } from '../../../platform/db/database.ts';
import { conflict, notFound } from '../../../platform/failure.ts';
import { selectMayComeAgain } from '../publishing/duplicate-queries.ts';
import {
  lockWords,
  type PublishContext,
  publishFile,
  requirePublishable,
} from '../publishing/publish-actions.ts';
import type { Arrived } from '../publishing/receive.ts';
import { type DeleteContext, removePackage } from '../records/actions.ts';
import { readNuspec } from './package-archive.ts';
import { lockVersion, selectSpelling } from './queries.ts';
import { fileNameOf, nuspecOf, type PackageEnding } from './rules.ts';

/** What has come is another file of its version where there is one; 404 for symbols of a version that is not there. */
export async function publishArchive(
  context: PublishContext,
  upload: Arrived,
  ending: PackageEnding,
): Promise<void> {
  const { id, version, description } = await nuspecOf(await readNuspec(upload.draft.path));
  const publishable = await requirePublishable(context, { type: 'nuget', name: id });
  await publishFile(
    context,
    upload,
    async (tx) => {
      await lockWords(tx, 'nuget', context.subject.id, id.toLowerCase());
      const spelled = await selectSpelling(tx, context.subject, { name: id, version });
      return {
        ...publishable,
        version,
        ...spelled,
        ...(ending === 'nupkg' && { metadata: description }),
      };
    },
    { name: fileNameOf(id, version, ending) },
    async (tx, row) => {
      if (ending === 'snupkg') {
        if (row.is_new) throw notFound('Package');
      } else if (!row.is_new && !(await selectMayComeAgain(tx, 'nuget', row)))
        throw conflict('A package with the same name and version already exists');
    },
  );
}

export async function deleteVersion(
  context: DeleteContext,
  key: { name: string; version: string },
  unmodified: (updatedAt: Date) => void,
): Promise<void> {
  const { services, subject } = context;
  const blobs = await inTransaction(services.database.db, async (tx) => {
    const row = await lockVersion(tx, subject, key);
    if (!row) throw notFound('Package');
    unmodified(row.updated_at);
    return removePackage(tx, context, row);
  });
  await services.blobs.release(blobs);
}
