/** Manual order of a project's issues. */
import { sql } from 'kysely';
import { type Db, inTransaction } from '../../../../platform/db/database.ts';
import { notFound } from '../../../../platform/failure.ts';
import type { IssueRow } from '../records/issue-rows.ts';
import { POSITION_GAP } from './insert-actions.ts';

/** The integer half way between the two; undefined where there is none. A missing bound is open. */
export function positionBetween(lower: number | undefined, upper: number | undefined): number | undefined {
  if (lower === undefined) return upper === undefined ? undefined : upper - POSITION_GAP;
  if (upper === undefined) return lower + POSITION_GAP;
  const middle = Math.floor((lower + upper) / 2);
  return middle > lower && middle < upper ? middle : undefined;
}

/** The neighbours of an issue in its project: both, or one. */
export type Neighbours = { beforeId: number | undefined; afterId: number | undefined };

/** Puts the issue between its neighbours; 404 when one is not in the project. Calls are serialized. */
export function reorderIssue(db: Db, issue: IssueRow, neighbours: Neighbours): Promise<IssueRow> {
  return inTransaction(db, async (tx) => {
    await tx
      .selectFrom('projects')
      .select('id')
      .where('id', '=', issue.project_id)
      .forNoKeyUpdate()
      .executeTakeFirst();
    let place = await findPosition(tx, issue, neighbours);
    if (place === undefined) {
      await spread(tx, issue.project_id);
      place = await findPosition(tx, issue, neighbours);
    }
    return tx
      .updateTable('issues')
      .set({ relative_position: place ?? issue.relative_position })
      .where('id', '=', issue.id)
      .returningAll()
      .executeTakeFirstOrThrow();
  });
}

async function findPosition(
  tx: Db,
  issue: IssueRow,
  { beforeId, afterId }: Neighbours,
): Promise<number | undefined> {
  const before = await positionOf(tx, issue.project_id, beforeId);
  const after = await positionOf(tx, issue.project_id, afterId);
  // A single neighbour bounds one side; the next issue beyond it bounds the other.
  return positionBetween(
    before ?? (after === undefined ? undefined : await nextTo(tx, issue, after, 'max')),
    after ?? (before === undefined ? undefined : await nextTo(tx, issue, before, 'min')),
  );
}

async function positionOf(tx: Db, projectId: number, id: number | undefined): Promise<number | undefined> {
  if (id === undefined) return undefined;
  const row = await tx
    .selectFrom('issues')
    .select('relative_position')
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) throw notFound('Issue');
  return row.relative_position;
}

async function nextTo(
  tx: Db,
  issue: IssueRow,
  place: number,
  side: 'min' | 'max',
): Promise<number | undefined> {
  const row = await tx
    .selectFrom('issues')
    .select('relative_position')
    .where('project_id', '=', issue.project_id)
    .where('id', '<>', issue.id)
    .where('relative_position', side === 'min' ? '>' : '<', place)
    .orderBy('relative_position', side === 'min' ? 'asc' : 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.relative_position;
}

/** Spaces out all of the project's issues in their order. */
const spread = (tx: Db, projectId: number) =>
  sql`update issues i set relative_position = x.place * ${sql.lit(POSITION_GAP)}
    from (select id, row_number() over (order by relative_position, id) as place from issues where project_id = ${projectId}) x
    where i.id = x.id`.execute(tx);
