/** Links of a release. */
import type { Selectable } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { ReleaseLinksTable } from '../../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';

export type LinkRow = Pick<
  Selectable<ReleaseLinksTable>,
  'id' | 'release_id' | 'name' | 'url' | 'filepath' | 'link_type'
>;

const linksOf = (db: Db, releaseId: number) =>
  db.selectFrom('release_links').selectAll().where('release_id', '=', releaseId);

/** One page, the newest first. */
export const selectLinks = (db: Db, releaseId: number, page: PageRequest): Promise<Page<LinkRow>> =>
  selectPage(db, linksOf(db, releaseId), page, { by: 'id', sort: 'desc' }, { id: 'id' });

export const selectLink = (db: Db, releaseId: number, id: number) =>
  linksOf(db, releaseId).where('id', '=', id).executeTakeFirst();

/** The link that has the path below the release's address. */
export const selectLinkAt = (
  db: Db,
  { projectId, tag, filepath }: { projectId: number; tag: string; filepath: string },
): Promise<Pick<LinkRow, 'url'> | undefined> =>
  db
    .selectFrom('release_links')
    .innerJoin('releases', 'releases.id', 'release_links.release_id')
    .select('release_links.url')
    .where('releases.project_id', '=', projectId)
    .where('releases.tag', '=', tag)
    .where('release_links.filepath', '=', filepath)
    .executeTakeFirst();

export async function countLinks(tx: Db, releaseId: number): Promise<number> {
  const { count } = await tx
    .selectFrom('release_links')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('release_id', '=', releaseId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** All links of a release, the newest first, as hooks tell of them. */
export const selectAnnouncedLinks = (db: Db, releaseId: number) =>
  db
    .selectFrom('release_links')
    .select(['id', 'link_type', 'name', 'url'])
    .where('release_id', '=', releaseId)
    .orderBy('id', 'desc')
    .execute();
