/** Makes managed licences, changes and deletes them. */
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import { lockProject } from '../../kernel/access/own-row-queries.ts';
import { auditedParent } from '../../kernel/access/resource-parents.ts';
import { announce } from '../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../kernel/actor.ts';
import { found } from '../../kernel/api/endpoint.ts';
import { now } from '../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../platform/db/database.ts';
import { countLicenses, type LicenseRow, lockLicense } from './queries.ts';
import { requireName, requirePlace } from './rules.ts';

type Context = { db: Db; actor: Actor; subject: AuthorizedProject };
type Fields = Pick<LicenseRow, 'name' | 'approval_status'>;

const audit = (
  tx: Db,
  { actor, subject }: Context,
  event: 'created' | 'updated' | 'deleted',
  { id, name, approval_status }: LicenseRow,
): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: auditedParent(subject),
      event: `managed_license_${event}`,
      details: {
        target_id: id,
        target_type: 'SoftwareLicensePolicy',
        target_details: `${name}: ${approval_status}`,
      },
    },
  });

/** 400 for one too many; a name is taken once. */
export const createLicense = (context: Context, fields: Fields): Promise<LicenseRow> =>
  inTransaction(context.db, async (tx) => {
    requireName(fields.name);
    await lockProject(tx, context.subject.id);
    requirePlace(await countLicenses(tx, context.subject));
    const time = now();
    const row = await tx
      .insertInto('managed_licenses')
      .values({ ...fields, project_id: context.subject.id, created_at: time, updated_at: time })
      .returningAll()
      .executeTakeFirstOrThrow();
    await audit(tx, context, 'created', row);
    return row;
  });

export const updateLicense = (
  context: Context,
  name: string,
  changes: Partial<Fields>,
): Promise<LicenseRow> =>
  inTransaction(context.db, async (tx) => {
    requireName(changes.name);
    const { id } = found(await lockLicense(tx, context.subject, name), 'Managed License');
    const row = await tx
      .updateTable('managed_licenses')
      .set({ ...changes, updated_at: now() })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
    await audit(tx, context, 'updated', row);
    return row;
  });

export const deleteLicense = (
  context: Context,
  name: string,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(context.db, async (tx) => {
    const row = found(await lockLicense(tx, context.subject, name), 'Managed License');
    unmodified(row.updated_at);
    await ahead(tx).deleteFrom('managed_licenses').where('id', '=', row.id).execute();
    await audit(tx, context, 'deleted', row);
  });
