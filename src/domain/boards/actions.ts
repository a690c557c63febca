/** Makes boards, changes and deletes them. */
import { lockParent } from '../../kernel/access/own-row-queries.ts';
import {
  auditedParent,
  isProject,
  parentColumns,
  type ResourceParent,
} from '../../kernel/access/resource-parents.ts';
import { announce } from '../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../kernel/actor.ts';
import { found } from '../../kernel/api/endpoint.ts';
import type { Needs } from '../../kernel/services.ts';
import { now } from '../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../platform/db/database.ts';
import { invalid } from '../../platform/failure.ts';
import { resolveLabels } from '../planning/index.ts';
import { type BoardRow, countBoards, isMember, lockBoard, selectMilestone } from './queries.ts';
import { requireName, requirePlaceForBoard } from './rules.ts';
import type { BoardChanges } from './schema.ts';

export type WriteContext = {
  db: Db;
  services: Needs<'config'>;
  actor: Actor;
  subject: ResourceParent;
};

const audit = (
  tx: Db,
  { actor, subject }: WriteContext,
  event: 'board_created' | 'board_updated' | 'board_deleted',
  { id, name }: BoardRow,
): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: auditedParent(subject),
      event,
      details: { target_id: id, target_type: 'Board', target_details: name },
    },
  });

/** 400 for one too many, 403 for a group's second one below premium. */
export const createBoard = (context: WriteContext, name: string): Promise<BoardRow> =>
  inTransaction(context.db, async (tx) => {
    const { subject, services } = context;
    requireName(name);
    await lockParent(tx, subject);
    const count = await countBoards(tx, subject);
    requirePlaceForBoard(count, isProject(subject) ? 'project' : 'group', services.config.tier);
    const time = now();
    const row = await tx
      .insertInto('boards')
      .values({ ...parentColumns(subject), name, created_at: time, updated_at: time })
      .returningAll()
      .executeTakeFirstOrThrow();
    await audit(tx, context, 'board_created', row);
    return row;
  });

/** The columns of a scope that a change names; 400 for a user who is no member, and a milestone of others. */
async function scopeOf(
  tx: Db,
  parent: ResourceParent,
  { assignee_id, milestone_id, weight }: BoardChanges,
): Promise<Partial<Pick<BoardRow, 'assignee_id' | 'milestone_id' | 'weight'>>> {
  if (assignee_id && !(await isMember(tx, parent, assignee_id)))
    throw invalid({ assignee_id: ['is invalid'] });
  if (milestone_id && !(await selectMilestone(tx, parent, milestone_id)))
    throw invalid({ milestone_id: ['is invalid'] });
  return {
    ...(assignee_id !== undefined && { assignee_id: assignee_id || null }),
    ...(milestone_id !== undefined && { milestone_id: milestone_id || null }),
    ...(weight !== undefined && { weight }),
  };
}

/** Changes what the request names; of the scope nothing below premium. */
export const updateBoard = (context: WriteContext, id: number, changes: BoardChanges): Promise<BoardRow> =>
  inTransaction(context.db, async (tx) => {
    const { subject, actor, services } = context;
    const { name, hide_backlog_list, hide_closed_list, labels, ...scope } = changes;
    requireName(name);
    const scoped = services.config.tier !== 'free';
    found(await lockBoard(tx, subject, id), 'Board');
    if (scoped && labels) {
      const resolved = await resolveLabels(tx, subject, labels, { create: true, actor });
      await ahead(tx).deleteFrom('board_labels').where('board_id', '=', id).execute();
      if (resolved.length > 0)
        await ahead(tx)
          .insertInto('board_labels')
          .values(resolved.map(({ id: label_id }) => ({ board_id: id, label_id })))
          .onConflict((known) => known.doNothing())
          .execute();
    }
    const row = await tx
      .updateTable('boards')
      .set({
        ...(name !== undefined && { name }),
        ...(hide_backlog_list !== undefined && { hide_backlog_list }),
        ...(hide_closed_list !== undefined && { hide_closed_list }),
        ...(scoped && (await scopeOf(tx, subject, scope))),
        updated_at: now(),
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
    await audit(tx, context, 'board_updated', row);
    return row;
  });

export const deleteBoard = (
  context: WriteContext,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(context.db, async (tx) => {
    const row = found(await lockBoard(tx, context.subject, id), 'Board');
    unmodified(row.updated_at);
    await ahead(tx).deleteFrom('boards').where('id', '=', id).execute();
    await audit(tx, context, 'board_deleted', row);
  });
