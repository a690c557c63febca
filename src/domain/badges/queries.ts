/** Reads badges: a project's with those of the groups around it, or a group's own. */
import { type Selectable, type SqlBool, sql } from 'kysely';
import { isProject, type ResourceParent } from '../../kernel/access/resource-parents.ts';
import type { Db } from '../../platform/db/database.ts';
import type { BadgesTable } from '../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../platform/pagination/page.ts';

export type BadgeRow = Selectable<BadgesTable>;

/** The condition on the parent's own badges. */
export const ownBadges = (parent: ResourceParent) =>
  isProject(parent)
    ? sql<SqlBool>`badges.project_id = ${parent.id}`
    : sql<SqlBool>`badges.namespace_id = ${parent.id}`;

/** The condition on the badges that the parent shows. */
const shownBadges = (parent: ResourceParent) =>
  isProject(parent)
    ? sql<SqlBool>`(${ownBadges(parent)} or badges.namespace_id = any(${parent.row.ancestor_ids}::bigint[]))`
    : ownBadges(parent);

/** One page, oldest first. */
export function selectBadges(
  db: Db,
  parent: ResourceParent,
  name: string | undefined,
  page: PageRequest,
): Promise<Page<BadgeRow>> {
  const all = db.selectFrom('badges').selectAll().where(shownBadges(parent));
  const named = name === undefined ? all : all.where('name', '=', name);
  return selectPage(db, named, page, { by: 'id', sort: 'asc' }, { id: 'badges.id' });
}

/** A badge that the parent shows. */
export const selectBadge = (db: Db, parent: ResourceParent, id: number): Promise<BadgeRow | undefined> =>
  db.selectFrom('badges').selectAll().where(shownBadges(parent)).where('id', '=', id).executeTakeFirst();

/** The parent's own badge, locked until the transaction ends. */
export const lockBadge = (tx: Db, parent: ResourceParent, id: number): Promise<BadgeRow | undefined> =>
  tx
    .selectFrom('badges')
    .selectAll()
    .where(ownBadges(parent))
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
