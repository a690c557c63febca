/** Issues in searches. */
import type { SearchScope } from '../../../search/index.ts';
import { IssueBasicRecord, presentIssues } from '../records/issue-records.ts';
import { searchIssues } from './search-queries.ts';

export const issueSearch: SearchScope<typeof IssueBasicRecord> = {
  record: IssueBasicRecord,
  async find(request) {
    const page = await searchIssues(request);
    const across = request.container.in !== 'project';
    return { ...page, items: await presentIssues(request, page.items, { across }) };
  },
};
