/** Other programs' statuses of commits (facts: Repository, files, commits, branches, tags). */
import { onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { type Endpoint, endpoint, found, listing } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import { invalid } from '../../../platform/failure.ts';
import { refsContaining } from '../../../platform/git/history/history.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { readCommit } from './queries.ts';
import { type StatusTarget, setStatus } from './status-actions.ts';
import { presentStatus } from './status-present.ts';
import { selectCommitStatuses } from './status-queries.ts';
import { refName } from './status-rules.ts';
import { CommitStatus, StatusInput, StatusListInput } from './status-schema.ts';

/** The commit, and the ref that is given. */
async function findTarget(
  services: Needs<'repositories'>,
  project: AuthorizedProject,
  input: StatusInput,
): Promise<StatusTarget> {
  const ref = input.ref === undefined ? undefined : refName(input.ref);
  if (input.ref !== undefined && ref === undefined) throw invalid({ ref: ['is invalid'] });
  return readCommit(services, project, input.sha, async (_git, { oid }) => ({ sha: oid, ref }));
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
    input: StatusInput,
    reply: CommitStatus,
    handle: async ({ db, services, settings, actor, subject, input }) => {
      const target = await findTarget(services, subject, input);
      const set = (at: StatusTarget) => setStatus(db, actor, subject, at, input);
      const row =
        (await set(target)) ??
        (await set({ ...target, ref: await branchWith(services, subject, target.sha) }));
      return presentStatus({ baseUrl: services.baseUrl(), settings }, found(row));
    },
  }),
];
