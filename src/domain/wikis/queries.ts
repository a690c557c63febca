/** Rows of pages: an id for each that stays when the page gets another title. */

import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';
import type { Sql } from '../../platform/db/driver/sql.ts';
import { containerTables, groupWiki, projectWiki } from '../repositories/index.ts';
import { keepPages } from './page-actions.ts';
import type { Wiki } from './wiki.ts';
import type { PageName, WikiOwner } from './wiki-pages.ts';

type Named = Pick<PageName, 'slug' | 'title'>;

/** The ids of pages by their slugs. A pushed page has none before its first read. */
export async function pageIds(db: Db, wiki: Wiki, pages: readonly Named[]): Promise<Map<string, number>> {
  // Two files of different formats may have one slug.
  const wanted = new Map(pages.map((page) => [page.slug, page]));
  if (wanted.size === 0) return new Map();
  const known = await db
    .selectFrom('wiki_pages')
    .select(['id', 'slug'])
    .where(wiki.owner, '=', wiki.id)
    .where('slug', 'in', [...wanted.keys()])
    .execute();
  for (const { slug } of known) wanted.delete(slug);
  const added = wanted.size === 0 ? [] : await keepPages(db, wiki, [...wanted.values()]);
  return new Map([...known, ...added].map(({ id, slug }) => [slug, id]));
}

/** The wiki of an owner that nobody is authorized for, to be read by the program. */
export async function selectWiki(db: Db, { owner, id }: WikiOwner): Promise<Wiki> {
  const isGroups = owner === 'group_id';
  const table = containerTables[isGroups ? 'group' : 'project'];
  const { rows } = await sql<{ storage: string }>`
    select repository_storage as storage from ${sql.table(table)} where id = ${id}`.execute(db);
  return {
    key: isGroups ? groupWiki(id) : projectWiki(id),
    owner,
    id,
    storage: rows[0]?.storage,
    ensureStorage: async () => {},
  };
}

/** `project` for a path that is, or was, a project's; else the id of its group: a number is a name here. */
export async function findOwner(sql: Sql, path: string): Promise<'project' | number | undefined> {
  const slash = path.lastIndexOf('/');
  const [namespace, name] = [
    path.slice(0, Math.max(0, slash)).toLowerCase(),
    path.slice(slash + 1).toLowerCase(),
  ];
  const [row] = await sql<{ project: boolean; group_id: number | null }[]>`
    select exists (select from projects p join namespaces n on n.id = p.namespace_id
        where lower(n.full_path) collate "C" = ${namespace} and lower(p.path) collate "C" = ${name})
      or exists (select from project_redirects where path = ${path.toLowerCase()}) as project,
      (select id from namespaces where kind = 'group' and lower(full_path) collate "C" = ${path.toLowerCase()}) as group_id`;
  return row?.project ? 'project' : (row?.group_id ?? undefined);
}

export const selectGroupNames = (db: Db, ids: readonly number[]) =>
  db.selectFrom('namespaces').select(['id', 'name', 'full_path']).where('id', 'in', ids).execute();

/** The condition that the group of a move between storages is there, over `container_id`. */
export const isMovedGroupThere = sql<boolean>`exists (
  select from namespaces c where c.id = container_id and not c.deleting)`;

/** The title of a wiki page, below an activity event `e`. */
export const shownWikiPage = (id: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`select null as iid, w.title from wiki_pages w where w.id = ${id} and w.project_id = e.project_id`;
