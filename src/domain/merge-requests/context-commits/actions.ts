/** Adds and removes context commits. */
import type { Needs } from '../../../kernel/services.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { Failure } from '../../../platform/failure.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { projectRepository } from '../../repositories/index.ts';
import { lockMergeRequest } from '../records/find-queries.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import type { TargetProject } from '../versions/present-heads.ts';
import { keepCommits } from '../versions/set-refs.ts';
import { selectContextShas } from './queries.ts';

/** Of one merge request: each has a ref that keeps it. */
const MAX_CONTEXT_COMMITS = 500;

/** Fails with 400 for commits that are there already, and for too many. */
function checkNew(existing: readonly string[], commits: readonly Commit[]): void {
  const twice = commits.map(({ oid }) => oid).filter((oid) => existing.includes(oid));
  if (twice.length > 0)
    throw new Failure('bad_request', `Context commits: ${JSON.stringify(twice)} are already created`);
  if (existing.length + commits.length > MAX_CONTEXT_COMMITS)
    throw new Failure('bad_request', `A merge request has at most ${MAX_CONTEXT_COMMITS} context commits.`);
}

const MAX_SECONDS = Date.UTC(9_999, 11, 31) / 1_000;

/** A commit may say any time; the database has not all of them. */
const committedAt = (seconds: number): Date => new Date(Math.max(0, Math.min(seconds, MAX_SECONDS)) * 1_000);

/** Adds the commits, and keeps them in the repository whatever becomes of their branches. */
export async function addContextCommits(
  { database: { db }, repositories }: Needs<'database' | 'repositories'>,
  project: TargetProject,
  { id, iid }: MergeRequestRow,
  commits: readonly Commit[],
): Promise<void> {
  checkNew(await selectContextShas(db, { id }), commits);
  await repositories.write(projectRepository(project.id), project.row.default_branch ?? 'main', (git) =>
    keepCommits(
      git,
      iid,
      commits.map(({ oid }) => oid),
    ),
  );
  await inTransaction(db, async (tx) => {
    await lockMergeRequest(tx, id);
    checkNew(await selectContextShas(tx, { id }), commits);
    const rows = commits.map(({ oid, committer }) => ({
      merge_request_id: id,
      sha: oid,
      committed_at: committedAt(committer.time),
    }));
    await tx.insertInto('merge_request_context_commits').values(rows).execute();
  });
}

/** Removes those of the commits that are there. Their refs stay: versions may need the same. */
export const removeContextCommits = async (
  { database: { db } }: Needs<'database'>,
  { id }: MergeRequestRow,
  commits: readonly Commit[],
): Promise<void> => {
  await db
    .deleteFrom('merge_request_context_commits')
    .where('merge_request_id', '=', id)
    .where(
      'sha',
      'in',
      commits.map(({ oid }) => oid),
    )
    .execute();
};
