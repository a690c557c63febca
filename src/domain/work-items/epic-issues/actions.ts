/** Puts issues into epics, takes them out, and moves them among those of their epic. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/failure.ts';
import type { ActorContext } from '../../conversation/index.ts';
import type { FoundEpic } from '../epics/records/find-queries.ts';
import { addSystemNoteOfIssue } from '../epics/writing/epic-notes.ts';
import { positionsAfterMove } from '../epics/writing/epic-positions.ts';
import { writePositions } from '../epics/writing/tree-actions.ts';
import type { IssueRow } from '../issues/records/issue-rows.ts';
import { changeEpic } from '../issues/writing/actions.ts';
import { type Link, selectLink } from './queries.ts';

/** Moves an issue among those of its epic, one move at a time. */
export const moveIssue = (
  db: Db,
  epicId: number,
  id: number,
  move: { move_before_id?: number; move_after_id?: number },
): Promise<void> =>
  inTransaction(db, async (tx) => {
    await ahead(tx).selectFrom('epics').select('id').where('id', '=', epicId).forUpdate().execute();
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

type IssueInProject = { issue: IssueRow; project: AuthorizedProject };

/** Puts the issue into the epic; 400 for a confidential epic and an issue that is not, 404 when one of them is gone. */
export const addIssue = (
  context: ActorContext,
  to: FoundEpic,
  { issue, project }: IssueInProject,
): Promise<{ issue: IssueRow; link: Link }> =>
  inTransaction(context.db, async (tx) => {
    const changed = await changeEpic(context, tx, project, issue.id, to);
    await addSystemNoteOfIssue(tx, context.actor, to, { issue, project }, 'added');
    const link = await selectLink(tx, issue.id);
    if (!link) throw notFound();
    return { issue: changed, link };
  });

/** Takes the issue out of its epic. */
export const removeIssue = (
  context: ActorContext,
  from: FoundEpic,
  { issue, project }: IssueInProject,
): Promise<IssueRow> =>
  inTransaction(context.db, async (tx) => {
    await addSystemNoteOfIssue(tx, context.actor, from, { issue, project }, 'removed');
    return changeEpic(context, tx, project, issue.id, null);
  });
