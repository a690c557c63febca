/** Subscribing to an issue, and unsubscribing. */
import { onProject } from '../../../../kernel/access/access.ts';
import { subscriptionEndpoints } from '../../../conversation/index.ts';
import { findIssue } from '../records/find-queries.ts';
import { issueNoteable } from '../records/issue-noteable.ts';
import { IssueRecord } from '../records/issue-records.ts';
import { presentOne } from './one-issue.ts';

export const issueSubscriptionEndpoints = subscriptionEndpoints({
  path: '/projects/:id/issues/:subscribable_id',
  noun: 'an issue',
  access: onProject('create_issues'),
  reply: IssueRecord,
  find: async (context, iid) => {
    const { db, actor, subject } = context;
    const issue = await findIssue(db, subject, actor, iid);
    return { noteable: issueNoteable(subject, issue), load: () => presentOne(context, issue) };
  },
});
