/** Snippets in searches, by their titles. */
import type { SearchScope } from '../../search/index.ts';
import { presentSnippets, SnippetRecord } from '../snippet-records.ts';
import { searchSnippets } from './search-queries.ts';

export const snippetSearch: SearchScope<typeof SnippetRecord> = {
  record: SnippetRecord,
  async find(request) {
    const { db, services, settings, actor } = request;
    const page = await searchSnippets(request);
    const around = { baseUrl: services.baseUrl(), settings };
    return { ...page, items: await presentSnippets(db, around, actor, page.items) };
  },
};
