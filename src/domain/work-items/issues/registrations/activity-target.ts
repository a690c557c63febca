/** Issues in activity feeds. */
import { type RawBuilder, sql } from 'kysely';
import type { ActivityTarget } from '../../../../kernel/activity/targets.ts';
import { issueKind } from '../records/issue-noteable.ts';
import { isRevealed } from '../records/issue-visibility.ts';

const inProject = (id: RawBuilder<unknown>) =>
  sql`issues i where i.id = ${id} and i.project_id = e.project_id`;

export const issueActivityTarget: ActivityTarget = {
  type: issueKind.type,
  noteColumn: 'issue_id',
  abilities: ['read_issues', 'read_confidential_issues'],
  isVisible: (id) => sql`(v.read_issues and exists (
    select from ${inProject(id)} and ${isRevealed(sql`v.read_confidential_issues`)}))`,
  select: (id) => sql`select i.iid, i.title from ${inProject(id)}`,
};
