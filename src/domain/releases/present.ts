/** Releases as records: what is around a page of them is read once. */
import type { Static } from 'typebox';
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import type { Caller } from '../../kernel/actor.ts';
import type { Needs } from '../../kernel/services.ts';
import { presentUserBasic, type Surroundings } from '../../kernel/users/records.ts';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import type { Commit } from '../../platform/git/parse.ts';
import { escapeText, renderEach } from '../markdown/index.ts';
import { presentMilestone } from '../planning/index.ts';
import { presentCommit, projectUrl } from '../repositories/index.ts';
import { readTaggedCommits } from './commits.ts';
import { presentLink } from './links/present.ts';
import { type MilestoneOfRelease, type ReleaseRelations, selectRelations } from './queries.ts';
import type { ReleaseRow } from './release-row.ts';
import { countRendered, isUpcoming, listLinks, releaseName, releaseUrl, sourcesOf } from './rules.ts';
import type { GroupRelease, MilestoneWithStats, Release } from './schema.ts';

export type PresentContext = {
  db: Db;
  services: Needs<'database' | 'repositories' | 'registered' | 'baseUrl'>;
  settings: Surroundings['settings'];
  actor: Caller;
};

/** What is in the row itself. */
export const presentBasic = (row: ReleaseRow) => ({
  name: releaseName(row),
  tag_name: row.tag,
  description: row.description,
  created_at: row.created_at.toISOString(),
  released_at: row.released_at.toISOString(),
  upcoming_release: isUpcoming(row, now()),
});

function presentMilestones(
  baseUrl: string,
  project: AuthorizedProject,
  rows: readonly MilestoneOfRelease[],
): MilestoneWithStats[] {
  const counts = project.may('read_issues');
  return rows.map((row) => ({
    ...presentMilestone(row, { baseUrl, fullPath: row.full_path }),
    issue_stats: counts ? { total: row.total, closed: row.closed } : { total: 0, closed: 0 },
  }));
}

/** What those see of it who read the code. */
function presentCode(
  { url, project }: { url: string; project: AuthorizedProject },
  row: ReleaseRow,
  commit: Commit | undefined,
  evidences: ReleaseRelations['evidences'],
) {
  const self = releaseUrl(url, row.tag);
  return {
    commit: commit ? presentCommit(url, commit) : null,
    ...(commit && { commit_path: `/${project.fullPath}/-/commit/${commit.oid}` }),
    tag_path: `/${project.fullPath}/-/tags/${encodeURIComponent(row.tag)}`,
    evidences: (evidences.get(row.id) ?? []).map(({ id, sha, collected_at }) => ({
      sha,
      filepath: `${self}/evidences/${id}.json`,
      collected_at: new Date(collected_at).toISOString(),
    })),
  };
}

type OnProject = {
  project: AuthorizedProject;
  relations: ReleaseRelations;
  commits: ReadonlyMap<number, Commit>;
};

function presentRelease(
  { services, settings }: PresentContext,
  { project, relations, commits }: OnProject,
  row: ReleaseRow,
): Static<typeof Release> {
  const baseUrl = services.baseUrl();
  const url = projectUrl(baseUrl, project);
  const self = releaseUrl(url, row.tag);
  const author = relations.authors.get(row.author_id);
  if (!author) throw new Error(`the author of release ${row.id} is gone`);
  const readsCode = project.may('read_code');
  const links = (relations.links.get(row.id) ?? []).map((link) => presentLink(self, link));
  const sources = readsCode ? sourcesOf(url, project.row.path, row.tag) : [];
  return {
    ...presentBasic(row),
    author: presentUserBasic({ baseUrl, settings }, author),
    milestones: project.may('read_planning')
      ? presentMilestones(baseUrl, project, relations.milestones.get(row.id) ?? [])
      : [],
    ...(readsCode && presentCode({ url, project }, row, commits.get(row.id), relations.evidences)),
    assets: { count: sources.length + links.length, ...(readsCode && { sources }), links },
    _links: {
      self,
      ...(project.may('manage_releases') && { edit_url: `${self}/edit` }),
      ...listLinks(url, row.tag),
    },
  };
}

/** The descriptions as HTML; those for which there is no room left in the page as they are written. */
async function renderDescriptions(
  { services, actor }: PresentContext,
  project: AuthorizedProject,
  rows: readonly ReleaseRow[],
): Promise<string[]> {
  const texts = rows.map(({ description }) => description ?? '');
  const count = countRendered(texts.map(({ length }) => length));
  const rendered = await renderEach(
    texts.slice(0, count),
    { gfm: true },
    { services, reader: actor, project },
  );
  return [...rendered, ...texts.slice(count).map((text) => `<pre dir="auto">${escapeText(text)}</pre>`)];
}

/** The records of releases of one project, in their order; with the descriptions as HTML where that is asked. */
export async function presentReleases(
  context: PresentContext,
  project: AuthorizedProject,
  rows: readonly ReleaseRow[],
  { html = false }: { html?: boolean | undefined } = {},
): Promise<Static<typeof Release>[]> {
  const { services, db } = context;
  const [relations, commits, rendered] = await Promise.all([
    selectRelations(db, rows),
    project.may('read_code') ? readTaggedCommits(services, project, rows) : new Map<number, Commit>(),
    html ? renderDescriptions(context, project, rows) : [],
  ]);
  return rows.map((row, place) => ({
    ...presentRelease(context, { project, relations, commits }, row),
    ...(html && { description_html: rendered[place] ?? '' }),
  }));
}

export async function presentOne(
  context: PresentContext,
  project: AuthorizedProject,
  row: ReleaseRow,
  options?: { html?: boolean | undefined },
): Promise<Static<typeof Release>> {
  const [record] = await presentReleases(context, project, [row], options);
  if (!record) throw new Error('a release without a record');
  return record;
}

/** The records of releases of several projects, in their order. */
export async function presentAcross(
  context: PresentContext,
  rows: readonly (ReleaseRow & { full_path: string })[],
  projects: ReadonlyMap<string, AuthorizedProject>,
): Promise<Static<typeof GroupRelease>[]> {
  const relations = await selectRelations(context.db, rows);
  const records = new Map<number, Static<typeof Release>>();
  // One after the other: each has a repository of its own.
  for (const [path, own] of Map.groupBy(rows, ({ full_path }) => full_path.toLowerCase())) {
    const project = projects.get(path);
    // It moved meanwhile, or is no longer the caller's to read.
    if (!project) continue;
    const commits = project.may('read_code')
      ? await readTaggedCommits(context.services, project, own)
      : new Map<number, Commit>();
    for (const row of own) records.set(row.id, presentRelease(context, { project, relations, commits }, row));
  }
  return rows.flatMap(({ id }) => records.get(id) ?? []);
}
