/** The issues around a merge request, as far as the caller sees them. */
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, listing } from '../../../kernel/api/endpoint.ts';
import { IssueBasicRecord, issuesAmong } from '../../work-items/index.ts';
import { OneMergeRequest } from '../changes/schema.ts';
import { findMergeRequest } from '../records/find-queries.ts';
import { closedIssues, relatedIssues } from './issue-queries.ts';
import { namedIssues } from './related-issues.ts';

const path = '/projects/:id/merge_requests/:merge_request_iid';

export const mergeRequestIssueEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path: `${path}/closes_issues`,
    summary: 'Issues that a merge request closes when it is merged, as far as the caller sees them.',
    access: onProject('read_merge_requests'),
    page: 'offset',
    input: OneMergeRequest,
    item: IssueBasicRecord,
    handle: async (context) => {
      const { db, subject, input } = context;
      const row = await findMergeRequest(db, subject, input.merge_request_iid);
      return issuesAmong(context, closedIssues(row));
    },
  }),
  listing({
    method: 'GET',
    path: `${path}/related_issues`,
    summary: 'Issues that a merge request closes, or that its texts name, as far as the caller sees them.',
    access: onProject('read_merge_requests'),
    page: 'offset',
    input: OneMergeRequest,
    item: IssueBasicRecord,
    handle: async (context) => {
      const { db, services, subject, input } = context;
      const row = await findMergeRequest(db, subject, input.merge_request_iid);
      return issuesAmong(context, relatedIssues(row, await namedIssues(services, subject, row)));
    },
  }),
];
