/** Takes deleted versions of Maven packages out of the metadata that programs find them by. */
import { buffer } from 'node:stream/consumers';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db } from '../../../platform/db/database.ts';
import { DocumentError } from '../../../platform/documents/xml.ts';
import { startDigest } from '../../../platform/secret.ts';
import { keepFile } from '../publishing/publish-actions.ts';
import type { PackageRow } from '../records/queries.ts';
import { type MavenMetadata, metadataDocument, readMetadata, withoutMissing } from './metadata.ts';
import { lockVersionless, selectMetadata, selectVersioned, selectVersions } from './queries.ts';
import { METADATA } from './rules.ts';

/** Larger ones stay as they are. */
const MAX_BYTES = 10_485_760;

type Context = { services: Needs<'blobs'>; subject: AuthorizedProject };

/** What the package of all versions says; undefined where that is nothing that this server reads. */
async function readStored(
  tx: Db,
  { services }: Context,
  row: PackageRow,
): Promise<MavenMetadata | undefined> {
  const file = await selectMetadata(tx, row);
  if (!file || file.size > MAX_BYTES) return undefined;
  const blob = await services.blobs.open(file.sha256);
  if (!blob) return undefined;
  try {
    return await readMetadata((await buffer(blob.stream())).toString());
  } catch (error) {
    if (error instanceof DocumentError) return undefined;
    throw error;
  }
}

async function keepText(tx: Db, { services }: Context, row: PackageRow, name: string, text: string) {
  const draft = await services.blobs.draft(['md5', 'sha1']);
  try {
    await draft.write(Buffer.from(text));
    await keepFile(tx, row, { ...(await draft.finish()), draft }, { name });
  } finally {
    await draft.discard();
  }
}

async function rewrite(tx: Db, context: Context, name: string): Promise<Buffer[]> {
  const row = await lockVersionless(tx, context.subject, name);
  const before = row && (await readStored(tx, context, row));
  if (!before) return [];
  const names = before.plugins.map(({ artifactId = '' }) => `${name}/${artifactId}`);
  const versioned = await selectVersioned(tx, context.subject, names);
  const after = withoutMissing(before, {
    versions: await selectVersions(tx, context.subject, name),
    artifacts: new Set([...versioned].map((each) => each.slice(name.length + 1))),
  });
  if (!after) return removeWhole(tx, row);
  if (after.versions.length === before.versions.length && after.plugins.length === before.plugins.length)
    return [];
  const text = metadataDocument(after, now());
  await keepText(tx, context, row, METADATA, text);
  // The other digests are those of its record.
  for (const algorithm of ['sha256', 'sha512'] as const) {
    const digest = startDigest(algorithm).update(text).digest('hex');
    await keepText(tx, context, row, `${METADATA}.${algorithm}`, digest);
  }
  return [];
}

async function removeWhole(tx: Db, { id }: PackageRow): Promise<Buffer[]> {
  const files = await tx
    .selectFrom('package_files')
    .select('sha256')
    .distinct()
    .where('package_id', '=', id)
    .execute();
  await ahead(tx).deleteFrom('packages').where('id', '=', id).execute();
  return files.map(({ sha256 }) => sha256);
}

/**
 * When a version is deleted: the metadata of its name, and that of the plugins of its group. What says nothing more is deleted too:
 * the blobs of that are to be released after the commit.
 */
export async function forgetVersion(
  tx: Db,
  context: Context,
  { name, version }: Pick<PackageRow, 'name' | 'version'>,
): Promise<Buffer[]> {
  if (version === null) return [];
  const own = await rewrite(tx, context, name);
  const ofGroup = await rewrite(tx, context, name.slice(0, name.lastIndexOf('/')));
  return [...own, ...ofGroup];
}
