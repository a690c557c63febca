/** Keeps secure files of projects, and removes them. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { lockParent } from '../../../kernel/access/own-row-queries.ts';
import { auditedParent } from '../../../kernel/access/resource-parents.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { withReceivedFile } from '../../../kernel/files/received-file.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { invalid } from '../../../platform/failure.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';
import { refuseWithoutFile } from '../artifacts/upload.ts';
import { countSecureFiles, lockSecureFile, type SecureFileRow } from './queries.ts';
import { nameOf } from './rules.ts';

type Context = { services: Needs<'blobs' | 'database'>; actor: Actor; subject: AuthorizedProject };

const MAX_BYTES = 5 * 1_048_576;
/** Of one project. */
const MAX_FILES = 100;

const audit = (
  tx: Db,
  { actor, subject }: Context,
  event: 'created' | 'destroyed',
  { id, name }: Pick<SecureFileRow, 'id' | 'name'>,
): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: auditedParent(subject),
      event: `ci_secure_file_${event}`,
      details: { target_id: id, target_type: 'Ci::SecureFile', target_details: name },
    },
  });

const refuseMore = async (db: Db, project: AuthorizedProject): Promise<void> => {
  if ((await countSecureFiles(db, project)) >= MAX_FILES)
    throw invalid({ base: [`Maximum number of ci secure files (${MAX_FILES}) exceeded`] });
};

/**
 * Keeps the `file` of the body under the name in it or in the address. 400 without one of them, for a name that is none or
 * taken, and for one file too many; 413 for one that is too large.
 */
export async function keepSecureFile(
  context: Context & { request: HttpRequest },
  given: { name?: string | undefined },
): Promise<SecureFileRow> {
  const { services, subject, request } = context;
  const { db } = services.database;
  refuseWithoutFile(request);
  let { name } = given;
  const options = {
    maximum: MAX_BYTES,
    field: (key: string, value: string) => {
      if (key === 'name') name = value;
    },
  };
  return withReceivedFile(context, options, async ({ draft, size, sha256 }) => {
    const row = { name: nameOf(name), size, sha256 };
    return inTransaction(db, async (tx) => {
      await lockParent(tx, subject);
      await refuseMore(tx, subject);
      await draft.keep(tx);
      const kept = await tx
        .insertInto('secure_files')
        .values({ ...row, project_id: subject.id, created_at: now() })
        .returningAll()
        .executeTakeFirstOrThrow();
      await audit(tx, context, 'created', kept);
      return kept;
    });
  });
}

/** 404 without the file. */
export async function deleteSecureFile(
  context: Context,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> {
  const { services, subject } = context;
  const sha256 = await inTransaction(services.database.db, async (tx) => {
    const row = found(await lockSecureFile(tx, subject, id), 'Secure File');
    unmodified(row.created_at);
    await ahead(tx).deleteFrom('secure_files').where('id', '=', id).execute();
    await audit(tx, context, 'destroyed', row);
    return row.sha256;
  });
  await services.blobs.release([sha256]);
}
