/** Labels and milestones of boards, when others take their places: by a promotion, and after a project's move. */
import { sql } from 'kysely';
import { ahead, type Db } from '../../platform/db/database.ts';
import type { LabelHolder, MilestoneHolder } from '../planning/index.ts';

/** The list of a board that has a list of the other one already goes. */
async function replaceInLists(
  tx: Db,
  column: 'label_id' | 'milestone_id',
  { projectId, id, by }: { projectId: number; id: number; by: number },
): Promise<void> {
  const of = sql.ref(column);
  const boards = sql`(select id from boards where project_id = ${projectId})`;
  await sql`select from boards where project_id = ${projectId} order by id for no key update`.execute(
    ahead(tx),
  );
  await sql`delete from board_lists l where ${of} = ${id} and board_id in ${boards} and exists (
    select from board_lists o where o.board_id = l.board_id and ${sql.ref(`o.${column}`)} = ${by})`.execute(
    ahead(tx),
  );
  await sql`update board_lists set ${of} = ${by} where ${of} = ${id} and board_id in ${boards}`.execute(
    ahead(tx),
  );
}

export const boardsOfLabels: LabelHolder = {
  select: sql`select b.project_id, x.label_id from boards b join (
    select board_id, label_id from board_lists union all select board_id, label_id from board_labels
  ) x on x.board_id = b.id`,
  async replace(tx, projectId, labelId, by) {
    await replaceInLists(tx, 'label_id', { projectId, id: labelId, by });
    const having = sql`(select x.board_id from board_labels x join boards b on b.id = x.board_id
      where x.label_id = ${labelId} and b.project_id = ${projectId})`;
    await sql`insert into board_labels (board_id, label_id) select h.board_id, ${by} from ${having} h
      on conflict do nothing`.execute(ahead(tx));
    await sql`delete from board_labels where label_id = ${labelId} and board_id in ${having}`.execute(
      ahead(tx),
    );
  },
};

export const boardsOfMilestones: MilestoneHolder = {
  select: sql`select b.project_id, x.milestone_id from boards b join (
    select board_id, milestone_id from board_lists union all select id, milestone_id from boards
  ) x on x.board_id = b.id`,
  async replace(tx, projectId, milestoneId, by) {
    await replaceInLists(tx, 'milestone_id', { projectId, id: milestoneId, by });
    await sql`update boards set milestone_id = ${by}
      where milestone_id = ${milestoneId} and project_id = ${projectId}`.execute(ahead(tx));
  },
};
