/** Other programs' statuses of commits (facts: Repository, files, commits, branches, tags). */
import { onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { type Endpoint, endpoint, found, listing } from '../../../kernel/api/endpoint.ts';
import { limitOf } from '../../../kernel/instance/plan-limits.ts';
import type { Needs } from '../../../kernel/services.ts';
import { invalid } from '../../../platform/failure.ts';
import { refsContaining } from '../../../platform/git/history/history.ts';
import { shortRef } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { readRef } from '../../../platform/git/refs.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { readCommit } from '../../repositories/index.ts';
import { type StatusTarget, setStatus } from './actions.ts';
import { presentStatus } from './present.ts';
import { selectCommitStatuses } from './queries.ts';
import { refName } from './rules.ts';
import { CommitStatus, StatusInput, StatusListInput } from './schema.ts';

/** Whether the ref that is given is a tag: of a branch and a tag of one name, the branch is meant. */
async function isTag(git: GitFolder, given: string, name: string): Promise<boolean> {
  if (given !== name) return shortRef(given)?.kind === 'tag';
  const isBranch = (await readRef(git, `refs/heads/${name}`)) !== undefined;
  return !isBranch && (await readRef(git, `refs/tags/${name}`)) !== undefined;
}

/** The commit, and the ref that is given. */
async function findTarget(
  services: Needs<'repositories'>,
  project: AuthorizedProject,
  input: StatusInput,
): Promise<StatusTarget> {
  const ref = input.ref === undefined ? undefined : refName(input.ref);
  if (input.ref !== undefined && ref === undefined) throw invalid({ ref: ['is invalid'] });
  return readCommit(services, project, input.sha, async (git, { oid }) => ({
    sha: oid,
    ref,
    tag: ref !== undefined && (await isTag(git, input.ref ?? ref, ref)),
  }));
}

/** The first branch that has the commit, the default branch before others. */
const branchWith = (
  services: Needs<'repositories'>,
  project: AuthorizedProject,
  sha: string,
): Promise<string> =>
  readCommit(services, project, sha, async (git, { oid }) => {
    const branches = await refsContaining(git, oid, ['branch']);
    const isDefault = branches.find(({ name }) => name === project.row.default_branch);
    return found(isDefault ?? branches[0], 'References for commit').name;
  });

export const commitStatusesEndpoint = listing({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/statuses',
  summary: 'What other programs say of a commit.',
  access: onProject('read_code'),
  page: 'offset',
  input: StatusListInput,
  item: CommitStatus,
  handle: async ({ db, services, settings, subject, input, page }) => {
    const sha = await readCommit(services, subject, input.sha, async (_git, { oid }) => oid);
    const around = { baseUrl: services.baseUrl(), settings };
    return mapPage(await selectCommitStatuses(db, subject, sha, input, page), (row) =>
      presentStatus(around, row),
    );
  },
});

export const statusEndpoints: Endpoint[] = [
  commitStatusesEndpoint,
  endpoint({
    method: 'POST',
    path: '/projects/:id/statuses/:sha',
    summary: 'Says how a commit fares.',
    access: onProject('manage_commit_statuses'),
    also: [422],
    input: StatusInput,
    reply: CommitStatus,
    handle: async ({ db, services, settings, actor, subject, input }) => {
      const target = await findTarget(services, subject, input);
      const most = limitOf((await services.instance.read()).limits, 'ci_pipeline_size');
      const set = (at: StatusTarget) => setStatus(db, actor, subject, at, { ...input, most });
      const row =
        (await set(target)) ??
        (await set({ ...target, ref: await branchWith(services, subject, target.sha) }));
      return presentStatus({ baseUrl: services.baseUrl(), settings }, found(row));
    },
  }),
];
