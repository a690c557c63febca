/** Releases, as hooks are told of them (facts-merge-requests: 10.5). */
import {
  type HookContext,
  type HookEvent,
  type HookSample,
  type HookServices,
  hookCommit,
  hookProject,
  hookSource,
  hookText,
  readContext,
} from '../../hooks/index.ts';
import { projectRepository } from '../../repositories/index.ts';
import { type AnnouncedRelease, announcedRelease } from '../announced-release.ts';
import { commitOf } from '../commits.ts';
import { selectAnnouncedLinks } from '../links/queries.ts';
import { selectNewestRelease, selectReleaseById } from '../queries.ts';
import type { ReleaseRow } from '../release-row.ts';
import { releaseUrl, sourcesOf } from '../rules.ts';

type ReleaseFact = { project_id: number; release_id: number; gone?: AnnouncedRelease };
type Action = 'create' | 'update' | 'delete';

async function releaseEvent(
  services: HookServices,
  { around, project: row }: HookContext,
  { links, sha, ...release }: AnnouncedRelease,
  action: Action,
): Promise<HookEvent> {
  const project = hookProject(around, row);
  const key = projectRepository(row.id);
  const commit = await services.repositories.read(key, row.repository_storage, (git) =>
    commitOf(git, { tag: release.tag, sha }),
  );
  const sources = sourcesOf(project.web_url, row.path, release.tag);
  const body = {
    object_kind: 'release',
    ...release,
    description: hookText(around, row, release.description),
    project,
    url: releaseUrl(project.web_url, release.tag),
    action,
    assets: { count: sources.length + links.length, links, sources },
    commit: commit ? hookCommit(project.web_url, commit) : null,
  };
  return { flag: 'releases_events', body };
}

const readAnnounced = async ({ database }: HookServices, row: ReleaseRow): Promise<AnnouncedRelease> =>
  announcedRelease(row, await selectAnnouncedLinks(database.background, row.id));

async function eventsOf(
  services: HookServices,
  { project_id, release_id, gone }: ReleaseFact,
  action: Action,
): Promise<HookEvent[]> {
  const context = await readContext(services, project_id, undefined);
  const row = gone ? undefined : await selectReleaseById(services.database.background, release_id);
  const release = gone ?? (row && (await readAnnounced(services, row)));
  return context && release ? [await releaseEvent(services, context, release, action)] : [];
}

const actions = {
  release_created: 'create',
  release_updated: 'update',
  release_deleted: 'delete',
} as const satisfies Record<string, Action>;

export const releaseHooks = Object.entries(actions).map(([fact, action]) =>
  hookSource<ReleaseFact>({
    fact,
    flags: ['releases_events'],
    eventsOf: (services, payload) => eventsOf(services, payload, action),
  }),
);

export const releaseSample: HookSample = {
  flag: 'releases_events',
  async eventFor(services, { projectId }) {
    const newest = await selectNewestRelease(services.database.background, projectId);
    const [event] = newest
      ? await eventsOf(services, { project_id: projectId, release_id: newest.id }, 'create')
      : [];
    return event ?? { missing: 'Ensure the project has releases.' };
  },
};
