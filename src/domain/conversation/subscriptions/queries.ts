/** A page of users, for lists of participants. */
import { sql } from 'kysely';
import { userBasicColumns } from '../../../kernel/users/records.ts';
import type { Db } from '../../../platform/db/database.ts';
import { type PageRequest, selectPage } from '../../../platform/pagination/page.ts';

/** The users of these ids, oldest accounts first. */
export const selectUsers = (db: Db, ids: readonly number[], page: PageRequest) =>
  selectPage(
    db,
    db
      .selectFrom('users')
      .select(userBasicColumns)
      .where(sql<boolean>`users.id = any(${[...ids]}::bigint[])`),
    page,
    { by: 'id', sort: 'asc' },
    { id: 'users.id' },
  );
