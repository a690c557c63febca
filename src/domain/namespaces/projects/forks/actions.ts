/**
 * Forks: a project with a repository of its own, whose objects are the source's by hard links where one disk has both. A
 * fork is empty until its repository is whole; if the process dies before that, it stays empty, and can be used or deleted.
 */
import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import { announce } from '../../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../../kernel/actor.ts';
import { markProjectDeleting } from '../../../../kernel/namespaces/erasure-actions.ts';
import { projectSettings } from '../../../../kernel/namespaces/project-settings.ts';
import type { VisibilityName } from '../../../../kernel/policy/roles.ts';
import type { Needs } from '../../../../kernel/services.ts';
import { type ApplicationSettings, firstBranchName } from '../../../../kernel/settings/definitions.ts';
import { now } from '../../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../../platform/db/database.ts';
import { Failure, forbidden, notFound } from '../../../../platform/failure.ts';
import { createShare } from '../../../../platform/fair-share.ts';
import { forkRepository } from '../../../../platform/git/copies/fork.ts';
import type { GitFolder } from '../../../../platform/git/objects.ts';
import { findBranch, listRefs } from '../../../../platform/git/refs.ts';
import { setHead } from '../../../../platform/git/write.ts';
import { copyObjects } from '../../../lfs/index.ts';
import { countWrite, projectRepository, protectFirstBranch } from '../../../repositories/index.ts';
import { createProject, findTargetNamespace, projectEntity } from '../changes/actions.ts';
import { lockVisibility } from '../changes/lock-queries.ts';
import { countForks } from '../changes/relation-actions.ts';
import type { ForkProject } from '../changes/schema.ts';
import { forkVisibility, inheritedSettings, isMoreOpen } from './rules.ts';

/** A fork reads every commit of the source: more at once would only wait for each other. */
const forking = createShare({
  of: 'forks being made',
  places: 4,
  perCaller: 2,
  waitingPerCaller: 10,
  waiting: 100,
  timeoutMs: 5_000,
});

/** A setting of the project decides besides the role who may fork (facts: Projects core). */
function refuseFork(source: AuthorizedProject): void {
  const { forking_access_level: level } = projectSettings(source.row);
  if (level === 'disabled' || (level === 'private' && source.role === 0)) throw forbidden();
}

/** Forks the project and returns the id of the fork, whose repository is whole; 409 where its path or name is taken. */
export async function forkProject(
  services: Needs<'config' | 'database' | 'repositories' | 'registered'>,
  settings: ApplicationSettings,
  actor: Actor,
  source: AuthorizedProject,
  input: ForkProject,
): Promise<number> {
  refuseFork(source);
  const { branches: branch } = input;
  if (branch !== undefined && !(await hasBranch(services, source, branch))) throw notFound('Branch');
  const reference = input.namespace_id ?? input.namespace_path ?? input.namespace;
  const target = reference === undefined ? undefined : await findTargetNamespace(services, actor, reference);
  const visibility =
    input.visibility ??
    forkVisibility({
      source: source.row.visibility,
      group: target?.kind === 'group' ? target.visibility : undefined,
      restricted: actor.admin ? [] : settings.restricted_visibility_levels,
    });
  refuseMoreOpen(visibility, source.row.visibility);
  const fork = {
    ...inheritedSettings(projectSettings(source.row)),
    name: input.name ?? source.row.name,
    path: input.path ?? source.row.path,
    visibility,
    ...(target && { namespace_id: target.id }),
    ...describe(input.description ?? source.row.description),
    ...(input.mr_default_target_self !== undefined && {
      mr_default_target_self: input.mr_default_target_self,
    }),
  };
  return forking.run(async () => {
    const id = await createProject(services, settings, actor, fork, actor, (tx, forkId) =>
      relate(tx, actor, source, { id: forkId, visibility }),
    );
    await fillOrUndo(services, settings, source, id, branch);
    return id;
  });
}

function refuseMoreOpen(visibility: VisibilityName, source: number): void {
  if (!isMoreOpen(visibility, source)) return;
  const text = `${visibility} is not allowed since the fork source project has lower visibility.`;
  throw new Failure('conflict', { visibility_level: [text] });
}

const describe = (description: string | null) => (description === null ? {} : { description });

const hasBranch = async (
  { repositories }: Needs<'repositories'>,
  source: AuthorizedProject,
  branch: string,
) =>
  (await repositories.read(projectRepository(source.id), source.row.repository_storage, (git) =>
    findBranch(git, branch),
  )) !== undefined;

/** The fork is in its source's storage: only there can they share objects. */
async function relate(
  tx: Db,
  actor: Actor,
  source: AuthorizedProject,
  { id, visibility }: { id: number; visibility: VisibilityName },
): Promise<void> {
  // The source may have been hidden, or deleted, since the caller was authorized.
  const current = await lockVisibility(tx, source.id);
  if (current === undefined) throw notFound('Project');
  refuseMoreOpen(visibility, current);
  await ahead(tx)
    .updateTable('projects')
    .set((eb) => ({
      forked_from_id: source.id,
      repository_storage: eb
        .selectFrom('projects as s')
        .select('s.repository_storage')
        .where('s.id', '=', source.id),
    }))
    .where('id', '=', id)
    .execute();
  await countForks(tx, source.id, 1);
  await announce(tx, {
    author: actor,
    audit: {
      entity: projectEntity(source.id, source.fullPath),
      event: 'project_forked',
      details: { target_id: id, target_type: 'Project', target_details: source.fullPath },
    },
  });
}

async function fillOrUndo(
  services: Needs<'database' | 'repositories'>,
  settings: ApplicationSettings,
  source: AuthorizedProject,
  id: number,
  branch: string | undefined,
): Promise<void> {
  const { db } = services.database;
  try {
    await fill(services, settings, source, id, branch);
  } catch (error) {
    await inTransaction(db, (tx) => markProjectDeleting(tx, id));
    throw error;
  }
}

/** Copies the source's repository into the fork, under a lease on the source; nothing where it is empty. */
async function fill(
  services: Needs<'database' | 'repositories'>,
  settings: ApplicationSettings,
  source: AuthorizedProject,
  id: number,
  branch: string | undefined,
): Promise<void> {
  if (source.row.empty_repo) return;
  const { repositories, database } = services;
  const reading = await repositories.lease(projectRepository(source.id), 'read');
  try {
    const wished = branch ?? source.row.default_branch ?? firstBranchName(settings);
    const key = projectRepository(id);
    await repositories.write(key, wished, async (git) => {
      await forkRepository(reading.git.folder, git.folder, branch);
      const first = await chooseDefault(git, wished);
      await inTransaction(database.db, async (tx) => {
        // Whatever its commits name is there by now; one without a branch may have tags.
        await copyObjects(tx, { from: source.id, to: id });
        if (first === undefined) return;
        await ahead(tx)
          .updateTable('projects')
          .set({ empty_repo: false, default_branch: first, last_activity_at: now() })
          .where('id', '=', id)
          .execute();
        await protectFirstBranch(tx, id, first, settings);
        await countWrite(tx, key);
      });
    });
  } finally {
    await reading.release();
  }
}

/** The requested branch where it exists, else the first of all; HEAD names it from then on. */
async function chooseDefault(git: GitFolder, wished: string): Promise<string | undefined> {
  const names = (await listRefs(git, 'branch')).map(({ name }) => name);
  const chosen = names.includes(wished) ? wished : names[0];
  if (chosen !== undefined) await setHead(git.folder, chosen);
  return chosen;
}
