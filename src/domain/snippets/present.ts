/** Snippets as responses: the records of a page, of one, and the user agent of its creation. */

import type { Caller } from '../../kernel/actor.ts';
import type { Context } from '../../kernel/api/endpoint.ts';
import { notFound } from '../../platform/failure.ts';
import type { Page } from '../../platform/pagination/page.ts';
import type { SnippetRow } from './queries.ts';
import type { UserAgentDetail } from './schema.ts';
import { presentSnippets, type SnippetRecord } from './snippet-records.ts';

type Presenting = Pick<Context<unknown, unknown, Caller>, 'db' | 'services' | 'settings' | 'actor'>;

const present = (
  { db, services, settings, actor }: Presenting,
  rows: readonly SnippetRow[],
): Promise<SnippetRecord[]> => presentSnippets(db, { baseUrl: services.baseUrl(), settings }, actor, rows);

export const presentPage = async (
  context: Presenting,
  page: Page<SnippetRow>,
): Promise<Page<SnippetRecord>> => ({ ...page, items: await present(context, page.items) });

/** The record; 404 when the snippet or its author was deleted meanwhile. */
export async function presentOne(context: Presenting, row: SnippetRow): Promise<SnippetRecord> {
  const [record] = await present(context, [row]);
  if (!record) throw notFound('Snippet');
  return record;
}

/** 404 when none was stored. */
export function presentUserAgent({ user_agent, ip_address }: SnippetRow): UserAgentDetail {
  if (user_agent === null || ip_address === null) throw notFound('UserAgentDetail');
  return { user_agent, ip_address, akismet_submitted: false };
}
