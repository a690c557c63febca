/** Trees of epics: at most seven levels, no cycles, and no public epic below a confidential one. */
import { sql } from 'kysely';
import { now } from '../../../../platform/clock.ts';
import { ahead, type Db } from '../../../../platform/db/database.ts';
import { conflict, type Failure, notFound } from '../../../../platform/failure.ts';
import type { EpicRow } from '../records/epic-rows.ts';
import { firstPosition, type Move, positionsAfterMove } from './epic-positions.ts';

/** Levels from the outermost epic to the innermost, both included. */
export const MAX_EPIC_LEVELS = 7;

/** The facts that decide whether the child may join the parent. */
export type Joining = {
  parent: Pick<EpicRow, 'id' | 'confidential'>;
  child: Pick<EpicRow, 'id' | 'parent_id' | 'confidential'>;
  /** The parent and its ancestors. */
  lineage: readonly number[];
  /** Levels of the child and its descendants. */
  childLevels: number;
};

const refused = (reason: string): Failure => conflict(`This epic cannot be added. ${reason}`);

/** Fails with 409 for a child that the parent cannot have. Pure. */
export function checkJoining({ parent, child, lineage, childLevels }: Joining): void {
  if (child.id === parent.id) throw refused('An epic cannot be added to itself.');
  if (child.parent_id === parent.id) throw refused('It is already assigned to the parent epic.');
  if (lineage.includes(child.id)) throw refused('It is already an ancestor of the parent epic.');
  if (lineage.length + childLevels > MAX_EPIC_LEVELS)
    throw refused(
      `One or more epics would exceed the maximum depth (${MAX_EPIC_LEVELS}) from its most distant parent.`,
    );
  if (parent.confidential && !child.confidential)
    throw refused('A confidential epic cannot have a child epic that is not confidential.');
}

/**
 * One transaction at a time changes trees, and which of their epics are confidential: two valid changes could make a cycle.
 * Call before locking rows.
 */
export const lockTrees = (tx: Db): Promise<unknown> =>
  sql`select pg_advisory_xact_lock(hashtextextended('epic trees', 0))`.execute(ahead(tx));

/** One level more than there can be is enough to refuse. */
const BOUND = sql.lit(MAX_EPIC_LEVELS + 1);

type Tree = { parent: Joining['parent'] | null; lineage: number[]; levels: number; first: number | null };

/** The parent with its ancestors and first child, and the child with its levels; 404 when the parent is gone. */
async function readTree(tx: Db, parentId: number, childId: number) {
  const { rows } = await sql<Tree & (EpicRow | { id: null })>`
    with recursive up(id, parent_id, level) as (
      select id, parent_id, 1 from epics where id = ${parentId}
      union all select e.id, e.parent_id, u.level + 1 from up u join epics e on e.id = u.parent_id where u.level < ${BOUND}),
    down(id, level) as (
      select id, 1 from epics where id = ${childId}
      union all select e.id, d.level + 1 from down d join epics e on e.parent_id = d.id where d.level < ${BOUND})
    select child.*,
      (select jsonb_build_object('id', id, 'confidential', confidential) from epics where id = ${parentId}) as parent,
      (select array_agg(id) from up) as lineage, (select max(level) from down) as levels,
      (select min(relative_position) from epics where parent_id = ${parentId}) as first
    from (values (1)) one left join epics child on child.id = ${childId}`.execute(tx);
  const [row] = rows;
  if (!row?.parent) throw notFound();
  const { parent, lineage, levels, first, ...child } = row;
  return { parent, lineage, levels, first, child: child.id === null ? undefined : child };
}

/** The columns of a new epic in front of the parent's children. 409 as checkJoining(); 404 when the parent is gone. */
export async function placeBelow(
  tx: Db,
  parentId: number,
  { confidential }: { confidential: boolean },
): Promise<Pick<EpicRow, 'parent_id' | 'relative_position'>> {
  await lockTrees(tx);
  const { parent, lineage, first } = await readTree(tx, parentId, 0);
  checkJoining({ parent, child: { id: 0, parent_id: null, confidential }, lineage, childLevels: 1 });
  return { parent_id: parentId, relative_position: firstPosition(first) };
}

/** Puts the child in front of the parent's other children. 409 as checkJoining(); 404 when one of them is gone. */
export async function joinEpics(tx: Db, parentId: number, childId: number): Promise<EpicRow> {
  await lockTrees(tx);
  const { parent, child, lineage, levels, first } = await readTree(tx, parentId, childId);
  if (!child) throw notFound();
  checkJoining({ parent, child, lineage, childLevels: levels });
  const columns = { parent_id: parentId, relative_position: firstPosition(first), updated_at: now() };
  await ahead(tx).updateTable('epics').set(columns).where('id', '=', childId).execute();
  return { ...child, ...columns };
}

/** Removes the child from the parent that it was found with; 404 when it has another one now, or is gone. */
export async function separateEpic(
  tx: Db,
  { id, parent_id }: Pick<EpicRow, 'id' | 'parent_id'>,
): Promise<EpicRow> {
  await lockTrees(tx);
  const child = await tx
    .updateTable('epics')
    .set({ parent_id: null, updated_at: now() })
    .where('id', '=', id)
    .where('parent_id', '=', parent_id)
    .returningAll()
    .executeTakeFirst();
  if (!child) throw notFound();
  return child;
}

/** Moves a child among its siblings; 404 for one that is not a child of the parent. */
export async function moveChild(tx: Db, parentId: number, childId: number, move: Move): Promise<void> {
  await lockTrees(tx);
  const siblings = await tx
    .selectFrom('epics')
    .select(['id', 'relative_position'])
    .where('parent_id', '=', parentId)
    .orderBy('relative_position')
    .orderBy('id')
    .execute();
  if (!siblings.some(({ id }) => id === childId)) throw notFound();
  await writePositions(tx, 'epics', positionsAfterMove(siblings, childId, move));
}

/** Writes the positions of epics, or of issues in epics, by one statement. */
export async function writePositions(
  tx: Db,
  table: 'epics' | 'epic_issues',
  places: readonly { id: number; relative_position: number }[],
): Promise<void> {
  if (places.length === 0) return;
  const ids = places.map(({ id }) => id);
  const positions = places.map((place) => place.relative_position);
  await sql`
    update ${sql.table(table)} t set relative_position = p.position
    from unnest(${ids}::bigint[], ${positions}::bigint[]) p(id, position) where t.id = p.id`.execute(
    ahead(tx),
  );
}
