/** The commits of a merge request. */
import { onProject } from '../../../kernel/access/access.ts';
import { listing } from '../../../kernel/api/endpoint.ts';
import { CommitRecord, presentCommit, projectUrl } from '../../repositories/index.ts';
import { OneMergeRequest } from '../changes/schema.ts';
import { findMergeRequest } from '../records/find-queries.ts';
import { readCommits } from './read-versions.ts';
import { selectCommitPage } from './version-queries.ts';

export const mergeRequestCommitsEndpoint = listing({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_iid/commits',
  summary: 'Commits of a merge request, newest first.',
  also: [422],
  access: onProject('read_merge_requests'),
  page: 'offset',
  input: OneMergeRequest,
  item: CommitRecord,
  handle: async ({ db, services, subject, input, page }) => {
    const row = await findMergeRequest(db, subject, input.merge_request_iid);
    const shas = await selectCommitPage(db, row, page);
    const commits = await readCommits(services, subject, shas.items);
    const url = projectUrl(services.baseUrl(), subject);
    return { ...shas, items: commits.map((commit) => presentCommit(url, commit)) };
  },
});
