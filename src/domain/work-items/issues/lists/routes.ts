/** The lists of issues: everywhere, in a group, in a project. */
import Type from 'typebox';
import { anyone, onGroup, onProject } from '../../../../kernel/access/access.ts';
import { type Endpoint, listing } from '../../../../kernel/api/endpoint.ts';
import { stringEnum } from '../../../../platform/http/parameters/schema.ts';
import type { KeysetRule } from '../../../../platform/pagination/pagination.ts';
import { IssueRecord } from '../records/issue-records.ts';
import { issueKeysets, issueOrders } from '../records/list-queries.ts';
import { visibleIssuesOf } from '../records/visibility-queries.ts';
import { issuePage, issuesAcross } from './queries.ts';
import { IssueListFields } from './schema.ts';

const byColumn: KeysetRule = {
  type: 'Issue',
  orderBy: issueKeysets,
  sort: ['asc', 'desc'],
  anonymous: true,
  signedIn: true,
  default: { orderBy: 'created_at', sort: 'desc' },
  link: 'cursor',
};

const shown = {
  ...IssueListFields,
  order_by: Type.Optional(stringEnum(issueOrders, { description: 'What to order by.' })),
  sort: Type.Optional(stringEnum(['asc', 'desc'])),
  with_labels_details: Type.Optional(Type.Boolean({ description: 'Labels as records, not names.' })),
};
const across = {
  ...shown,
  non_archived: Type.Optional(
    Type.Boolean({ default: true, description: 'Only issues of projects that are not archived.' }),
  ),
};

export const groupIssuesEndpoint = listing({
  method: 'GET',
  path: '/groups/:id/issues',
  summary: 'Issues of the projects of a group and its subgroups.',
  access: onGroup('read_group'),
  page: 'offset',
  input: Type.Object(across),
  item: IssueRecord,
  handle: (context) => {
    const visible = issuesAcross(context.actor, context.subject, context.input.non_archived ?? true);
    return issuePage(context, visible, 'all', { across: true });
  },
});

export const projectIssuesEndpoint = listing({
  method: 'GET',
  path: '/projects/:id/issues',
  summary: 'Issues of a project.',
  access: onProject('read_issues'),
  page: byColumn,
  input: Type.Object(shown),
  item: IssueRecord,
  handle: (context) => issuePage(context, visibleIssuesOf(context.subject, context.actor), 'all', {}),
});

export const issueListEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path: '/issues',
    summary: 'Issues that the caller sees; those that the caller created unless a scope is named.',
    access: anyone,
    page: 'offset',
    input: Type.Object(across),
    item: IssueRecord,
    handle: (context) => {
      const visible = issuesAcross(context.actor, undefined, context.input.non_archived ?? true);
      return issuePage(context, visible, 'created_by_me', { across: true });
    },
  }),
  groupIssuesEndpoint,
  projectIssuesEndpoint,
];
