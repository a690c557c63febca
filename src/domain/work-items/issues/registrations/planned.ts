/** Issues as labels and milestones plan them. */
import { sql } from 'kysely';
import type { LabelCounts, Planned } from '../../../planning/index.ts';
import { visibleIssues } from '../records/issue-visibility.ts';

type Counted = { label_id: number } & Pick<LabelCounts, 'open_issues_count' | 'closed_issues_count'>;

export const plannedIssues: Planned = {
  table: 'issues',
  column: 'issue_id',
  async countByLabel(db, caller, labelIds) {
    if (labelIds.length === 0) return new Map();
    const { ctes, condition } = visibleIssues(caller);
    const { rows } = await sql<Counted>`
      with ${ctes}
      select l.label_id, count(*) filter (where i.state = 'opened') as open_issues_count,
        count(*) filter (where i.state = 'closed') as closed_issues_count
      from label_links l join issues i on i.id = l.issue_id join issue_projects v on v.id = i.project_id
      where l.label_id = any(${[...labelIds]}::bigint[]) and ${condition} group by l.label_id`.execute(db);
    return new Map(rows.map(({ label_id, ...counts }) => [label_id, counts]));
  },
};
