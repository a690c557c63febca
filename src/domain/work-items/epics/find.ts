/** Finds epics by id, as far as the actor may use them. */

import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import { Failure, forbidden } from '../../../platform/failure.ts';
import type { EpicRow } from './records/epic-rows.ts';
import { type FoundEpic, findEpicById } from './records/find-queries.ts';
import type { ActorContext } from './writing/actions.ts';

/** An epic to be made a parent or child: 404 unless the caller may read it, 403 unless they may change it. */
export async function findForChange(
  { db, services, actor }: ActorContext,
  id: number,
  home: AuthorizedGroup,
): Promise<FoundEpic> {
  const epic = await findEpicById(db, services.database.points, actor, id, home);
  if (!epic.group.may('update_epics')) throw forbidden();
  return epic;
}

/** The epic's parent, if the caller may read it. */
export async function findParent(
  { db, services, actor }: ActorContext,
  epic: EpicRow,
  home: AuthorizedGroup,
): Promise<FoundEpic | null> {
  if (epic.parent_id === null) return null;
  try {
    return await findEpicById(db, services.database.points, actor, epic.parent_id, home);
  } catch (error) {
    if (error instanceof Failure && error.kind === 'not_found') return null;
    throw error;
  }
}
