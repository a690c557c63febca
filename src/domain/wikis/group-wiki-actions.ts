/** The container of a group's wiki, created with the first page, by the API or by git. */

import type { Needs } from '../../kernel/services.ts';
import type { ApplicationSettings } from '../../kernel/settings/definitions.ts';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import { chooseStorage } from '../repositories/index.ts';

/** Assigns a storage to the group's wiki, by the weights of the instance, unless it has one. */
export async function ensureGroupWikiStorage(
  services: Needs<'database' | 'repositories'>,
  settings: ApplicationSettings,
  groupId: number,
): Promise<void> {
  const time = now();
  const repository_storage = chooseStorage(services, settings);
  await services.database.db
    .insertInto('group_wikis')
    .values({ id: groupId, repository_storage, created_at: time, updated_at: time })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The storage of the group's wiki; undefined while it has none. */
export const selectGroupWiki = (db: Db, id: number) =>
  db.selectFrom('group_wikis').select('repository_storage').where('id', '=', id).executeTakeFirst();
