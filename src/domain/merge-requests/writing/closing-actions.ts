/** The issues that a merge request closes when it is merged: found by its texts, and kept beside it. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { StatementParts } from '../../../platform/db/run-as-one.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';

/** Ids of the issues that texts close, beside the commits that are known already; by `tx`, so that no text is missed. */
export type FindClosing = (
  tx: Db,
  texts: Pick<MergeRequestRow, 'title' | 'description' | 'target_branch'>,
) => Promise<number[]>;

const rowsOf = (id: number, issueIds: readonly number[]) => sql<{
  merge_request_id: number;
  issue_id: number;
}>`(
  select ${id}::bigint, issues.id from issues where issues.id = any(${[...issueIds]}::bigint[]) for key share)`;

/** The statements that make these the issues that it closes; issues that are gone meanwhile are left out. */
export const closingStatements = (
  tx: Db,
  id: number,
  issueIds: readonly number[],
): StatementParts['statements'] => [
  tx
    .deleteFrom('merge_request_closing_issues')
    .where('merge_request_id', '=', id)
    .where(sql<boolean>`issue_id <> all(${[...issueIds]}::bigint[])`),
  issueIds.length === 0
    ? undefined
    : tx
        .insertInto('merge_request_closing_issues')
        .columns(['merge_request_id', 'issue_id'])
        .expression(rowsOf(id, issueIds))
        .onConflict((known) => known.doNothing()),
];
