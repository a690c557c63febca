/** Removes the refs of deleted merge requests: what nothing else holds is not kept for them. */
import { reachProject } from '../../../kernel/access/find.ts';
import type { Needs } from '../../../kernel/services.ts';
import { NO_OBJECT } from '../../../platform/git/names.ts';
import { readRef, refsBelow } from '../../../platform/git/refs.ts';
import { syncRefNames, updateRefs } from '../../../platform/git/write.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import { projectRepository } from '../../repositories/index.ts';
import { fetchedRef, refFolders } from './version-refs.ts';

export const REMOVE_REFS = 'merge_requests.remove_refs';

/** After `merge_request_deleted`; the number is not given again. */
export const removeRefs =
  ({ database, repositories }: Needs<'database' | 'repositories'>): Task =>
  async (payload) => {
    const { project_id, iid } = payload as { project_id: number; iid: number };
    const project = await reachProject(database.points, project_id);
    if (!project) return;
    const main = project.row.default_branch ?? 'main';
    await repositories.write(projectRepository(project_id), main, async (git) => {
      const own = await refsBelow(git, refFolders(iid));
      const names = [...new Set(own.map(({ oid }) => fetchedRef(oid)))];
      const fetched = await Promise.all(
        names.map(async (name) => ({ name, oid: (await readRef(git, name)) ?? NO_OBJECT })),
      );
      const all = [...own, ...fetched.filter(({ oid }) => oid !== NO_OBJECT)];
      if (all.length === 0) return;
      const updates = all.map(({ name, oid }) => ({ ref: name, before: oid, after: NO_OBJECT }));
      await updateRefs(git.folder, updates);
      await syncRefNames(
        git.folder,
        updates.map(({ ref }) => ref),
      );
    });
  };
