/** Subscribing to a merge request, and unsubscribing. */
import { onProject } from '../../../kernel/access/access.ts';
import { subscriptionEndpoints } from '../../conversation/index.ts';
import { findMergeRequest } from '../records/find-queries.ts';
import { mergeRequestNoteable } from '../records/merge-request-noteable.ts';
import { MergeRequestRecord } from '../records/merge-request-records.ts';
import { presentOne } from '../records/present-one.ts';

export const mergeRequestSubscriptionEndpoints = subscriptionEndpoints({
  path: '/projects/:id/merge_requests/:subscribable_id',
  noun: 'a merge request',
  access: onProject('create_merge_requests'),
  reply: MergeRequestRecord,
  find: async (context, iid) => {
    const { db, subject } = context;
    const row = await findMergeRequest(db, subject, iid);
    return { noteable: mergeRequestNoteable(subject, row), load: () => presentOne(context, subject, row) };
  },
});
