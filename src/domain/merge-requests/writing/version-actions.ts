/** Statements that write a version of a merge request: its row, and its commits in the place of those before. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { StatementParts } from '../../../platform/db/run-as-one.ts';
import { replaceOwnerRules } from '../code-owners/owner-rule-actions.ts';
import type { JudgedOwners } from '../code-owners/owner-rules.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import type { Judgement } from '../versions/judge.ts';
import type { NewVersion } from '../versions/read-version.ts';

/** A version, whether it can be merged into its start, who owns its files, and the messages of its commits, newest first. */
export type OpenedVersion = {
  version: NewVersion;
  judgement: Judgement;
  owners: JudgedOwners;
  messages: readonly string[];
};

/** What the row says of its version, and how it was judged. */
export const versionColumns = ({
  version,
  judgement,
  owners,
}: Pick<OpenedVersion, 'version' | 'judgement' | 'owners'>) => ({
  head_sha: version.head,
  commits_count: version.commits.length,
  merge_status: judgement.mergeStatus,
  is_behind: judgement.isBehind,
  judged_source_sha: version.head,
  judged_target_sha: version.start,
  code_owners_sha: owners.sha,
});

export const insertVersion = (tx: Db, id: number, version: NewVersion) =>
  tx.insertInto('merge_request_versions').values({
    merge_request_id: id,
    base_sha: version.base,
    start_sha: version.start,
    head_sha: version.head,
    files: version.files,
    overflows: version.overflows,
    created_at: now(),
  });

const rowsOf = (id: number, commits: readonly string[]) =>
  sql<{
    merge_request_id: number;
    place: number;
    sha: string;
  }>`(select ${id}::bigint, (place - 1)::integer, sha from unnest(${[...commits]}::text[]) with ordinality c(sha, place))`;

export const insertCommits = (tx: Db, id: number, { commits }: Pick<NewVersion, 'commits'>) =>
  commits.length === 0
    ? undefined
    : tx
        .insertInto('merge_request_commits')
        .columns(['merge_request_id', 'place', 'sha'])
        .expression(rowsOf(id, commits));

export const insertCommitters = (tx: Db, id: number, { committers }: Pick<NewVersion, 'committers'>) =>
  committers.length === 0
    ? undefined
    : tx
        .insertInto('merge_request_committers')
        .columns(['merge_request_id', 'email'])
        .expression(
          sql<{
            merge_request_id: number;
            email: string;
          }>`(select ${id}::bigint, unnest(${[...committers]}::text[]))`,
        )
        .onConflict((known) => known.doNothing());

/** The statements for a version after the first, and the columns of the row that it changes. */
export const versionStatements = (
  tx: Db,
  id: number,
  opened: OpenedVersion,
): { columns: Partial<Omit<MergeRequestRow, 'id'>>; statements: StatementParts['statements'] } => {
  const { commits, committers } = opened.version;
  return {
    columns: versionColumns(opened),
    statements: [
      insertVersion(tx, id, opened.version),
      tx
        .deleteFrom('merge_request_committers')
        .where('merge_request_id', '=', id)
        .where(sql<boolean>`email <> all(${[...committers]}::text[])`),
      insertCommitters(tx, id, { committers }),
      ...replaceOwnerRules(id, opened.owners.rules),
      // One statement sees the rows as they were: those of the same place are changed, not made anew.
      tx
        .deleteFrom('merge_request_commits')
        .where('merge_request_id', '=', id)
        .where('place', '>=', commits.length),
      insertCommits(tx, id, { commits })?.onConflict((known) =>
        known.columns(['merge_request_id', 'place']).doUpdateSet({ sha: sql`excluded.sha` }),
      ),
    ],
  };
};
