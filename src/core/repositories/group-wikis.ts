/** The container of a group's wiki: it comes with the wiki's first page, whichever way that comes. */
import { now } from '../../platform/clock.ts';
import type { Services } from '../services.ts';
import type { ApplicationSettings } from '../settings/definitions.ts';
import { chooseStorage } from './storage-choice.ts';

/** Gives the group's wiki a storage, by the weights of the instance, unless it has one. */
export async function ensureGroupWikiStorage(
  services: Services,
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
