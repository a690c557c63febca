/** Subscribing to an issue, and unsubscribing. */
import Type from 'typebox';
import { onProject } from '../../../../kernel/access/access.ts';
import { type Endpoint, endpoint, Reply } from '../../../../kernel/api/endpoint.ts';
import { integerId } from '../../../../platform/http/parameters/schema.ts';
import { isSubscribed, setSubscription } from '../../../conversation/index.ts';
import { findIssue } from '../records/find-queries.ts';
import { issueKind } from '../records/issue-noteable.ts';
import { IssueRecord } from '../records/issue-records.ts';
import { presentOne } from './one-issue.ts';

const subscription = (word: 'subscribe' | 'unsubscribe', summary: string): Endpoint =>
  endpoint({
    method: 'POST',
    path: `/projects/:id/issues/:subscribable_id/${word}`,
    summary,
    access: onProject('create_issues'),
    also: [304],
    input: Type.Object({ subscribable_id: integerId() }),
    reply: IssueRecord,
    handle: async (context) => {
      const { db, actor, subject, input } = context;
      const issue = await findIssue(db, subject, actor, input.subscribable_id);
      const wanted = word === 'subscribe';
      if ((await isSubscribed(db, actor.id, { kind: issueKind, id: issue.id })) === wanted)
        return new Reply(304);
      await setSubscription(db, actor.id, { column: 'issue_id', id: issue.id }, wanted);
      return presentOne(context, issue);
    },
  });

export const issueSubscriptionEndpoints: Endpoint[] = [
  subscription('subscribe', 'Hears of an issue; 304 who does already.'),
  subscription('unsubscribe', 'Hears of an issue no longer; 304 who does not.'),
];
