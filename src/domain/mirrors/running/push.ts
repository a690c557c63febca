/** Pushes a project's branches and tags to another server. */

import { isAncestor } from '../../../platform/git/merging/merge.ts';
import { isWritableRef } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { NoRepository } from '../../../platform/git/program/program.ts';
import { refsBelow } from '../../../platform/git/refs.ts';
import { pushTo } from '../../../platform/git/remotes/remotes.ts';
import { guardRefs, projectRepository } from '../../repositories/index.ts';
import type { MirrorRow } from '../queries.ts';
import { pushedUpdates, type Refs } from '../rules.ts';
import { branchFilter, listed, openMirror, Refused, type RunServices } from './remote-run.ts';

/** None where the repository is not there yet. */
async function localRefs(git: GitFolder): Promise<Refs> {
  try {
    return new Map((await refsBelow(git, ['refs/heads/', 'refs/tags/'])).map(({ name, oid }) => [name, oid]));
  } catch (error) {
    if (error instanceof NoRepository) return new Map();
    throw error;
  }
}

/** Whether a commit of the remote's is behind ours, or where there is none of ours behind HEAD: then it is not lost. */
const behindIn =
  (git: GitFolder) =>
  async (theirs: string, ours: string | undefined): Promise<boolean> => {
    if (!(await git.info(theirs))) return false;
    const into = ours ?? (await git.info('HEAD'))?.oid;
    return into !== undefined && isAncestor(git, theirs, into);
  };

/** Brings the remote up to what the project has; throws where it could not be, or not all of it. */
export async function push(services: RunServices, row: MirrorRow, signal: AbortSignal): Promise<void> {
  const settings = await services.settings.read();
  const lease = await services.repositories.lease(projectRepository(row.project_id), 'read');
  try {
    const { git } = lease;
    const local = await localRefs(git);
    if (local.size === 0) return;
    const remote = await openMirror(services, settings, row, 'receive-pack', signal);
    const project = { id: row.project_id, role: 0 } as const;
    const { isProtected } = await guardRefs(services.database.background, project, undefined, settings);
    const filter = await branchFilter(row, isProtected);
    const behind = row.overwrites === false ? behindIn(git) : undefined;
    // Names that are none here cannot be asked for.
    const there = new Map([...remote.advertisement.refs].filter(([ref]) => isWritableRef(ref)));
    const { updates, divergent } = await pushedUpdates(local, there, filter, behind);
    const refused = await pushTo(git.folder, updates, remote, signal);
    if (refused.size > 0)
      throw new Refused(
        listed(
          'The remote has refused some refs:',
          [...refused].map(([ref, words]) => `${ref}: ${words}`),
        ),
      );
    if (divergent.length > 0)
      throw new Refused(
        listed('Some refs have diverged and have not been updated on the remote:', divergent),
      );
  } finally {
    await lease.release();
  }
}
