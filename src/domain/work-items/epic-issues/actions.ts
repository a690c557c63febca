/** Moves an issue among those of its epic. */
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/failure.ts';
import { positionsAfterMove } from '../epics/writing/epic-positions.ts';
import { writePositions } from '../epics/writing/tree-actions.ts';

/** Moves an issue among those of its epic, one move at a time. */
export const moveIssue = (
  db: Db,
  epicId: number,
  id: number,
  move: { move_before_id?: number; move_after_id?: number },
): Promise<void> =>
  inTransaction(db, async (tx) => {
    await tx.selectFrom('epics').select('id').where('id', '=', epicId).forUpdate().execute();
    const links = await tx
      .selectFrom('epic_issues')
      .select(['id', 'relative_position'])
      .where('epic_id', '=', epicId)
      .orderBy('relative_position')
      .orderBy('id')
      .execute();
    if (!links.some((link) => link.id === id)) throw notFound();
    await writePositions(tx, 'epic_issues', positionsAfterMove(links, id, move));
  });
