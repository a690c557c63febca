/** Issues in to-do lists: shown, marked, and counted where they are assigned. */
import { sql } from 'kysely';
import Type from 'typebox';
import { onProject } from '../../../../kernel/access/access.ts';
import { mayInProjects } from '../../../../kernel/access/policy-sql.ts';
import type { Actor } from '../../../../kernel/actor.ts';
import type { Db } from '../../../../platform/db/database.ts';
import { integerId } from '../../../../platform/http/parameters/schema.ts';
import { type TodoTarget, todoEndpoint, type UserCount } from '../../../conversation/index.ts';
import { findIssue } from '../records/issue-find.ts';
import { issueKind, issueNoteable } from '../records/issue-noteable.ts';
import { presentIssues } from '../records/issue-records.ts';
import { isRevealed, visibleIssues } from '../records/issue-visibility.ts';

export const issueTodoTarget: TodoTarget = {
  type: issueKind.type,
  column: 'issue_id',
  isVisible(actor, level) {
    const confidential = mayInProjects('read_confidential_issues', actor, level);
    return sql`${mayInProjects('read_issues', actor, level)}
      and (note.internal is not true or ${mayInProjects('read_internal_notes', actor, level)})
      and exists (select from issues i where i.id = t.issue_id and i.project_id = t.project_id
        and ${isRevealed(confidential)})`;
  },
  async load(reading, todos) {
    const ids = todos.map(({ issue_id }) => issue_id ?? 0);
    const rows = await reading.db.selectFrom('issues').selectAll().where('id', 'in', ids).execute();
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
  find: async ({ db, actor, subject, input }) =>
    issueNoteable(subject, await findIssue(db, subject, actor, input.issue_iid)),
});

async function countAssigned(db: Db, actor: Actor, limit: number): Promise<number> {
  const mine = sql`(select a.issue_id from issue_assignees a where a.user_id = ${actor.id})`;
  const { ctes, condition } = visibleIssues(
    actor,
    sql`p.id in (select m.project_id from issues m where m.id in ${mine})`,
  );
  const { rows } = await sql<{ count: number }>`
    with ${ctes} select count(*) as count from (
      select 1 from issues i join issue_projects v on v.id = i.project_id
      where i.id in ${mine} and i.state = 'opened' and ${condition} limit ${limit}) counted`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Open issues that are assigned to the user. */
export const assignedIssues: UserCount = { name: 'assigned_issues', count: countAssigned };
