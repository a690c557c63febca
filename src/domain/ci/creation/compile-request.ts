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
import { findCommit, peelToCommit, readTagMessage } from '../../../platform/git/refs.ts';
import { guardRefs, publishedAt, readRepository } from '../../repositories/index.ts';
import type { CompileRequest } from '../file/compile.ts';
import type { ContextVariable, Files, PipelineContext } from '../file/context.ts';
import type { Json } from '../file/plan.ts';
import { selectFrozen } from '../freeze-periods/queries.ts';
import { valueNamed } from '../pipelines/refs.ts';
import { createFiles } from './files.ts';
import { findOpenMergeRequests } from './open-merge-requests.ts';
import { predefinedVariables, type Upstream } from './predefined.ts';
import { selectKeptVariables, selectStarter } from './queries.ts';
import { includedInstead, type RightOnRef, rightOnMergeRequest } from './rules.ts';

export type CreationServices = Pick<
  Services,
  | 'config'
  | 'database'
  | 'settings'
  | 'instance'
  | 'repositories'
  | 'outbound'
  | 'secretKey'
  | 'baseUrl'
  | 'registered'
>;

export type PipelineVariable = {
  key: string;
  value: string;
  variable_type?: 'env_var' | 'file' | undefined;
  /** Nothing in it is a reference. */
  raw?: boolean;
};

export type RefRequest = {
  /** The name of a branch or tag; of both, the branch is meant unless `tag` says. */
  ref: string;
  tag?: boolean;
  /** The commit that was pushed; otherwise the ref's present one. */
  sha?: string;
  /** The merge request whose pipeline it is: `ref` is its source branch then. */
  mergeRequest?: PipelineMergeRequest;
};

/** What a pipeline is told of its merge request. */
export type PipelineMergeRequest = {
  id: number;
  iid: number;
  sourceProjectId: number;
  targetProjectId: number;
  targetBranch: string;
  /** Its newest commit. */
  headSha: string;
  /** CI_MERGE_REQUEST_ID …; they are read where there is a file to compile. */
  variables: () => Promise<readonly ContextVariable[]>;
};

export type PipelineRequest = RefRequest & {
  source:
    | 'push'
    | 'api'
    | 'trigger'
    | 'schedule'
    | 'web'
    | 'merge_request_event'
    | 'pipeline'
    | 'parent_pipeline';
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
  /** The job of another pipeline that starts this one: it makes one, though the work may be done twice. */
  bridge?: Upstream;
  /** The job by whose token somebody starts it, of which there may be many. */
  tokenJob?: Upstream;
  /** What a child is made of; others are made of the project's file at the commit. */
  configuration?: { text: string; artifact: NonNullable<Files['artifact']> };
};

export type Creator = { services: CreationServices; actor: Actor; subject: AuthorizedProject };

const DEFAULT_PATH = '.gitlab-ci.yml';

export type PipelineTarget = { commit: Commit; kind: PipelineContext['refKind']; tagMessage: string | null };

/** The commit of the request; undefined where there is none of that name. */
export const findTarget = (
  { services, subject }: Creator,
  request: RefRequest,
): Promise<PipelineTarget | undefined> =>
  readRepository(services, subject, async (git): Promise<PipelineTarget | undefined> => {
    if (request.mergeRequest) {
      const head = await findCommit(git, request.mergeRequest.headSha);
      return head && { commit: head, kind: 'merge_request', tagMessage: null };
    }
    // Git would walk from `main~1`, which no protection names.
    if (!isRefName(request.ref)) return undefined;
    const branch = request.tag ? undefined : await peelToCommit(git, fullRef('branch', request.ref));
    const tag =
      branch || request.tag === false ? undefined : await peelToCommit(git, fullRef('tag', request.ref));
    const found = branch ?? tag;
    const commit = request.sha === undefined ? found : await findCommit(git, request.sha);
    const tagMessage = tag ? await readTagMessage(git, request.ref) : null;
    return found && commit && { commit, kind: branch ? 'branch' : 'tag', tagMessage };
  }).then((target) => target ?? undefined);

/** Whether the user may run pipelines of the ref, as far as its protection goes. */
export async function rightOnRef(
  { services, actor, subject }: Creator,
  { ref, mergeRequest }: RefRequest,
  { commit, kind }: PipelineTarget,
): Promise<RightOnRef> {
  const guard = await guardRefs(services.database.db, subject, actor, await services.settings.read());
  const onBranch = (name: string): RightOnRef => {
    const isProtected = guard.isProtected(name);
    return { isProtected, mayRun: !isProtected || guard.mayPush(name) || guard.mayMerge(name) };
  };
  if (mergeRequest) return rightOnMergeRequest(subject.id, ref, mergeRequest, onBranch);
  if (kind !== 'tag') return onBranch(ref);
  const isProtected = guard.isProtectedTag(ref);
  const update = { ref: fullRef('tag', ref), before: NO_OBJECT, after: commit.oid };
  return { isProtected, mayRun: !isProtected || guard.refusal(update) === undefined };
}

/** Whether the user may run pipelines of the ref, as it is now; of one that is gone nothing forbids them. */
export async function mayRunRef(creator: Creator, request: RefRequest): Promise<boolean> {
  const target = await findTarget(creator, request);
  return !target || (await rightOnRef(creator, request, target)).mayRun;
}

/** Where the project's configuration file is. */
export const configPathOf = ({ row }: Pick<AuthorizedProject, 'row'>): string =>
  projectSettings(row).ci_config_path || DEFAULT_PATH;

/** The configuration file of a commit; undefined without one. */
export async function readConfiguration(
  { services, actor, subject }: Creator,
  { oid }: Commit,
): Promise<string | undefined> {
  const path = configPathOf(subject);
  const at = { project: subject.fullPath, sha: oid };
  return includedInstead(path) ?? createFiles(services, actor, subject).read(path, at);
}

/** What jobs are told of the merge request, and of those that are open from the branch. */
export async function mergeRequestVariables(
  { services, subject }: Creator,
  { ref, mergeRequest }: RefRequest,
  { kind }: PipelineTarget,
): Promise<ContextVariable[]> {
  if (kind === 'tag') return [];
  const open = await findOpenMergeRequests(services, mergeRequest?.sourceProjectId ?? subject.id, ref);
  return [
    ...(open.length > 0 ? [{ key: 'CI_OPEN_MERGE_REQUESTS', value: open.join(',') }] : []),
    ...((await mergeRequest?.variables()) ?? []),
  ];
}

/** Without the right, without the variables that are kept for pipelines. */
export async function compileRequest(
  creator: Creator,
  request: PipelineRequest,
  { commit, kind, tagMessage }: PipelineTarget,
  { isProtected, mayRun }: RightOnRef,
  text: string,
  ofMergeRequests: readonly ContextVariable[],
): Promise<CompileRequest> {
  const { services, actor, subject } = creator;
  const { db } = services.database;
  const { source, ref, beforeSha = NO_OBJECT, variables = [] } = request;
  const published = await publishedAt({ db, services }, subject, kind === 'tag' ? [ref] : []);
  const { dependency_proxy_enabled: hasProxy } = await services.settings.read();
  const predefined = predefinedVariables({
    baseUrl: services.baseUrl(),
    apiVersion: version.api,
    revision: version.revision,
    project: { ...subject.row, fullPath: subject.fullPath },
    configPath: configPathOf(subject),
    commit,
    ref,
    kind,
    tagMessage,
    release: published.get(ref),
    protected: isProtected,
    hasProxy,
    beforeSha,
    source,
    createdAt: now(),
    user: await selectStarter(db, actor.id),
    triggerToken: request.trigger?.token,
    scheduleDescription: request.scheduleDescription,
    upstream: request.bridge ?? request.tokenJob,
    ofMergeRequests,
    frozen: await selectFrozen(db, subject),
  });
  const kept = mayRun ? await selectKeptVariables(db, subject.row, isProtected, services.secretKey) : [];
  return {
    text,
    isMade: request.configuration !== undefined || text === includedInstead(configPathOf(subject)),
    ...(request.inputs && { inputs: request.inputs }),
    files: {
      ...createFiles(services, actor, subject),
      ...(request.configuration && { artifact: request.configuration.artifact }),
    },
    context: {
      at: { project: subject.fullPath, sha: commit.oid },
      source,
      ref,
      refKind: kind,
      mostNeeds: (await services.instance.read()).limits.ci_needs_size_limit,
      predefined,
      overriding: [
        ...kept.filter(({ environmentScope }) => environmentScope === '*'),
        ...variables.map(
          ({ key, value, variable_type, raw = false }): ContextVariable => ({
            key,
            value,
            file: variable_type === 'file',
            raw,
          }),
        ),
      ],
      changedPaths: (compareTo) =>
        pathsChanged(
          creator,
          commit,
          valueNamed(ofMergeRequests, 'CI_MERGE_REQUEST_DIFF_BASE_SHA') ?? beforeSha,
          compareTo,
        ),
    },
  };
}

/** Of a push and of a merge request, the paths that it changed, for their children, too; of other pipelines, there is nothing to compare with. */
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
