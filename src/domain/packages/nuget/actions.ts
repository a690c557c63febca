/** Publishes NuGet packages and their symbols, and deletes them. */
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { conflict, notFound } from '../../../platform/failure.ts';
import { selectMayComeAgain } from '../publishing/duplicate-queries.ts';
import {
  lockWords,
  type Publishable,
  type PublishContext,
  publishFile,
  requirePublishable,
} from '../publishing/publish-actions.ts';
import type { Arrived } from '../publishing/receive.ts';
import { type DeleteContext, removePackage } from '../records/actions.ts';
import type { PackageFileRow } from '../records/queries.ts';
import { readNuspec } from './package-archive.ts';
import { lockVersion, selectSpelling } from './queries.ts';
import { fileNameOf, type Nuspec, nuspecOf, type PackageEnding } from './rules.ts';
import { type Symbols, withSymbols } from './symbols.ts';

/** What has come is another file of its version where there is one; 404 for symbols of a version that is not there. */
export async function publishArchive(
  context: PublishContext,
  upload: Arrived,
  ending: PackageEnding,
): Promise<void> {
  const nuspec = await nuspecOf(await readNuspec(upload.draft.path));
  const publishable = await requirePublishable(context, { type: 'nuget', name: nuspec.id });
  const keep = (symbols: readonly Symbols[]) =>
    keepArchive(context, upload, { ...nuspec, publishable, ending, symbols });
  await (ending === 'snupkg' ? withSymbols(upload.draft.path, context.services.blobs, keep) : keep([]));
}

type Archive = Nuspec & { publishable: Publishable; ending: PackageEnding; symbols: readonly Symbols[] };

async function keepArchive(
  context: PublishContext,
  upload: Arrived,
  { id, version, description, publishable, ending, symbols }: Archive,
): Promise<void> {
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
    async (tx, { file }) => {
      for (const each of symbols) await keepSymbols(tx, file, each);
    },
  );
}

async function keepSymbols(tx: Db, { id }: PackageFileRow, symbols: Symbols): Promise<void> {
  const { draft, name, signature, checksum, sha256, size } = symbols;
  await draft.keep(tx);
  await ahead(tx)
    .insertInto('nuget_symbols')
    .values({ package_file_id: id, file_name: name, signature, checksum, sha256, size })
    .execute();
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
