/** Statements of lists about an epic: its children and related epics. */

import type { Caller } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import type { EpicRow } from './records/epic-rows.ts';
import { visibleEpics } from './records/visibility-queries.ts';

const columns = { id: 'epics.id', relative_position: 'epics.relative_position' };

/** The children that the reader may read, in their order. */
export const selectChildren = (
  db: Db,
  reader: Caller,
  parentId: number,
  page: PageRequest,
): Promise<Page<EpicRow>> =>
  selectPage(
    db,
    db.selectFrom('epics').selectAll().where('parent_id', '=', parentId).where(visibleEpics(reader)),
    page,
    { by: 'relative_position', sort: 'asc' },
    columns,
  );

export type LinkRow = {
  id: number;
  source_id: number;
  target_id: number;
  link_type: string;
  created_at: Date;
  updated_at: Date;
};
