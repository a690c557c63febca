/** Issues in to-do lists: shown, marked, and counted where they are assigned. */
import { sql } from 'kysely';
import Type from 'typebox';
import { onProject } from '../../../../kernel/access/access.ts';
import { mayInProjects } from '../../../../kernel/access/policy-sql.ts';
import { integerId } from '../../../../platform/http/parameters/schema.ts';
import { type TodoTarget, todoEndpoint, type UserCount } from '../../../conversation/index.ts';
import { findIssue } from '../records/find-queries.ts';
import { issueKind, issueNoteable } from '../records/issue-noteable.ts';
import { presentIssues } from '../records/issue-records.ts';
import { isRevealed } from '../records/visibility-queries.ts';
import { countAssigned, isTodoRevealed, selectIssueRows } from './queries.ts';

export const issueTodoTarget: TodoTarget = {
  type: issueKind.type,
  column: 'issue_id',
  isVisible(actor, level) {
    const confidential = mayInProjects('read_confidential_issues', actor, level);
    return sql`${mayInProjects('read_issues', actor, level)}
      and (note.internal is not true or ${mayInProjects('read_internal_notes', actor, level)})
      and ${isTodoRevealed(isRevealed(confidential))}`;
  },
  async load(reading, todos) {
    const ids = todos.map(({ issue_id }) => issue_id ?? 0);
    const rows = await selectIssueRows(reading.db, ids);
    const records = await presentIssues(reading, rows, { across: true });
    const byId = new Map(records.map((record) => [record.id, record]));
    return ({ issue_id }) => byId.get(issue_id ?? 0);
  },
};

export const issueTodoEndpoint = todoEndpoint({
  path: '/projects/:id/issues/:issue_iid/todo',
  summary: 'Reminds the caller of an issue; 304 where it waits for them already.',
  access: onProject('read_issues'),
  input: Type.Object({ issue_iid: integerId() }),
  find: async (context) => {
    const { db, actor, subject, input } = context;
    const issue = await findIssue(db, subject, actor, input.issue_iid);
    const load = async () => (await presentIssues(context, [issue], { across: true }))[0];
    return { noteable: issueNoteable(subject, issue), load };
  },
});

/** Open issues that are assigned to the user. */
export const assignedIssues: UserCount = {
  count: async (db, actor, limit) => ({ assigned_issues: await countAssigned(db, actor, limit) }),
};
