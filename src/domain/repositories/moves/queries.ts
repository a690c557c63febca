/** Moves of one kind of containers. */

import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import type { MovableContainers } from './movable-containers.ts';
import type { MoveRow } from './schedule-actions.ts';

/** Only moves of existing containers are shown. */
function movesOf(db: Db, { kind, isShown }: MovableContainers, containerId: number | undefined) {
  const all = db
    .selectFrom('storage_moves')
    .selectAll()
    .where('container', '=', kind)
    .where(isShown)
    .$narrowType<MoveRow>();
  return containerId === undefined ? all : all.where('container_id', '=', containerId);
}

/** One page, newest first; of one container when its id is given. */
export const selectMoves = (
  db: Db,
  containers: MovableContainers,
  containerId: number | undefined,
  page: PageRequest,
): Promise<Page<MoveRow>> =>
  selectPage(
    db,
    movesOf(db, containers, containerId),
    page,
    { by: 'created_at', sort: 'desc' },
    { created_at: 'created_at', id: 'id' },
  );

export const selectMove = (
  db: Db,
  containers: MovableContainers,
  containerId: number | undefined,
  id: number,
): Promise<MoveRow | undefined> =>
  movesOf(db, containers, containerId).where('id', '=', id).executeTakeFirst();

export const selectRecorded = (
  { database }: Needs<'database'>,
  move: MoveRow,
): Promise<{ wiki: boolean }[]> =>
  database.background
    .selectFrom('repositories')
    .select('wiki')
    .where('container', '=', move.container)
    .where('container_id', '=', move.container_id)
    .execute();
