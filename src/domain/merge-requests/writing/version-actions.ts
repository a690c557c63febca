/** Statements that write a version of a merge request: its row, and its commits in the place of those before. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { NewVersion } from '../versions/read-version.ts';

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

export const insertCommits = (tx: Db, id: number, { commits }: Pick<NewVersion, 'commits'>) =>
  commits.length === 0
    ? undefined
    : tx
        .insertInto('merge_request_commits')
        .columns(['merge_request_id', 'place', 'sha'])
        .expression(
          sql<{ merge_request_id: number; place: number; sha: string }>`(
          select ${id}::bigint, (place - 1)::integer, sha from unnest(${[...commits]}::text[]) with ordinality c(sha, place))`,
        );
