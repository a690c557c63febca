/** Moves and copies of issues to another project, and changes of their position. */
import Type from 'typebox';
import { onProject } from '../../../../kernel/access/access.ts';
import { authorizeProject } from '../../../../kernel/access/find.ts';
import { type Endpoint, endpoint } from '../../../../kernel/api/endpoint.ts';
import { Failure } from '../../../../platform/failure.ts';
import { integerId } from '../../../../platform/http/parameters/schema.ts';
import { cloneIssue, moveIssue } from '../moving/actions.ts';
import { findIssue } from '../records/find-queries.ts';
import { IssueRecord } from '../records/issue-records.ts';
import { requireManagement } from '../writing/issue-rights.ts';
import { reorderIssue } from '../writing/position-actions.ts';
import { presentOne } from './one-issue.ts';
import { findIssuesById } from './queries.ts';
import { OneIssue } from './schema.ts';

const path = '/projects/:id/issues/:issue_iid';

const Move = Type.Object({ ...OneIssue.properties, to_project_id: integerId() });
const Clone = Type.Object({
  ...Move.properties,
  with_notes: Type.Optional(Type.Boolean({ default: false })),
});
const Reorder = Type.Object({
  ...OneIssue.properties,
  move_after_id: Type.Optional(integerId({ description: 'The issue that is to come after it, by its id.' })),
  move_before_id: Type.Optional(
    integerId({ description: 'The issue that is to come before it, by its id.' }),
  ),
});

export const issueMoveEndpoints: Endpoint[] = [
  endpoint({
    method: 'POST',
    path: `${path}/move`,
    summary: 'Moves an issue to another project; the old one is closed.',
    access: onProject('create_issues'),
    input: Move,
    reply: IssueRecord,
    handle: async (context) => {
      const { db, services, actor, subject, input } = context;
      const issue = await findIssue(db, subject, actor, input.issue_iid);
      const { points } = services.database;
      const to = await authorizeProject(points, actor, 'read_project', input.to_project_id);
      return presentOne(context, await moveIssue(context, subject, issue, to));
    },
  }),
  endpoint({
    method: 'POST',
    path: `${path}/clone`,
    summary: 'Makes an issue once more, in its project or another.',
    access: onProject('create_issues'),
    input: Clone,
    reply: IssueRecord,
    handle: async (context) => {
      const { db, services, actor, subject, input } = context;
      const issue = await findIssue(db, subject, actor, input.issue_iid);
      const { points } = services.database;
      const to = await authorizeProject(points, actor, 'read_project', input.to_project_id);
      return presentOne(context, await cloneIssue(context, subject, issue, to, input.with_notes ?? false));
    },
  }),
  endpoint({
    method: 'PUT',
    path: `${path}/reorder`,
    summary: 'Puts an issue between others of its project.',
    access: onProject('create_issues'),
    also: [422],
    input: Reorder,
    reply: IssueRecord,
    handle: async (context) => {
      const { db, actor, subject, input } = context;
      const issue = await findIssue(db, subject, actor, input.issue_iid);
      requireManagement(subject);
      const { move_before_id: beforeId, move_after_id: afterId } = input;
      if (beforeId === undefined && afterId === undefined) {
        throw new Failure('unprocessable', '422 Unprocessable Entity');
      }
      const neighbours = [beforeId, afterId].filter((id) => id !== undefined);
      await findIssuesById(context, subject, neighbours);
      return presentOne(context, await reorderIssue(db, issue, { beforeId, afterId }));
    },
  }),
];
