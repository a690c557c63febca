/** Deletes packages and files of them; their bytes go after the commit. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { auditedParent } from '../../../kernel/access/resource-parents.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { levelOf } from '../../../kernel/protection/levels.ts';
import type { Needs } from '../../../kernel/services.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { selectRulesFor } from '../protection/queries.ts';
import { requireDelete } from '../protection/rules.ts';
import { lockPackage, type PackageRow } from './queries.ts';
import type { PackageType } from './types.ts';

export type DeleteContext = {
  services: Needs<'database' | 'blobs'>;
  actor: Actor;
  subject: AuthorizedProject;
};

const RELEASED_AT_ONCE = 200;

/** Nobody waits for more of them: the others go with the next sweep. */
export const releaseFirst = ({ blobs }: Needs<'blobs'>, digests: readonly Buffer[]): Promise<void> =>
  blobs.release(digests.slice(0, RELEASED_AT_ONCE));

/** What formats do in the transaction that deletes a package of theirs; they return the blobs that they need no more. */
export type AfterDeletion = Partial<
  Record<PackageType, (tx: Db, context: Omit<DeleteContext, 'actor'>, row: PackageRow) => Promise<Buffer[]>>
>;

const audit = (tx: Db, { actor, subject }: DeleteContext, { id, name, version }: PackageRow): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: auditedParent(subject),
      event: 'package_destroyed',
      details: {
        target_id: id,
        target_type: 'Packages::Package',
        target_details: version === null ? name : `${name} ${version}`,
      },
    },
  });

/** Removes the locked package: 403 where a rule protects it. Its blobs are to be released after the commit. */
export async function removePackage(
  tx: Db,
  context: DeleteContext,
  row: PackageRow,
  after: AfterDeletion = {},
): Promise<Buffer[]> {
  requireDelete(
    await selectRulesFor(tx, context.subject, row),
    levelOf(context.actor, context.subject.role),
    row.name,
  );
  const files = await tx
    .selectFrom('package_files')
    .select('sha256')
    .distinct()
    .where('package_id', '=', row.id)
    .execute();
  await ahead(tx).deleteFrom('packages').where('id', '=', row.id).execute();
  await audit(tx, context, row);
  const further = await after[row.package_type as PackageType]?.(tx, context, row); // its check constraint
  return [...files.map(({ sha256 }) => sha256), ...(further ?? [])];
}

export async function deletePackage(
  context: DeleteContext,
  id: number,
  unmodified: (updatedAt: Date) => void,
  after: AfterDeletion,
): Promise<void> {
  const { services, subject } = context;
  const blobs = await inTransaction(services.database.db, async (tx) => {
    const row = found(await lockPackage(tx, subject, id), 'Package');
    unmodified(row.updated_at);
    return removePackage(tx, context, row, after);
  });
  await releaseFirst(services, blobs);
}

/** A package whose last file goes stays. */
export async function deletePackageFile(
  context: DeleteContext,
  { package_id, package_file_id }: { package_id: number; package_file_id: number },
  unmodified: (updatedAt: Date) => void,
): Promise<void> {
  const { services, subject } = context;
  const blob = await inTransaction(services.database.db, async (tx) => {
    const row = found(await lockPackage(tx, subject, package_id), 'Package');
    requireDelete(await selectRulesFor(tx, subject, row), levelOf(context.actor, subject.role), row.name);
    const file = found(
      await tx
        .deleteFrom('package_files')
        .where('package_id', '=', row.id)
        .where('id', '=', package_file_id)
        .returning(['sha256', 'created_at'])
        .executeTakeFirst(),
      'Package File',
    );
    unmodified(file.created_at);
    return file.sha256;
  });
  await services.blobs.release([blob]);
}
