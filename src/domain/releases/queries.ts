/** Releases: the lists of a project and a group, one by its tag, and what is around them. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { AuthorizedGroup, AuthorizedProject } from '../../kernel/access/find.ts';
import { belowGroup, projectsWith } from '../../kernel/access/project-list-queries.ts';
import type { Caller } from '../../kernel/actor.ts';
import { selectPeople } from '../../kernel/users/queries.ts';
import type { UserBasicRow } from '../../kernel/users/records.ts';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import { byId, idArray, readTagged, taggedRows } from '../../platform/db/tagged-rows.ts';
import { type Page, type PageRequest, selectPage } from '../../platform/pagination/page.ts';
import { type MilestoneWithPath, milestoneOfJson, selectMilestonesOf } from '../planning/index.ts';
import type { EvidenceRow } from './evidences/queries.ts';
import type { LinkRow } from './links/queries.ts';
import type { ReleaseRow } from './release-row.ts';
import type { ListInput } from './schema.ts';

const releasesOf = (db: Db, projectId: number) =>
  db.selectFrom('releases').selectAll('releases').where('releases.project_id', '=', projectId);

const columns = { released_at: 'releases.released_at', created_at: 'releases.created_at', id: 'releases.id' };

/** One page, the latest first unless the client orders otherwise. */
export function selectReleases(
  db: Db,
  project: AuthorizedProject,
  { order_by = 'released_at', sort = 'desc', updated_before, updated_after }: ListInput,
  page: PageRequest,
): Promise<Page<ReleaseRow>> {
  let query = releasesOf(db, project.id);
  if (updated_before !== undefined)
    query = query.where('releases.updated_at', '<=', new Date(updated_before));
  if (updated_after !== undefined) query = query.where('releases.updated_at', '>=', new Date(updated_after));
  return selectPage(db, query, page, { by: order_by, sort }, columns);
}

/** One page of those of a group and its subgroups, with the paths of their projects. */
export const selectGroupReleases = (
  db: Db,
  caller: Caller,
  group: AuthorizedGroup,
  sort: 'asc' | 'desc',
  page: PageRequest,
): Promise<Page<ReleaseRow & { full_path: string }>> => {
  const query = db
    .selectFrom('releases')
    .innerJoin('projects', 'projects.id', 'releases.project_id')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .selectAll('releases')
    .select(sql<string>`namespaces.full_path || '/' || projects.path`.as('full_path'))
    .where(
      sql<SqlBool>`releases.project_id in ${projectsWith('read_releases', caller, belowGroup(group.id))}`,
    );
  return selectPage(db, query, page, { by: 'released_at', sort }, columns);
};

export const selectRelease = (db: Db, projectId: number, tag: string): Promise<ReleaseRow | undefined> =>
  releasesOf(db, projectId).where('tag', '=', tag).executeTakeFirst();

/** Locked until the transaction ends. */
export const lockRelease = (tx: Db, projectId: number, tag: string): Promise<ReleaseRow | undefined> =>
  releasesOf(tx, projectId).where('tag', '=', tag).forUpdate().executeTakeFirst();

export const selectReleaseById = (db: Db, id: number): Promise<ReleaseRow | undefined> =>
  db.selectFrom('releases').selectAll().where('id', '=', id).executeTakeFirst();

/** The one that was made last. */
export const selectNewestRelease = (db: Db, projectId: number): Promise<ReleaseRow | undefined> =>
  releasesOf(db, projectId).orderBy('id', 'desc').limit(1).executeTakeFirst();

/** The tag of the latest release that is not upcoming. */
export async function selectLatestTag(
  db: Db,
  project: AuthorizedProject,
  by: 'released_at' | 'created_at',
): Promise<string | undefined> {
  const row = await db
    .selectFrom('releases')
    .select('tag')
    .where('project_id', '=', project.id)
    .where('released_at', '<=', now())
    .orderBy(by, 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.tag;
}

/** The name and the description of each tag's release. */
export const selectTexts = (db: Db, project: AuthorizedProject, tags: readonly string[]) =>
  db
    .selectFrom('releases')
    .select(['tag', 'name', 'description'])
    .where('project_id', '=', project.id)
    .where('tag', 'in', tags)
    .execute();

export type MilestoneOfRelease = MilestoneWithPath & { release_id: number; total: number; closed: number };

/** What the records of some releases show beside their rows. */
export type ReleaseRelations = {
  authors: ReadonlyMap<number, UserBasicRow>;
  /** By the id of the release: links newest first, milestones and evidences oldest first. */
  links: ReadonlyMap<number, readonly LinkRow[]>;
  milestones: ReadonlyMap<number, readonly MilestoneOfRelease[]>;
  evidences: ReadonlyMap<number, readonly EvidenceRow[]>;
};

const byRelease = <Row extends { release_id: number }>(rows: readonly Row[]): Map<number, Row[]> =>
  Map.groupBy(rows, ({ release_id }) => release_id);

/** By one statement for all of them. */
export async function selectRelations(db: Db, rows: readonly ReleaseRow[]): Promise<ReleaseRelations> {
  if (rows.length === 0)
    return { authors: new Map(), links: new Map(), milestones: new Map(), evidences: new Map() };
  const ids = idArray(rows.map(({ id }) => id));
  const of = await readTagged<{
    authors: UserBasicRow;
    links: Omit<LinkRow, 'url'> & { description: string };
    milestones: MilestoneWithPath;
    held: { release_id: number; milestone_id: number; total: number; closed: number };
    evidences: EvidenceRow;
  }>(db, [
    taggedRows('authors', selectPeople(idArray(rows.map(({ author_id }) => author_id)))),
    // Under this name the addresses are counted among the texts that the request holds.
    taggedRows(
      'links',
      sql`select id, release_id, name, url as description, filepath, link_type from release_links
        where release_id = any(${ids})`,
      { isDescribed: true },
    ),
    taggedRows(
      'milestones',
      selectMilestonesOf(
        sql`array(select milestone_id from release_milestones where release_id = any(${ids}))`,
      ),
      { isDescribed: true },
    ),
    taggedRows(
      'held',
      sql`select rm.release_id, rm.milestone_id, i.total, i.closed
        from release_milestones rm join releases r on r.id = rm.release_id
        cross join lateral (select count(*) as total, count(*) filter (where i.state = 'closed') as closed from issues i
          where i.milestone_id = rm.milestone_id and i.project_id = r.project_id and not i.confidential) i
        where rm.release_id = any(${ids})`,
    ),
    taggedRows(
      'evidences',
      sql`select id, release_id, sha, collected_at from release_evidences where release_id = any(${ids})`,
    ),
  ]);
  const known = byId(of('milestones').map(milestoneOfJson));
  const milestones = of('held').flatMap(({ milestone_id, ...counts }): MilestoneOfRelease[] => {
    const milestone = known.get(milestone_id);
    return milestone ? [{ ...milestone, ...counts }] : [];
  });
  const links = of('links').map(({ description: url, ...link }) => ({ ...link, url }));
  return {
    authors: byId(of('authors')),
    links: byRelease(links.toSorted((a, b) => b.id - a.id)),
    milestones: byRelease(milestones.toSorted((a, b) => a.id - b.id)),
    evidences: byRelease(of('evidences').toSorted((a, b) => a.id - b.id)),
  };
}

/** The milestones that releases have, with the projects of these. */
export const selectHeldMilestones: RawBuilder<unknown> = sql`
  select r.project_id, rm.milestone_id from release_milestones rm join releases r on r.id = rm.release_id`;
