/** Manual order of a project's issues. */
import { sql } from 'kysely';
import { ahead, type Db, inTransaction } from '../../../../platform/db/database.ts';
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
    await ahead(tx)
      .selectFrom('projects')
      .select('id')
      .where('id', '=', issue.project_id)
      .forNoKeyUpdate()
      .execute();
    let place = await findPosition(tx, issue, neighbours);
    if (place === undefined) {
      await spread(tx, issue.project_id);
      place = await findPosition(tx, issue, neighbours);
    }
    const relative_position = place ?? issue.relative_position;
    await ahead(tx).updateTable('issues').set({ relative_position }).where('id', '=', issue.id).execute();
    return { ...issue, relative_position };
  });
}

/** The positions of the neighbours; a single one bounds one side, and the next issue beyond it the other. */
type Bounds = Record<'before' | 'after' | 'below' | 'above', number | null>;

async function findPosition(
  tx: Db,
  { id, project_id }: IssueRow,
  { beforeId, afterId }: Neighbours,
): Promise<number | undefined> {
  const { rows } = await sql<Bounds>`
    with placed as not materialized (select id, relative_position as place from issues where project_id = ${project_id}),
    named as materialized (select (select place from placed where id = ${beforeId ?? null}::bigint) as before,
      (select place from placed where id = ${afterId ?? null}::bigint) as after)
    select before, after, (select max(place) from placed where id <> ${id} and place < after) as below,
      (select min(place) from placed where id <> ${id} and place > before) as above from named`.execute(tx);
  const { before = null, after = null, below = null, above = null } = rows[0] ?? {};
  if ((beforeId !== undefined && before === null) || (afterId !== undefined && after === null))
    throw notFound('Issue');
  return positionBetween(before ?? below ?? undefined, after ?? above ?? undefined);
}

/** Spaces out all of the project's issues in their order. */
const spread = (tx: Db, projectId: number) =>
  sql`update issues i set relative_position = x.place * ${sql.lit(POSITION_GAP)}
    from (select id, row_number() over (order by relative_position, id) as place from issues where project_id = ${projectId}) x
    where i.id = x.id`.execute(ahead(tx));
