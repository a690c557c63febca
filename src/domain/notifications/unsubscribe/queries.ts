/** Holds the project or group whose mails somebody ends. */
import type { Db } from '../../../platform/db/database.ts';

/** Keeps it from being deleted until the transaction ends; undefined when it is gone. */
export const keepContainer = (tx: Db, table: 'projects' | 'namespaces', id: number) =>
  tx.selectFrom(table).select('id').where('id', '=', id).forKeyShare().executeTakeFirst();
