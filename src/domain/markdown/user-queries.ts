/** People that texts name. */

import { sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';

export const selectPeople = (db: Db, names: readonly string[]) =>
  db
    .selectFrom('users')
    .select(['username', 'name'])
    .where(sql<boolean>`lower(username) collate "C" = any(${[...names]}::text[])`)
    .where('deletion', 'is', null)
    .execute();
