/** Versions of merge requests in requests and responses (facts: Resource entities, MR diff version). */
import Type, { type Static } from 'typebox';
import { dateTime, nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { CommitRecord, DiffRecord } from '../../repositories/index.ts';
import { changesCount } from '../records/merge-request-records.ts';
import type { VersionRow } from '../records/merge-request-rows.ts';

export const unidiff = Type.Optional(
  Type.Boolean({ description: 'With the names of the files before the hunks.' }),
);

export const VersionRecord = Type.Object({
  id: Type.Integer(),
  head_commit_sha: Type.String(),
  base_commit_sha: Type.String(),
  start_commit_sha: Type.String(),
  created_at: dateTime(),
  merge_request_id: Type.Integer(),
  state: stringEnum(['empty', 'collected', 'overflow']),
  real_size: Type.String({ description: 'Files that differ; `3000+` where there are more.' }),
  patch_id_sha: nullable(Type.String()),
});
type VersionRecord = Static<typeof VersionRecord>;

export const FullVersionRecord = Type.Object({
  ...VersionRecord.properties,
  commits: Type.Array(CommitRecord),
  diffs: Type.Array(DiffRecord),
});

export const presentVersion = (row: VersionRow): VersionRecord => ({
  id: row.id,
  head_commit_sha: row.head_sha,
  base_commit_sha: row.base_sha,
  start_commit_sha: row.start_sha,
  created_at: row.created_at.toISOString(),
  merge_request_id: row.merge_request_id,
  state: row.overflows ? 'overflow' : row.files === 0 ? 'empty' : 'collected',
  real_size: changesCount(row),
  patch_id_sha: row.patch_id,
});
