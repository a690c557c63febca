/** Makes lists of boards, moves and deletes them; the board's row is locked meanwhile. */
import { sql } from 'kysely';
import type { ResourceParent } from '../../kernel/access/resource-parents.ts';
import { found } from '../../kernel/api/endpoint.ts';
import { now } from '../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../platform/db/database.ts';
import type { WriteContext } from './actions.ts';
import { isMember, type List, listsOf, lockBoard, selectLabel, selectMilestone } from './queries.ts';
import { type ListKind, listNotFound, reordered, requireListTier, requirePlaceForList } from './rules.ts';
import type { NewList } from './schema.ts';

const lookUp: Record<ListKind, (tx: Db, parent: ResourceParent, id: number) => Promise<unknown>> = {
  label_id: selectLabel,
  milestone_id: selectMilestone,
  assignee_id: isMember,
  // Nothing makes iterations.
  iteration_id: async () => undefined,
};

/** What the list is of; 400 for what the tier or the board's parent does not have. */
async function targetOf(
  tx: Db,
  { subject, services }: WriteContext,
  input: NewList,
): Promise<{ kind: Exclude<ListKind, 'iteration_id'>; id: number }> {
  for (const kind of ['label_id', 'assignee_id', 'milestone_id', 'iteration_id'] as const) {
    const id = input[kind];
    if (id === undefined) continue;
    requireListTier(kind, services.config.tier);
    if (kind === 'iteration_id' || !(await lookUp[kind](tx, subject, id))) throw listNotFound(kind);
    return { kind, id };
  }
  throw new Error('The schema lets no list in that is of nothing');
}

/** Adds a list behind the others. */
export const createList = (context: WriteContext, boardId: number, input: NewList): Promise<List> =>
  inTransaction(context.db, async (tx) => {
    const { subject } = context;
    const board = found(await lockBoard(tx, subject, boardId), 'Board');
    const { kind, id } = await targetOf(tx, context, input);
    const { count, end } = await tx
      .selectFrom('board_lists')
      .where('board_id', '=', boardId)
      .select(({ fn }) => [
        fn.countAll<number>().as('count'),
        sql<number>`coalesce(max(position), -1)`.as('end'),
      ])
      .executeTakeFirstOrThrow();
    requirePlaceForList(count);
    const time = now();
    const made = await tx
      .insertInto('board_lists')
      .values({ board_id: boardId, [kind]: id, position: end + 1, created_at: time, updated_at: time })
      .returning('id')
      .executeTakeFirstOrThrow();
    return found((await listsOf(tx, subject, board)).find((list) => list.id === made.id));
  });

/** Moves a list to the position among those of its board; 400 for one beyond the last. */
export const moveList = (
  { db, subject }: WriteContext,
  { boardId, id }: { boardId: number; id: number },
  position: number,
): Promise<List> =>
  inTransaction(db, async (tx) => {
    const board = found(await lockBoard(tx, subject, boardId), 'Board');
    const lists = await listsOf(tx, subject, board);
    const list = found(
      lists.find((each) => each.id === id),
      'List',
    );
    const order = reordered(
      lists.map((each) => each.id),
      id,
      position,
    );
    await sql`update board_lists l set position = o.place, updated_at = ${now()}
      from unnest(${order}::bigint[]) with ordinality o(id, place)
      where l.id = o.id and l.position <> o.place`.execute(ahead(tx));
    return { ...list, position };
  });

export const deleteList = (
  { db, subject }: WriteContext,
  { boardId, id }: { boardId: number; id: number },
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const board = found(await lockBoard(tx, subject, boardId), 'Board');
    const list = found(
      (await listsOf(tx, subject, board)).find((each) => each.id === id),
      'List',
    );
    unmodified(list.updated_at);
    await ahead(tx).deleteFrom('board_lists').where('id', '=', id).execute();
  });
