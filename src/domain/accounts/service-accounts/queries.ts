/** Lists of service accounts. */
import type { Db } from '../../../platform/db/database.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import type { ServiceAccountList } from './schema.ts';

const accounts = (db: Db) =>
  db
    .selectFrom('users')
    .select([
      'users.id',
      'users.username',
      'users.name',
      'users.public_email',
      'users.email',
      'users.unconfirmed_email',
    ])
    .where('users.kind', '=', 'service_account')
    .where('users.deletion', 'is', null);

/** A page of those of a group, or of all. */
export function selectServiceAccounts(
  db: Db,
  groupId: number | undefined,
  { order_by = 'id', sort = 'desc' }: ServiceAccountList,
  page: PageRequest,
): Promise<Page<ServiceAccountRow>> {
  let query = accounts(db);
  if (groupId !== undefined) query = query.where('users.provisioned_by_group_id', '=', groupId);
  const columns = { id: 'users.id', username: 'lower(users.username) collate "C"' };
  return selectPage(db, query, page, { by: order_by, sort }, columns);
}

export type ServiceAccountRow = Awaited<ReturnType<ReturnType<typeof accounts>['executeTakeFirstOrThrow']>>;

export const selectServiceAccount = (db: Db, id: number): Promise<ServiceAccountRow | undefined> =>
  accounts(db).where('users.id', '=', id).executeTakeFirst();
