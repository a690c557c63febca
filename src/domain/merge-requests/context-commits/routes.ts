/** Commits beside those of a merge request, which help to review it. */
import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { type Endpoint, endpoint, listing, noContent } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import { badRequest, Failure } from '../../../platform/failure.ts';
import { isAbbreviatedId } from '../../../platform/git/names.ts';
import { type Commit, parseCommit } from '../../../platform/git/parse.ts';
import { commaList } from '../../../platform/http/parameters/schema.ts';
import { CommitRecord, presentCommit, projectUrl, readRepository } from '../../repositories/index.ts';
import { requireUpdate } from '../changes/change-rights.ts';
import { OneMergeRequest } from '../changes/schema.ts';
import { readCommits } from '../diffs/read-versions.ts';
import { findMergeRequest } from '../records/find-queries.ts';
import { addContextCommits, removeContextCommits } from './actions.ts';
import { selectContextCommitPage } from './queries.ts';

const path = '/projects/:id/merge_requests/:merge_request_iid/context_commits';

/** Commits in one request (facts-merge-requests: 1.1). */
const MAX_COMMITS = 20;
/** So long is the beginning of an id in a request. */
const MIN_ID_LENGTH = 7;

const Commits = Type.Object({
  ...OneMergeRequest.properties,
  commits: commaList(Type.String({ maxLength: 64 }), {
    maxItems: 1_000,
    ruled: { minItems: 1, maxItems: MAX_COMMITS },
    description: 'Ids of commits of the project, or their beginnings.',
  }),
});

/** The commits of these ids, each once; 400 unless each is there. */
async function findCommits(
  services: Needs<'repositories'>,
  project: AuthorizedProject,
  ids: readonly string[],
): Promise<Commit[]> {
  if (ids.length === 0) throw badRequest('commits is empty');
  if (ids.length > MAX_COMMITS)
    throw new Failure('bad_request', `Context commits array size should not be more than ${MAX_COMMITS}`);
  const found = await readRepository(services, project, (git) =>
    Promise.all(
      ids.map(async (id) => {
        if (id.length < MIN_ID_LENGTH || !isAbbreviatedId(id)) return undefined;
        const info = await git.info(id.toLowerCase());
        const object = info?.type === 'commit' ? await git.read(info.oid, info) : undefined;
        return object && parseCommit(object.oid, object.content);
      }),
    ),
  );
  const commits = (found ?? []).filter((commit) => commit !== undefined);
  if (commits.length < ids.length)
    throw new Failure('bad_request', "One or more context commits' sha is not valid.");
  return [...new Map(commits.map((commit) => [commit.oid, commit])).values()];
}

export const contextCommitEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Context commits of a merge request, the newest first.',
    also: [422],
    access: onProject('read_merge_requests'),
    page: 'offset',
    input: OneMergeRequest,
    item: CommitRecord,
    handle: async ({ db, services, subject, input, page }) => {
      const row = await findMergeRequest(db, subject, input.merge_request_iid);
      const rows = await selectContextCommitPage(db, row, page);
      const shas = rows.items.map(({ sha }) => sha);
      const url = projectUrl(services.baseUrl(), subject);
      const commits = await readCommits(services, subject, shas);
      return { ...rows, items: commits.map((commit) => presentCommit(url, commit)) };
    },
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Adds context commits to a merge request: developers and its author may.',
    access: onProject('create_merge_requests'),
    also: [422],
    input: Commits,
    reply: Type.Array(CommitRecord),
    handle: async ({ db, services, actor, subject, input }) => {
      const row = await findMergeRequest(db, subject, input.merge_request_iid);
      requireUpdate(subject, actor, row);
      const commits = await findCommits(services, subject, input.commits);
      await addContextCommits(services, subject, row, commits);
      const url = projectUrl(services.baseUrl(), subject);
      return commits.map((commit) => presentCommit(url, commit));
    },
  }),
  endpoint({
    method: 'DELETE',
    path,
    summary: 'Takes context commits from a merge request: developers and its author may.',
    access: onProject('create_merge_requests'),
    also: [422],
    input: Commits,
    reply: noContent,
    handle: async ({ db, services, actor, subject, input, unmodified }) => {
      const row = await findMergeRequest(db, subject, input.merge_request_iid);
      requireUpdate(subject, actor, row);
      const commits = await findCommits(services, subject, input.commits);
      unmodified(row.updated_at);
      await removeContextCommits(services, row, commits);
      return null;
    },
  }),
];
