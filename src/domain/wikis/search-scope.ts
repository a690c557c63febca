/** Pages of a project's wiki in searches. */
import { BlobRecord, projectWiki, searchFiles } from '../repositories/index.ts';
import { nothing, type SearchScope } from '../search/index.ts';

export const wikiSearch: SearchScope<typeof BlobRecord> = {
  record: BlobRecord,
  index: 'advanced search',
  findInProject: async (request, project) =>
    project.may('read_wiki') ? searchFiles(request, projectWiki(project.id), project) : nothing,
};
