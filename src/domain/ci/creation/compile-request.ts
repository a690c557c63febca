/** What a pipeline of a ref by a user is compiled with, whether it is made or only simulated. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import type { Services } from '../../../kernel/services.ts';
import { version } from '../../../package.ts';
import { now } from '../../../platform/clock.ts';
import { changedPaths } from '../../../platform/git/history/changed-files.ts';
import { fullRef, isRefName, NO_OBJECT } from '../../../platform/git/names.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { findCommit, peelToCommit } from '../../../platform/git/refs.ts';
import { guardRefs, readRepository } from '../../repositories/index.ts';
import type { CompileRequest } from '../file/compile.ts';
import type { ContextVariable } from '../file/context.ts';
import type { Json } from '../file/plan.ts';
import { createFiles } from './files.ts';
import { predefinedVariables } from './predefined.ts';
import { selectKeptVariables, selectStarter } from './queries.ts';

export type CreationServices = Pick<
  Services,
  'config' | 'database' | 'settings' | 'repositories' | 'outbound' | 'secretKey' | 'baseUrl'
>;

export type PipelineVariable = { key: string; value: string; variable_type?: 'env_var' | 'file' | undefined };

export type RefRequest = {
  /** The name of a branch or tag; of both, the branch is meant unless `tag` says. */
  ref: string;
  tag?: boolean;
  /** The commit that was pushed; otherwise the ref's present one. */
  sha?: string;
};

export type PipelineRequest = RefRequest & {
  source: 'push' | 'api' | 'trigger' | 'schedule' | 'web';
  /** Where a push came from. */
  beforeSha?: string;
  variables?: readonly PipelineVariable[];
  inputs?: Record<string, Json>;
  /** An option of the push asks for no jobs. */
  skip?: boolean;
  /** A push is heard more than once. */
  factId?: number;
  trigger?: { id: number; token: string };
  /** Of one that is due, the time: it makes one pipeline, though the work may be done twice. */
  schedule?: { id: number; due?: Date };
  scheduleDescription?: string;
};

export type Creator = { services: CreationServices; actor: Actor; subject: AuthorizedProject };

const DEFAULT_PATH = '.gitlab-ci.yml';

export type PipelineTarget = { commit: Commit; tag: boolean; tagMessage: string | null };

/** The commit of the request; undefined where there is none of that name. */
export const findTarget = (
  { services, subject }: Creator,
  request: RefRequest,
): Promise<PipelineTarget | undefined> =>
  readRepository(services, subject, async (git) => {
    // Git would walk from `main~1`, which no protection names.
    if (!isRefName(request.ref)) return undefined;
    const branch = request.tag ? undefined : await peelToCommit(git, fullRef('branch', request.ref));
    const tag =
      branch || request.tag === false ? undefined : await peelToCommit(git, fullRef('tag', request.ref));
    const found = branch ?? tag;
    const commit = request.sha === undefined ? found : await findCommit(git, request.sha);
    return found && commit && { commit, tag: branch === undefined, tagMessage: null };
  }).then((target) => target ?? undefined);

export type RightOnRef = { isProtected: boolean; mayRun: boolean };

/** Whether the user may run pipelines of the ref, as far as its protection goes. */
export async function rightOnRef(
  { services, actor, subject }: Creator,
  ref: string,
  { commit, tag }: PipelineTarget,
): Promise<RightOnRef> {
  const guard = await guardRefs(services.database.db, subject, actor, await services.settings.read());
  const isProtected = tag ? guard.isProtectedTag(ref) : guard.isProtected(ref);
  const mayPush = tag
    ? guard.refusal({ ref: fullRef('tag', ref), before: NO_OBJECT, after: commit.oid }) === undefined
    : guard.mayPush(ref) || guard.mayMerge(ref);
  return { isProtected, mayRun: !isProtected || mayPush };
}

/** Whether the user may run pipelines of the ref, as it is now; of one that is gone nothing forbids them. */
export async function mayRunRef(creator: Creator, request: RefRequest): Promise<boolean> {
  const target = await findTarget(creator, request);
  return !target || (await rightOnRef(creator, request.ref, target)).mayRun;
}

/** Where the project's configuration file is. */
export const configPathOf = ({ row }: Pick<AuthorizedProject, 'row'>): string =>
  projectSettings(row).ci_config_path || DEFAULT_PATH;

/** The configuration file of a commit; undefined without one. */
export const readConfiguration = (
  { services, actor, subject }: Creator,
  { oid }: Commit,
): Promise<string | undefined> =>
  createFiles(services, actor, subject).read(configPathOf(subject), { project: subject.fullPath, sha: oid });

/** Without the right, without the variables that are kept for pipelines. */
export async function compileRequest(
  creator: Creator,
  request: PipelineRequest,
  { commit, tag, tagMessage }: PipelineTarget,
  { isProtected, mayRun }: RightOnRef,
  text: string,
): Promise<CompileRequest> {
  const { services, actor, subject } = creator;
  const { db } = services.database;
  const { source, ref, beforeSha = NO_OBJECT, variables = [] } = request;
  const predefined = predefinedVariables({
    baseUrl: services.baseUrl(),
    apiVersion: version.api,
    revision: version.revision,
    project: { ...subject.row, fullPath: subject.fullPath },
    configPath: configPathOf(subject),
    commit,
    ref,
    tag,
    tagMessage,
    protected: isProtected,
    beforeSha,
    source,
    createdAt: now(),
    user: await selectStarter(db, actor.id),
    triggerToken: request.trigger?.token,
    scheduleDescription: request.scheduleDescription,
  });
  const kept = mayRun ? await selectKeptVariables(db, subject.row, isProtected, services.secretKey) : [];
  return {
    text,
    ...(request.inputs && { inputs: request.inputs }),
    files: createFiles(services, actor, subject),
    context: {
      at: { project: subject.fullPath, sha: commit.oid },
      source,
      ref,
      refKind: tag ? 'tag' : 'branch',
      predefined,
      overriding: [
        ...kept.filter(({ environmentScope }) => environmentScope === '*'),
        ...variables.map(
          ({ key, value, variable_type }): ContextVariable => ({
            key,
            value,
            file: variable_type === 'file',
          }),
        ),
      ],
      changedPaths: (compareTo) =>
        pathsChanged(creator, commit, source === 'push' ? beforeSha : NO_OBJECT, compareTo),
    },
  };
}

/** Of a push, the paths that it changed; of other pipelines, there is nothing to compare with. */
async function pathsChanged(
  { services, subject }: Creator,
  commit: Commit,
  beforeSha: string,
  compareTo: string | null,
): Promise<readonly string[] | 'unknown' | 'no_ref'> {
  if (compareTo === null && beforeSha === NO_OBJECT) return 'unknown';
  const paths = await readRepository(services, subject, async (git) => {
    const base = await findCommit(git, compareTo ?? beforeSha);
    if (!base) return compareTo === null ? 'unknown' : 'no_ref';
    const [changed] = await changedPaths(git, [{ from: base.tree, to: commit.tree }]);
    return changed ? [...changed.added, ...changed.modified, ...changed.removed] : 'unknown';
  });
  return paths ?? 'unknown';
}
