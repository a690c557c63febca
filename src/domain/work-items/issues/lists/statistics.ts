/** Counts of open and closed issues, by the filters of the lists. */
import Type, { type Static } from 'typebox';
import { anyone, onGroup, onProject } from '../../../../kernel/access/access.ts';
import type { Caller } from '../../../../kernel/actor.ts';
import { type Endpoint, endpoint } from '../../../../kernel/api/endpoint.ts';
import type { Db } from '../../../../platform/db/database.ts';
import { issueLists } from '../records/list-queries.ts';
import { type VisibleIssues, visibleIssuesOf } from '../records/visibility-queries.ts';
import { issueFilter } from './filter-queries.ts';
import { issuesAcross, today } from './queries.ts';
import { IssueFilterFields, type IssueFilterInput, type IssueScope } from './schema.ts';

const Statistics = Type.Object({
  statistics: Type.Object({
    counts: Type.Object({ all: Type.Integer(), closed: Type.Integer(), opened: Type.Integer() }),
  }),
});

async function statisticsOf(
  { db, actor, input }: { db: Db; actor: Caller; input: IssueFilterInput },
  visible: VisibleIssues,
  scope: IssueScope,
): Promise<Static<typeof Statistics>> {
  const filter = issueFilter(input, actor, scope, today());
  const { opened, closed } = await issueLists.countStates(db, { visible, filter });
  return { statistics: { counts: { all: opened + closed, closed, opened } } };
}

const input = Type.Object(IssueFilterFields);

export const issueStatisticsEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/issues_statistics',
    summary: 'How many issues the caller sees; of those that the caller created unless a scope is named.',
    access: anyone,
    input,
    reply: Statistics,
    handle: (context) =>
      statisticsOf(context, issuesAcross(context.actor, undefined, false), 'created_by_me'),
  }),
  endpoint({
    method: 'GET',
    path: '/groups/:id/issues_statistics',
    summary: 'How many issues the caller sees in a group and its subgroups.',
    access: onGroup('read_group'),
    input,
    reply: Statistics,
    handle: (context) => statisticsOf(context, issuesAcross(context.actor, context.subject, false), 'all'),
  }),
  endpoint({
    method: 'GET',
    path: '/projects/:id/issues_statistics',
    summary: 'How many issues the caller sees in a project.',
    access: onProject('read_issues'),
    input,
    reply: Statistics,
    handle: (context) => statisticsOf(context, visibleIssuesOf(context.subject, context.actor), 'all'),
  }),
];
