/** Reads boards, their lists, and what these name. */
import { type Selectable, type SqlBool, sql } from 'kysely';
import { memberIds } from '../../kernel/access/membership-queries.ts';
import { isProject, type ResourceParent, reachOf } from '../../kernel/access/resource-parents.ts';
import { type UserBasicRow, userBasicColumns } from '../../kernel/users/records.ts';
import type { Db } from '../../platform/db/database.ts';
import type { BoardListsTable, BoardsTable } from '../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../platform/pagination/page.ts';
import { type LabelRow, type MilestoneWithPath, milestonesById } from '../planning/index.ts';
import { isWithin } from './rules.ts';

export type BoardRow = Selectable<BoardsTable>;

/** The condition on the parent's boards. */
export const ownBoards = (parent: ResourceParent) =>
  isProject(parent)
    ? sql<SqlBool>`boards.project_id = ${parent.id}`
    : sql<SqlBool>`boards.namespace_id = ${parent.id}`;

const boardsOf = (db: Db, parent: ResourceParent) =>
  db.selectFrom('boards').selectAll().where(ownBoards(parent));

/** One page, by name. */
export const selectBoards = (db: Db, parent: ResourceParent, page: PageRequest): Promise<Page<BoardRow>> =>
  selectPage(
    db,
    boardsOf(db, parent),
    page,
    { by: 'name', sort: 'asc' },
    { name: 'lower(boards.name)', id: 'boards.id' },
  );

export const selectBoard = (db: Db, parent: ResourceParent, id: number): Promise<BoardRow | undefined> =>
  boardsOf(db, parent).where('id', '=', id).executeTakeFirst();

/** The parent's board, locked until the transaction ends: its lists change one after the other. */
export const lockBoard = (tx: Db, parent: ResourceParent, id: number): Promise<BoardRow | undefined> =>
  boardsOf(tx, parent).where('id', '=', id).forNoKeyUpdate().executeTakeFirst();

export async function countBoards(db: Db, parent: ResourceParent): Promise<number> {
  const { count } = await db
    .selectFrom('boards')
    .where(ownBoards(parent))
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Labels or milestones of these ids, as far as the parent has them or a group around it. */
const byId = <T extends { id: number }>(rows: readonly T[]) => new Map(rows.map((row) => [row.id, row]));

async function selectLabels(
  db: Db,
  parent: ResourceParent,
  ids: readonly number[],
): Promise<Map<number, LabelRow>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('labels')
    .selectAll()
    .where('id', 'in', [...ids])
    .execute();
  return byId(rows.filter((row) => isWithin(reachOf(parent), row)));
}

async function selectMilestones(
  db: Db,
  parent: ResourceParent,
  ids: readonly number[],
): Promise<Map<number, MilestoneWithPath>> {
  const rows = await milestonesById(db, ids);
  return byId([...rows.values()].filter((row) => isWithin(reachOf(parent), row)));
}

async function selectUsers(db: Db, ids: readonly number[]): Promise<Map<number, UserBasicRow>> {
  if (ids.length === 0) return new Map();
  return byId(
    await db
      .selectFrom('users')
      .select(userBasicColumns)
      .where('users.id', 'in', [...ids])
      .execute(),
  );
}

export const selectLabel = async (
  db: Db,
  parent: ResourceParent,
  id: number,
): Promise<LabelRow | undefined> => (await selectLabels(db, parent, [id])).get(id);

export const selectMilestone = async (
  db: Db,
  parent: ResourceParent,
  id: number,
): Promise<MilestoneWithPath | undefined> => (await selectMilestones(db, parent, [id])).get(id);

/** Whether the user is a member of the parent, or of a group around it. */
export async function isMember(db: Db, parent: ResourceParent, userId: number): Promise<boolean> {
  const { projectId, ancestorIds } = reachOf(parent);
  const { rows } = await sql`
    select from (${memberIds({ projectId, ancestorIds })}) m where m.user_id = ${userId} limit 1`.execute(db);
  return rows.length > 0;
}

type ListRow = Selectable<BoardListsTable>;

/** A list with what it is of. Its position is that among the lists of its board, from 0. */
export type List = Pick<ListRow, 'id' | 'board_id' | 'updated_at' | 'position'> & {
  label: LabelRow | undefined;
  assignee: UserBasicRow | undefined;
  milestone: MilestoneWithPath | undefined;
};

/** A board with its lists and what it is scoped to. */
export type WholeBoard = {
  row: BoardRow;
  lists: List[];
  labels: LabelRow[];
  assignee: UserBasicRow | undefined;
  milestone: MilestoneWithPath | undefined;
};

const given = (ids: readonly (number | null)[]): number[] => [...new Set(ids.filter((id) => id !== null))];

/** Each board with its lists. Labels and milestones of groups that the parent has left since are not shown. */
export async function wholeBoards(
  db: Db,
  parent: ResourceParent,
  boards: readonly BoardRow[],
): Promise<WholeBoard[]> {
  if (boards.length === 0) return [];
  const ids = boards.map(({ id }) => id);
  const [lists, scopes] = await Promise.all([
    db
      .selectFrom('board_lists')
      .selectAll()
      .where('board_id', 'in', ids)
      .orderBy('board_id')
      .orderBy('position')
      .orderBy('id')
      .execute(),
    db
      .selectFrom('board_labels')
      .innerJoin('labels', 'labels.id', 'board_labels.label_id')
      .selectAll('board_labels')
      .where('board_id', 'in', ids)
      .orderBy('labels.name')
      .orderBy('labels.id')
      .execute(),
  ]);
  const all = [...boards, ...lists];
  const [labels, users, milestones] = await Promise.all([
    selectLabels(db, parent, given([...lists, ...scopes].map(({ label_id }) => label_id))),
    selectUsers(db, given(all.map(({ assignee_id }) => assignee_id))),
    selectMilestones(db, parent, given(all.map(({ milestone_id }) => milestone_id))),
  ]);
  const named = (row: { assignee_id: number | null; milestone_id: number | null }) => ({
    assignee: users.get(row.assignee_id ?? 0),
    milestone: milestones.get(row.milestone_id ?? 0),
  });
  return boards.map((row) => ({
    row,
    lists: lists
      .filter(({ board_id }) => board_id === row.id)
      .map((list) => ({ ...list, ...named(list), label: labels.get(list.label_id ?? 0) }))
      .filter(({ label, assignee, milestone }) => label ?? assignee ?? milestone)
      .map((list, position) => ({ ...list, position })),
    labels: scopes
      .filter(({ board_id }) => board_id === row.id)
      .flatMap(({ label_id }) => labels.get(label_id) ?? []),
    ...named(row),
  }));
}

/** The lists of a board, in their order. */
export const listsOf = async (db: Db, parent: ResourceParent, board: BoardRow): Promise<List[]> =>
  (await wholeBoards(db, parent, [board])).flatMap(({ lists }) => lists);
