/** Tags, deprecates and unpublishes versions of packages of npm. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { levelOf } from '../../../kernel/protection/levels.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { conflict } from '../../../platform/failure.ts';
import { selectRulesFor } from '../protection/queries.ts';
import { requireDelete } from '../protection/rules.ts';
import { type PublishContext, requirePublishable } from '../publishing/publish-actions.ts';
import { type DeleteContext, removePackage } from '../records/actions.ts';
import type { PackageRow } from '../records/queries.ts';
import { installable } from '../records/types.ts';
import { revisionOf } from './documents.ts';
import { missing } from './rules.ts';

type Project = Pick<AuthorizedProject, 'id'>;

const noPackage = () => missing('Package', 'Package');

/** Locks those of all statuses until the transaction ends, the oldest first. */
const lockVersions = (tx: Db, project: Project, name: string): Promise<PackageRow[]> =>
  tx
    .selectFrom('packages')
    .selectAll()
    .where('project_id', '=', project.id)
    .where('package_type', '=', 'npm')
    .where('name', '=', name)
    .orderBy('id')
    .forUpdate()
    .execute();

/** Takes the tag from other versions of the package. */
export async function moveTag(tx: Db, { id, project_id, name }: PackageRow, tag: string): Promise<void> {
  const time = now();
  await ahead(tx)
    .deleteFrom('package_tags')
    .where('name', '=', tag)
    .where('package_id', '<>', id)
    .where(
      'package_id',
      'in',
      sql<number>`(select id from packages where project_id = ${project_id} and package_type = 'npm' and name = ${name})`,
    )
    .execute();
  await ahead(tx)
    .insertInto('package_tags')
    .values({ package_id: id, name: tag, created_at: time, updated_at: time })
    .onConflict((conflicting) =>
      conflicting.columns(['package_id', 'name']).doUpdateSet({ updated_at: time }),
    )
    .execute();
  await ahead(tx).updateTable('packages').set({ updated_at: time }).where('id', '=', id).execute();
}

/** 404 for a version that is not there. */
export async function setTag(
  context: PublishContext,
  { name, tag, version }: { name: string; tag: string; version: string },
): Promise<void> {
  await requirePublishable(context, { type: 'npm', name });
  await inTransaction(context.db, async (tx) => {
    const row = (await lockVersions(tx, context.subject, name)).find(
      (each) => each.version === version && installable.includes(each.status as never),
    );
    if (!row) throw noPackage();
    await moveTag(tx, row, tag);
  });
}

/** 404 for a package or a tag that is not there. */
export async function removeTag(
  { services, actor, subject }: Omit<DeleteContext, 'actor'> & { actor: DeleteContext['actor'] | undefined },
  { name, tag }: { name: string; tag: string },
  unmodified: (updatedAt: Date) => void,
): Promise<void> {
  await inTransaction(services.database.db, async (tx) => {
    const rows = await lockVersions(tx, subject, name);
    const [first] = rows;
    if (!first) throw noPackage();
    requireDelete(await selectRulesFor(tx, subject, first), levelOf(actor, subject.role), name);
    const removed = await tx
      .deleteFrom('package_tags')
      .where('name', '=', tag)
      .where(
        'package_id',
        'in',
        rows.map(({ id }) => id),
      )
      .returning('updated_at')
      .execute();
    if (removed.length === 0) throw missing('Package Tag', 'Package tag');
    for (const { updated_at } of removed) unmodified(updated_at);
  });
}

/** An empty text ends it. What is hidden, or wrong, stays so. 404 for a package that is not there. */
export async function deprecate(
  { db, subject }: Pick<PublishContext, 'db' | 'subject'>,
  name: string,
  named: readonly { version: string; text: string }[],
): Promise<void> {
  await inTransaction(db, async (tx) => {
    if ((await lockVersions(tx, subject, name)).length === 0) throw noPackage();
    await sql`
      update packages p set updated_at = ${now()}, status_message = nullif(given.text, ''),
        status = case when status not in ('default', 'deprecated') then status
          when given.text = '' then 'default' else 'deprecated' end
      from unnest(${named.map(({ version }) => version)}::text[], ${named.map(({ text }) => text)}::text[])
        as given (version, text)
      where p.project_id = ${subject.id} and p.package_type = 'npm' and p.name = ${name} and p.version = given.version
        and coalesce(p.status_message, '') <> given.text`.execute(tx);
  });
}

/** The version with the file, or all of them, of which the client has seen the last. 409 where there is a newer one. */
export async function unpublish(
  context: DeleteContext,
  { name, file, revision }: { name: string; file: string | undefined; revision: string },
  unmodified: (updatedAt: Date) => void,
): Promise<void> {
  const { services, subject } = context;
  const blobs = await inTransaction(services.database.db, async (tx) => {
    const all = await lockVersions(tx, subject, name);
    const rows = file === undefined ? all : await withFile(tx, all, file);
    if (rows.length === 0) throw noPackage();
    if (file === undefined && revisionOf(rows) !== revision)
      throw conflict('409 Conflict - the package has changed: read it again');
    const removed: Buffer[] = [];
    for (const row of rows) {
      unmodified(row.updated_at);
      removed.push(...(await removePackage(tx, context, row)));
    }
    return removed;
  });
  await services.blobs.release(blobs);
}

async function withFile(tx: Db, rows: readonly PackageRow[], fileName: string): Promise<PackageRow[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const found = await tx
    .selectFrom('package_files')
    .select('package_id')
    .where('package_id', 'in', ids)
    .where('file_name', '=', fileName)
    .execute();
  const having = new Set(found.map(({ package_id }) => package_id));
  return rows.filter(({ id }) => having.has(id));
}
