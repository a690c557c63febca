/** Publishes files of Conan packages, and removes revisions of them. */
import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { levelOf } from '../../../kernel/protection/levels.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { badRequest, notFound } from '../../../platform/failure.ts';
import { selectRulesFor } from '../protection/queries.ts';
import { requireDelete } from '../protection/rules.ts';
import {
  type Publishable,
  type PublishContext,
  type Published,
  publishFile,
} from '../publishing/publish-actions.ts';
import type { Arrived } from '../publishing/receive.ts';
import { type DeleteContext, releaseFirst, removePackage } from '../records/actions.ts';
import type { PackageRow } from '../records/queries.ts';
import { hasRecipe, isFile, isPart, lockReference, type Part } from './queries.ts';
import {
  type FileLocation,
  INFO,
  infoOf,
  MAX_INFO_BYTES,
  qualifierOf,
  type Reference,
  replacedBy,
} from './rules.ts';

/** Of one revision. */
const MAX_FILES = 1_000;

async function readInfo({ draft, size }: Arrived) {
  if (size > MAX_INFO_BYTES) throw badRequest(`${INFO} is longer than ${MAX_INFO_BYTES} bytes`);
  const text = (await readFile(draft.path)).toString();
  if (text.includes('\0')) throw badRequest(`${INFO} is no text`);
  return infoOf(text);
}

/** The blobs of the file in whose place another one comes. */
async function removeReplaced(
  tx: Db,
  row: PackageRow,
  place: FileLocation,
  fileName: string,
): Promise<Buffer[]> {
  const { rows } = await sql<{ sha256: Buffer }>`
    delete from package_files f where ${isFile(row, place)} and f.file_name = any(${replacedBy(fileName)}::text[])
    returning f.sha256`.execute(tx);
  if (rows.length === 0) {
    const counted = await sql<{ files: number }>`
      select count(*)::integer as files from package_files f where ${isFile(row, place)}`.execute(tx);
    if (Number(counted.rows[0]?.files) >= MAX_FILES)
      throw badRequest(`a revision has ${MAX_FILES} files at most`);
  }
  return rows.map(({ sha256 }) => sha256);
}

/** A file that is there makes way. 404 for one of a package whose recipe is not there, or not whole. */
export async function publishAt(
  context: PublishContext,
  upload: Arrived,
  publishable: Publishable,
  { reference, place, fileName }: { reference: Reference; place: FileLocation; fileName: string },
): Promise<Published> {
  const info = fileName === INFO ? await readInfo(upload) : undefined;
  let replaced: Buffer[] = [];
  const published = await publishFile(
    context,
    upload,
    { ...publishable, version: reference.version, qualifier: qualifierOf(reference) },
    { name: fileName, metadata: { ...place, ...(info && { info }) } },
    async (tx, row) => {
      if (place.reference !== '' && !(await hasRecipe(tx, row, place.recipe_revision)))
        throw notFound('Recipe');
      replaced = await removeReplaced(tx, row, place, fileName);
    },
  );
  await context.services.blobs.release(replaced);
  return published;
}

/** Of the locked package; with its last file the package goes too. */
async function removeFiles(tx: Db, context: DeleteContext, row: PackageRow, part: Part): Promise<Buffer[]> {
  requireDelete(
    await selectRulesFor(tx, context.subject, row),
    levelOf(context.actor, context.subject.role),
    row.name,
  );
  const { rows } = await sql<{ sha256: Buffer }>`
    delete from package_files f where ${isPart(row, part)} returning f.sha256`.execute(tx);
  const isKnown = rows.length > 0 || (part.packagesAlone && (await hasRecipe(tx, row, part.recipe_revision)));
  if (!isKnown) throw notFound('Package');
  const blobs = rows.map(({ sha256 }) => sha256);
  const left = await sql`select from package_files where package_id = ${row.id} limit 1`.execute(tx);
  if (left.rows.length > 0) return blobs;
  return [...blobs, ...(await removePackage(tx, context, row))];
}

/** Removes the part of the package, or all of it: 404 where it is not there, 403 where a rule protects the package. */
export async function removePart(
  context: DeleteContext,
  reference: Reference,
  part: Part | undefined,
  unmodified: (updatedAt: Date) => void,
): Promise<PackageRow> {
  const { services, subject } = context;
  const { row, blobs } = await inTransaction(services.database.db, async (tx) => {
    const row = await lockReference(tx, subject, reference);
    if (!row) throw notFound('Package');
    unmodified(row.updated_at);
    return {
      row,
      blobs: part ? await removeFiles(tx, context, row, part) : await removePackage(tx, context, row),
    };
  });
  await releaseFirst(services, blobs);
  return row;
}
