/** Pulls a project from another server: objects first, then refs, by the rules of a push of the mirror's user. */
import { instanceLimit, selectUsage } from '../../../kernel/repository-size/actions.ts';
import { judge as judgeSize, pushRefusal, type Usage } from '../../../kernel/repository-size/rules.ts';
import { type ApplicationSettings, firstBranchName } from '../../../kernel/settings/definitions.ts';
import { now } from '../../../platform/clock.ts';
import { packManyRefs } from '../../../platform/git/copies/housekeeping.ts';
import { isAncestor } from '../../../platform/git/merging/merge.ts';
import { isWritableRef, shortRef } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { refsBelow } from '../../../platform/git/refs.ts';
import { fetchFrom } from '../../../platform/git/remotes/remotes.ts';
import {
  type RefUpdate,
  removeStaleLocks,
  syncNewObjects,
  syncRefNames,
  updateRefs,
} from '../../../platform/git/write.ts';
import { findUserOfProject } from '../../conversation/index.ts';
import { countWrite, guardRefs, projectRepository, recordPush } from '../../repositories/index.ts';
import type { MirrorRow } from '../queries.ts';
import { mustFollow, pulledUpdates, type Refs } from '../rules.ts';
import { branchFilter, largestRun, listed, openMirror, Refused, type RunServices } from './remote-run.ts';
import { nameFirstBranch } from './run-actions.ts';

type Guard = Awaited<ReturnType<typeof guardRefs>>;

/** What brings a new project its first refs is no push. */
const ofNewProject = { refusal: () => undefined, mayForce: () => false };

/** Which updates are made, and those that are not with the reason. */
async function judge(
  git: GitFolder,
  updates: readonly RefUpdate[],
  guard: Pick<Guard, 'refusal' | 'mayForce'>,
  overwrites: boolean,
): Promise<{ moves: RefUpdate[]; problems: string[] }> {
  const moves: RefUpdate[] = [];
  const problems: string[] = [];
  for (const update of updates) {
    const { ref, before, after } = update;
    const short = shortRef(ref);
    const mayForce = short?.kind !== 'branch' || guard.mayForce(short.name);
    const object = await git.info(after);
    const refusal = guard.refusal(update);
    if (!object || (short?.kind === 'branch' && object.type !== 'commit'))
      problems.push(`${ref}: is no commit`);
    else if (refusal !== undefined) problems.push(`${ref}: ${refusal}`);
    else if (mustFollow(update, overwrites && mayForce) && !(await isAncestor(git, before, after)))
      problems.push(`${ref}: ${overwrites ? 'is protected from force pushes' : 'has diverged'}`);
    else moves.push(update);
  }
  return { moves, problems };
}

/** A run brings no more than there is room for when it begins; what it brought counts as soon as it is measured. */
const roomFor = ({ limit, size }: Usage, settings: ApplicationSettings) =>
  limit === 0 ? {} : { bytes: Math.min(largestRun(settings), Math.max(limit - size, LEAST_BYTES)) };

/** Enough for the list of a remote's refs and an answer that there is nothing new. */
const LEAST_BYTES = 1_048_576;

const localRefs = async (git: GitFolder): Promise<Refs> =>
  new Map((await refsBelow(git, ['refs/heads/', 'refs/tags/'])).map(({ name, oid }) => [name, oid]));

/** Brings the project up to what the remote has; throws where it could not be, or not all of it. */
export async function pull(services: RunServices, row: MirrorRow, signal: AbortSignal): Promise<void> {
  const { repositories, database } = services;
  const settings = await services.settings.read();
  const user =
    row.user_id === null ? undefined : await findUserOfProject(services, row.project_id, row.user_id);
  if (!user?.project.may('manage_mirrors'))
    throw new Refused('The mirror user is not allowed to push code to all branches on this project.');
  const { actor, project } = user;
  const usage = await selectUsage(database.background, project.id, instanceLimit(services, settings));
  if (judgeSize(usage, 0) !== 'fits') throw new Refused(pushRefusal(usage));
  const remote = await openMirror(services, settings, row, 'upload-pack', signal, roomFor(usage, settings));
  const { refs, head } = remote.advertisement;
  const first = head === undefined ? undefined : shortRef(head)?.name;
  if (first !== undefined && refs.has(`refs/heads/${first}`) && isWritableRef(`refs/heads/${first}`))
    await nameFirstBranch(database.background, project.id, first);
  const key = projectRepository(project.id);
  const isImport = !row.enabled;
  const branch = project.row.default_branch ?? first ?? firstBranchName(settings);
  // What fails here wrote nothing that is not recorded: it is thrown when the repository is released.
  const outcome = await repositories.write(key, branch, (git) =>
    bring(git).then(
      (problems) => ({ problems, error: undefined }),
      (error: unknown) => ({ problems: [], error }),
    ),
  );
  services.wake();
  if (outcome.error !== undefined) throw outcome.error;
  if (outcome.problems.length > 0)
    throw new Refused(listed('Some refs have not been updated:', outcome.problems));

  /** What could not be brought, with the reasons. */
  async function bring(git: GitFolder): Promise<string[]> {
    const guard = await guardRefs(database.background, project, actor, settings);
    const filter = await branchFilter(row, guard.isProtected);
    const wanted = pulledUpdates(await localRefs(git), refs, filter);
    const good = wanted.filter(({ ref }) => isWritableRef(ref));
    const others = wanted.filter(({ ref }) => !isWritableRef(ref));
    const since = now();
    const names = good.map(({ ref }) => ref);
    let brought = false;
    try {
      await fetchFrom(git.folder, names, remote, signal);
      const rules = isImport ? ofNewProject : guard;
      const { moves, problems } = await judge(git, good, rules, row.overwrites ?? false);
      if (moves.length > 0) await move(git, moves, since);
      brought = problems.length === 0;
      return [...others.map(({ ref }) => `${ref}: no such name is possible here`), ...problems];
    } finally {
      // What was fetched and nothing reaches goes by the repacking of the repository, which counts writes.
      if (!brought) await countWrite(database.background, key);
    }
  }

  /** Moves the refs and records it as a push, which is made up for if the process dies in between. */
  async function move(git: GitFolder, updates: readonly RefUpdate[], since: Date): Promise<void> {
    const lease = await repositories.lease(key, 'write', {
      userId: actor.id,
      updates: updates.slice(0, MAX_KEPT),
    });
    let isWhole = false;
    try {
      const names = updates.map(({ ref }) => ref);
      await removeStaleLocks(git.folder, names);
      await syncNewObjects(git.folder, since);
      await updateRefs(git.folder, updates);
      await syncRefNames(git.folder, names);
      const empty = project.row.empty_repo;
      // An import is no push of anybody's, and starts nothing.
      await recordPush(services, { id: project.id, empty }, isImport ? undefined : actor, git, updates, {
        confirmed: lease.confirm(),
        byJob: isImport || !row.trigger_builds,
      });
      isWhole = true;
    } finally {
      await lease.release(!isWhole);
    }
    await packManyRefs(git.folder);
  }
}

/** Updates that are kept for the record of a pull that is interrupted. */
const MAX_KEPT = 1_000;
