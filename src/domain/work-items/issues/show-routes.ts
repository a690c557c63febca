/** One issue, and its relations. */
import Type from 'typebox';
import { onInstance, onProject } from '../../../kernel/access/access.ts';
import { authorizeProject } from '../../../kernel/access/find.ts';
import { type Endpoint, endpoint } from '../../../kernel/api/endpoint.ts';
import { notFound } from '../../../platform/failure.ts';
import { integerId } from '../../../platform/http/parameters/schema.ts';
import { participantsEndpoint } from '../../conversation/index.ts';
import { findIssue, findIssueById, readIssue } from './records/find-queries.ts';
import { issueNoteable } from './records/issue-noteable.ts';
import { type IssueReading, IssueRecord, presentIssues } from './records/issue-records.ts';
import type { IssueRow } from './records/issue-rows.ts';

const path = '/projects/:id/issues/:issue_iid';
const OneIssue = Type.Object({ issue_iid: integerId() });

const UserAgentDetail = Type.Object({
  user_agent: Type.String(),
  ip_address: Type.String(),
  akismet_submitted: Type.Boolean(),
});

/** The record by itself; 404 when the issue was deleted meanwhile. */
async function presentOne(reading: IssueReading, issue: IssueRow): Promise<IssueRecord> {
  const [record] = await presentIssues(reading, [issue], { single: true });
  if (!record) throw notFound();
  return record;
}

export const issueEndpoint = endpoint({
  method: 'GET',
  path,
  summary: 'One issue of a project.',
  access: onProject('read_issues'),
  input: OneIssue,
  reply: IssueRecord,
  handle: async (context) => {
    const { actor, subject, input } = context;
    return presentOne(context, await readIssue(context, subject, actor, input.issue_iid));
  },
});

export const issueShowEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/issues/:id',
    summary: 'One issue by its id.',
    access: onInstance,
    input: Type.Object({ id: integerId() }),
    reply: IssueRecord,
    handle: async (context) => {
      const { db, services, actor, input } = context;
      const { issue } = await findIssueById(db, services.database.points, actor, input.id);
      return presentOne(context, issue);
    },
  }),
  issueEndpoint,
  participantsEndpoint({
    path: `${path}/participants`,
    summary: 'Who takes part in an issue.',
    access: onProject('read_issues'),
    input: OneIssue,
    find: async ({ db, services, actor, subject, input }) =>
      issueNoteable(subject, await readIssue({ db, services }, subject, actor, input.issue_iid)),
  }),
  endpoint({
    method: 'GET',
    path: `${path}/user_agent_detail`,
    summary: 'What an issue was made with.',
    access: onInstance,
    input: Type.Object({ id: Type.String(), issue_iid: integerId() }),
    reply: UserAgentDetail,
    handle: async ({ db, services, actor, input }) => {
      const project = await authorizeProject(services.database.points, actor, 'read_issues', input.id);
      const { user_agent, ip_address } = await findIssue(db, project, actor, input.issue_iid);
      if (user_agent === null || ip_address === null) throw notFound('UserAgentDetail');
      return { user_agent, ip_address, akismet_submitted: false };
    },
  }),
];
