/** Notes in searches. */
import type { SearchScope } from '../../search/index.ts';
import { NoteRecord, presentNotes } from './note-records.ts';
import { searchNotes } from './search-queries.ts';

export const noteSearch: SearchScope<typeof NoteRecord> = {
  record: NoteRecord,
  index: 'advanced search',
  async findInProject(request, project) {
    const page = await searchNotes(request, project);
    return { ...page, items: await presentNotes(request, page.items) };
  },
};
