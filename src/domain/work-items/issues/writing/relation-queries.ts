/** An issue with its present relations, and its epic, held. */

import { sql } from 'kysely';
import { ahead, type Db } from '../../../../platform/db/database.ts';
import { notFound } from '../../../../platform/failure.ts';
import type { MilestoneRow } from '../../../planning/index.ts';
import type { Labelled, NamedUser, Referenced } from '../../changes/issue-changes.ts';
import { milestoneReference } from '../../changes/named-references.ts';
import type { IssueRow } from '../records/issue-rows.ts';

/** The epic, locked against changes and deletion until the transaction ends. */
export const holdEpic = (tx: Db, id: number): Promise<{ confidential: boolean } | undefined> =>
  tx.selectFrom('epics').select('confidential').where('id', '=', id).forShare().executeTakeFirst();

type CurrentRelations = {
  assignees: NamedUser[];
  labels: Labelled[];
  milestone: Referenced | null;
  epic: Referenced | null;
  original: Referenced | null;
};

/** An issue with its relations. */
export type CurrentIssue = { issue: IssueRow; relations: CurrentRelations };

type FoundRow = IssueRow &
  Omit<CurrentRelations, 'milestone'> & {
    milestone: Pick<MilestoneRow, 'id' | 'project_id' | 'iid' | 'title'> | null;
  };

/** The issue with its relations, locked until the transaction ends; 404 when it is gone. */
export async function lockCurrent(tx: Db, issueId: number): Promise<CurrentIssue> {
  await ahead(tx).selectFrom('issues').select('id').where('id', '=', issueId).forUpdate().execute();
  return selectCurrent(tx, issueId);
}

/** The same without a lock. */
export async function selectCurrent(db: Db, issueId: number): Promise<CurrentIssue> {
  const { rows } = await sql<FoundRow>`select i.*,
    (select coalesce(jsonb_agg(jsonb_build_object('id', u.id, 'username', u.username) order by u.id), '[]')
      from issue_assignees a join users u on u.id = a.user_id where a.issue_id = i.id) as assignees,
    (select coalesce(jsonb_agg(jsonb_build_object('id', l.id, 'name', l.name) order by l.name), '[]')
      from label_links k join labels l on l.id = k.label_id where k.issue_id = i.id) as labels,
    (select jsonb_build_object('id', m.id, 'project_id', m.project_id, 'iid', m.iid, 'title', m.title)
      from milestones m where m.id = i.milestone_id) as milestone,
    (select jsonb_build_object('id', e.id, 'reference', n.full_path || '&' || e.iid)
      from epic_issues c join epics e on e.id = c.epic_id join namespaces n on n.id = e.namespace_id
      where c.issue_id = i.id) as epic,
    (select jsonb_build_object('id', o.id, 'reference', '#' || o.iid) from issues o where o.id = i.duplicated_to_id) as original
    from issues i where i.id = ${issueId}`.execute(db);
  const [row] = rows;
  if (!row) throw notFound();
  const { assignees, labels, milestone, epic, original, ...issue } = row;
  const placed = milestone && { id: milestone.id, reference: milestoneReference(milestone) };
  return { issue, relations: { assignees, labels, milestone: placed, epic, original } };
}
