/** Opens and changes merge requests as the options of a git push say, and tells where they are. */
import { type AuthorizedProject, authorizeProject } from '../../../kernel/access/find.ts';
import { projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import { Failure, forbidden } from '../../../platform/failure.ts';
import { NO_OBJECT, shortRef } from '../../../platform/git/names.ts';
import type { WriteContext } from '../../conversation/index.ts';
import type { PushFollower, TakenPush } from '../../repositories/index.ts';
import { requireUpdate } from '../changes/change-rights.ts';
import { selectCommitIds } from '../closing/queries.ts';
import { projectWith } from '../collaboration/collaboration.ts';
import { mergeMergeRequest } from '../merging/merge.ts';
import { openMergeRequest } from '../opening/open-merge-request.ts';
import { updateMergeRequest } from '../opening/update-merge-request.ts';
import { type MergeRequestRow, mergeRequestWebUrl } from '../records/merge-request-rows.ts';
import { type MergeRequestOptions, parsePushOptions } from '../texts/push-options.ts';
import { selectOpenFrom } from './queries.ts';
import { requestedBy, textsFor } from './requested-by-options.ts';

/** Branches of one push that are told of, and whose merge requests options change. */
const MAX_BRANCHES = 10;

type Following = TakenPush & {
  context: WriteContext;
  source: AuthorizedProject;
  /** Where merge requests go that name no project, and after it the pushed one. */
  targets: readonly AuthorizedProject[];
};

/** The reason of a refusal, in one line. */
function reasonOf({ publicMessage }: Failure): string {
  if (typeof publicMessage === 'string') return publicMessage;
  if (Array.isArray(publicMessage)) return publicMessage.join(', ');
  return Object.entries(publicMessage)
    .map(([name, texts]) => `${name} ${[texts].flat().join(', ')}`)
    .join('; ');
}

/** Of a fork the project that it is of, unless its setting or its visibility says otherwise. */
async function defaultTargets(
  context: WriteContext,
  source: AuthorizedProject,
): Promise<readonly AuthorizedProject[]> {
  const own = source.may('create_merge_requests') ? [source] : [];
  const { forked_from_id: upstreamId, visibility } = source.row;
  if (upstreamId === null || projectSettings(source.row).mr_default_target_self) return own;
  const upstream = await projectWith(context, 'create_merge_requests', upstreamId);
  return upstream && upstream.row.visibility <= visibility ? [upstream, ...own] : own;
}

/** The project that the options name, else those of the push. */
async function targetsOf(
  { services, actor, targets }: Following,
  path?: string,
): Promise<readonly AuthorizedProject[]> {
  if (path === undefined) return targets;
  return [await authorizeProject(services.database.points, actor, 'create_merge_requests', path)];
}

const selectOpenInto = (
  { context, source }: Following,
  branch: string,
  targets: readonly AuthorizedProject[],
): Promise<MergeRequestRow[]> =>
  targets.length === 0
    ? Promise.resolve([])
    : selectOpenFrom(
        context.db,
        source.id,
        branch,
        targets.map(({ id }) => id),
      );

type Written = { row: MergeRequestRow; target: AuthorizedProject };

/** The merge request of the branch, opened or changed; undefined where no option asks for a new one. */
async function write(
  following: Following,
  branch: string,
  options: MergeRequestOptions,
): Promise<Written | undefined> {
  const { context, source, actor } = following;
  const targets = await targetsOf(following, options.targetProject);
  const [first] = targets;
  if (!first) throw forbidden();
  const targetBranch = options.target ?? first.row.default_branch ?? 'main';
  const open = await selectOpenInto(following, branch, targets);
  const here = open.filter((row) => row.project_id === first.id);
  const known =
    here.find((row) => row.target_branch === targetBranch) ??
    here[0] ??
    (options.create ? undefined : open[0]);
  const target = targets.find(({ id }) => id === known?.project_id) ?? first;
  if (known) {
    requireUpdate(target, actor, known);
    const requested = await requestedBy(context, target, options, known);
    const found = { row: known, commits: await selectCommitIds(context.db, known.id) };
    return { target, row: await updateMergeRequest(context, target, found, requested) };
  }
  if (!options.create) return undefined;
  // Who pushes to a shared branch alone opens nothing from it, as over the API.
  if (!source.may('push_code')) throw forbidden();
  const place = { source, sourceBranch: branch, target, targetBranch };
  const { title, description } = await textsFor(context, place, options);
  const requested = { ...(await requestedBy(context, target, options, undefined)), description };
  const row = await openMergeRequest(context, { ...place, sourceProjectId: source.id, title, requested });
  return { target, row };
}

/** Does what the options say of the branch: the merge request, and sentences about what was not done. */
async function applyOptions(
  following: Following,
  branch: string,
  options: MergeRequestOptions,
): Promise<{ written?: Written; warnings: string[] }> {
  const { services, settings, actor } = following;
  let written: Written | undefined;
  try {
    written = await write(following, branch, options);
    if (!written)
      return { warnings: [`There is no open merge request for ${branch}: merge_request.create opens one.`] };
    const { row, target } = written;
    const wish = { auto: true, squash: row.squash, sha: row.head_sha ?? undefined };
    if (options.autoMerge) await mergeMergeRequest({ services, settings, actor }, target, row.iid, wish);
    return { written, warnings: [] };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const warnings = [`The options for ${branch} were not followed: ${reasonOf(error)}`];
    return { ...(written && { written }), warnings };
  }
}

/** The open merge request of the branch, where options that name no project look for it. */
async function findOpen(following: Following, branch: string): Promise<Written | undefined> {
  const { targets } = following;
  const [row] = await selectOpenInto(following, branch, targets);
  const target = targets.find(({ id }) => id === row?.project_id);
  return row && target && { row, target };
}

/** Where the merge request of the branch is, or can be opened, as the public API's clients look for it. */
async function linkLines(following: Following, branch: string, written?: Written): Promise<string[]> {
  const { services, source } = following;
  if (!projectSettings(source.row).printing_merge_request_link_enabled) return [];
  if (branch === source.row.default_branch || !source.may('create_merge_requests')) return [];
  const open = written ?? (await findOpen(following, branch));
  const baseUrl = services.baseUrl();
  if (open) {
    const address = mergeRequestWebUrl(baseUrl, open.target.fullPath, open.row.iid);
    return ['', `View merge request for ${branch}:`, `  ${address}`, ''];
  }
  if (!source.may('push_code')) return [];
  const query = `merge_request%5Bsource_branch%5D=${encodeURIComponent(branch)}`;
  const address = `${baseUrl}/${source.fullPath}/-/merge_requests/new?${query}`;
  return ['', `To create a merge request for ${branch}, visit:`, `  ${address}`, ''];
}

/** Follows the options with the rights of who pushed, and tells of the pushed branches. */
export const followPushOptions: PushFollower = async (push) => {
  const { services, settings, request, actor, projectId, updates } = push;
  const branches = updates.flatMap(({ ref, after }) => {
    const short = shortRef(ref);
    return short?.kind === 'branch' && after !== NO_OBJECT ? [short.name] : [];
  });
  if (branches.length === 0) return [];
  const { options, messages } = parsePushOptions(push.options);
  const { db, points } = services.database;
  // Who pushes to a shared branch alone reads the code.
  const source = await authorizeProject(points, actor, 'read_code', projectId);
  const context = { db, services, settings, actor, request };
  const following = { ...push, context, source, targets: await defaultTargets(context, source) };
  const warnings = [...messages];
  const lines: string[] = [];
  for (const branch of branches.slice(0, MAX_BRANCHES)) {
    const applied = options && (await applyOptions(following, branch, options));
    warnings.push(...(applied?.warnings ?? []));
    lines.push(...(await linkLines(following, branch, applied?.written)));
  }
  if (options && branches.length > MAX_BRANCHES)
    warnings.push(`The options were followed for ${MAX_BRANCHES} of ${branches.length} branches.`);
  services.wake();
  return [...(warnings.length > 0 ? ['', 'WARNINGS:', ...warnings] : []), ...lines];
};
