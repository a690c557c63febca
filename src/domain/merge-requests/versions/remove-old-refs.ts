/** Removes the refs by which git fetches merge requests that ended long ago (facts: Side effects of merge). Their commits stay. */
import { reachProject } from '../../../kernel/access/find.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { NO_OBJECT } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { type Ref, refsBelow } from '../../../platform/git/refs.ts';
import { RefMoved } from '../../../platform/git/write.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import { projectRepository, readRepository } from '../../repositories/index.ts';
import { type Ended, markRefsRemoved, selectEnded } from './ended-actions.ts';
import { setRefs, setSourceRef, setting } from './set-refs.ts';
import { fetchedFolder, keptRef, sourceRef } from './version-refs.ts';

export const REMOVE_OLD_REFS = 'merge_requests.remove_old_refs';

const KEPT_DAYS = 14;
/** Looked at by one run, and those of one project by one run of git. */
const MAX_ENDED = 1_000;
const MAX_AT_ONCE = 100;

type OldRefServices = Needs<'database' | 'repositories' | 'log'>;

/** Removes the refs; what they hold is kept for the merge requests. */
async function removeAll(git: GitFolder, ended: readonly Ended[], refs: readonly Ref[]): Promise<void> {
  const iids = new Map(ended.map(({ iid }) => [sourceRef(iid), iid]));
  const kept = refs.map(({ name, oid }) => {
    const iid = iids.get(name);
    return iid === undefined ? undefined : setting(git, keptRef(iid, oid), oid);
  });
  const removed = refs.map(({ name, oid }) => ({ ref: name, before: oid, after: NO_OBJECT }));
  await setRefs(git, [...(await Promise.all(kept)), ...removed]);
}

/** Of one project. One that is reopened meanwhile has its ref again. */
async function removeOf(services: OldRefServices, projectId: number, ended: readonly Ended[]): Promise<void> {
  const { points, background } = services.database;
  const project = await reachProject(points, projectId);
  if (!project) return;
  const folders = ended.map(({ iid }) => fetchedFolder(iid));
  const refs = (await readRepository(services, project, (git) => refsBelow(git, folders))) ?? [];
  const write = (work: (git: GitFolder) => Promise<void>) =>
    services.repositories.write(projectRepository(projectId), project.row.default_branch ?? 'main', work);
  if (refs.length > 0) await write((git) => removeAll(git, ended, refs));
  const marked = await markRefsRemoved(background, ended);
  for (const { id, iid, head_sha } of ended)
    if (!marked.has(id)) await write((git) => setSourceRef(git, iid, () => head_sha));
}

/** The task of the clock: a slice after the last one. A project whose refs cannot be removed now keeps none of the others waiting. */
export function removeOldRefs(services: OldRefServices): Task {
  const { background } = services.database;
  let last = 0;
  return async () => {
    const before = new Date(now().getTime() - KEPT_DAYS * 86_400_000);
    const all = await selectEnded(background, before, last, MAX_ENDED);
    last = all.length < MAX_ENDED ? 0 : (all.at(-1)?.id ?? 0);
    for (const [projectId, ended = []] of Map.groupBy(all, ({ project_id }) => project_id))
      for (let at = 0; at < ended.length; at += MAX_AT_ONCE)
        try {
          await removeOf(services, projectId, ended.slice(at, at + MAX_AT_ONCE));
        } catch (error) {
          // What another request changes at the same time is for the next run.
          if (!(error instanceof RefMoved))
            services.log.error('refs of ended merge requests stay', error, { project_id: projectId });
        }
  };
}
