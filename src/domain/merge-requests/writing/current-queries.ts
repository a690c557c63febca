/** A merge request with its present relations, locked. */
import { sql } from 'kysely';
import { ahead, type Db } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/failure.ts';
import type { MilestoneRow } from '../../planning/index.ts';
import { milestoneReference } from '../../work-items/index.ts';
import type { MergeRequestState } from '../changes/changes.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';

type Relations = Pick<MergeRequestState, 'assignees' | 'reviewers' | 'labels' | 'milestone'>;

type FoundRow = MergeRequestRow &
  Omit<Relations, 'milestone'> & {
    milestone: Pick<MilestoneRow, 'id' | 'project_id' | 'iid' | 'title'> | null;
  };

const peopleOf = (table: 'merge_request_assignees' | 'merge_request_reviewers') => sql`
  (select coalesce(jsonb_agg(jsonb_build_object('id', u.id, 'username', u.username) order by u.id), '[]')
    from ${sql.table(table)} a join users u on u.id = a.user_id where a.merge_request_id = i.id)`;

/** The merge request with its relations, locked until the transaction ends; 404 when it is gone. */
export async function lockCurrent(
  tx: Db,
  id: number,
): Promise<{ row: MergeRequestRow; relations: Relations }> {
  await ahead(tx).selectFrom('merge_requests').select('id').where('id', '=', id).forUpdate().execute();
  const { rows } = await sql<FoundRow>`select i.*, ${peopleOf('merge_request_assignees')} as assignees,
    ${peopleOf('merge_request_reviewers')} as reviewers,
    (select coalesce(jsonb_agg(jsonb_build_object('id', l.id, 'name', l.name) order by l.name), '[]')
      from label_links k join labels l on l.id = k.label_id where k.merge_request_id = i.id) as labels,
    (select jsonb_build_object('id', m.id, 'project_id', m.project_id, 'iid', m.iid, 'title', m.title)
      from milestones m where m.id = i.milestone_id) as milestone
    from merge_requests i where i.id = ${id}`.execute(tx);
  const [found] = rows;
  if (!found) throw notFound();
  const { assignees, reviewers, labels, milestone, ...row } = found;
  const placed = milestone && { id: milestone.id, reference: milestoneReference(milestone) };
  return { row, relations: { assignees, reviewers, labels, milestone: placed } };
}
