/**
 * Making commits: of actions on files, and of another commit's changes (facts: Repository, files, commits).
 */
import Type from 'typebox';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { type Endpoint, endpoint, Reply } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import { Failure } from '../../../platform/failure.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { presentCommitDetail, projectUrl } from '../commits/present.ts';
import { readRepository, statsOf } from '../commits/queries.ts';
import { CommitRecord, presentCommit } from '../commits/records.ts';
import { existingBranch } from '../commits/revision-schema.ts';
import { CommitDetail } from '../commits/schema.ts';
import { cherryPick, commitAccess, createCommit, revert, updateSubmodule } from './actions.ts';
import { CommitInput, MAX_CONTENT_BYTES, PickInput } from './schema.ts';

/** The commit; of a dry run, whether it can be made. */
const PickReply = Type.Object({
  ...Type.Partial(CommitRecord).properties,
  dry_run: Type.Optional(Type.String()),
});

/**
 * The record of a commit that was just made, which has no pipeline yet. Its lines are left out where counting
 * them is too much or waits too long: a refusal would say that there is no commit.
 */
async function showNew(
  services: Needs<'repositories' | 'baseUrl'>,
  project: AuthorizedProject,
  commit: Commit,
  counted = true,
) {
  const counts = counted
    ? await readRepository(services, project, (git) => statsOf(git, [commit])).catch(ignoreRefusal)
    : undefined;
  return presentCommitDetail(services.baseUrl(), project, commit, { stats: counts?.[0] });
}

function ignoreRefusal(error: unknown): undefined {
  if (!(error instanceof Failure)) throw error;
}

const pick = (verb: 'cherry_pick' | 'revert', summary: string, make: typeof cherryPick): Endpoint =>
  endpoint({
    method: 'POST',
    path: `/projects/:id/repository/commits/:sha/${verb}`,
    summary,
    access: commitAccess,
    also: [200, 422],
    input: PickInput,
    reply: PickReply,
    handle: async (context) => {
      const commit = await make(context, context.input);
      if (context.input.dry_run) return new Reply(200, { dry_run: 'success' });
      return presentCommit(projectUrl(context.services.baseUrl(), context.subject), commit, true);
    },
  });

export const writeCommitEndpoints: Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/projects/:id/repository/commits',
    summary: 'Make a commit that creates, changes, moves or deletes files.',
    also: [422],
    access: commitAccess,
    input: CommitInput,
    bodyLimit: MAX_CONTENT_BYTES,
    reply: CommitDetail,
    handle: async (context) => {
      const { services, subject, input } = context;
      return showNew(services, subject, await createCommit(context, input), input.stats);
    },
  }),
  pick('cherry_pick', 'Make the change of a commit again on a branch.', cherryPick),
  pick('revert', 'Take the change of a commit back on a branch.', revert),
  endpoint({
    method: 'PUT',
    path: '/projects/:id/repository/submodules/:submodule',
    summary: 'Point a submodule to another commit.',
    also: [422],
    access: commitAccess,
    input: Type.Object({
      submodule: Type.String(),
      branch: Type.String({ minLength: 1, ...existingBranch }),
      commit_sha: Type.String({ minLength: 1, ruled: { pattern: '^[0-9a-f]{40}$' } }),
      commit_message: Type.Optional(Type.String()),
    }),
    reply: CommitDetail,
    handle: async (context) =>
      showNew(context.services, context.subject, await updateSubmodule(context, context.input)),
  }),
];
