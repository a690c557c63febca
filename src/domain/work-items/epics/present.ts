/** Epics as records, for lists and alone. */
import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import type { Context } from '../../../kernel/api/endpoint.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import type { Page, PageRequest } from '../../../platform/pagination/page.ts';
import { type EpicOptions, type EpicRecord, presentEpics } from './records/epic-records.ts';
import type { EpicRow } from './records/epic-rows.ts';

export type Presenting = Pick<
  Context<unknown, AuthorizedGroup, Caller>,
  'db' | 'services' | 'settings' | 'actor' | 'subject'
>;

export const presentPage = async (
  context: Presenting,
  page: Page<EpicRow>,
  options: EpicOptions = {},
): Promise<Page<EpicRecord>> => ({
  ...page,
  items: await presentEpics(context, page.items, { groupId: context.subject.id, ...options }),
});

/** The record, with the reader's subscription; 404 when its group was deleted meanwhile. */
export async function presentOne(context: Presenting, row: EpicRow): Promise<EpicRecord> {
  const [record] = await presentEpics(context, [row], { groupId: context.subject.id, single: true });
  return found(record);
}

/** The first hundred, for responses that show the list after a change. */
export const wholePage: PageRequest & { kind: 'offset' } = {
  kind: 'offset',
  page: 1,
  perPage: 100,
  offset: 0,
  countLimit: 100,
};
