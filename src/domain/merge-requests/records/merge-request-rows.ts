/** Rows of merge requests and their web addresses. */
import type { Selectable } from 'kysely';
import type { MergeRequestsTable, MergeRequestVersionsTable } from '../../../platform/db/rows.ts';

export type MergeRequestRow = Selectable<MergeRequestsTable>;
export type VersionRow = Selectable<MergeRequestVersionsTable>;

export const mergeRequestWebUrl = (baseUrl: string, projectFullPath: string, iid: number): string =>
  `${baseUrl}/${projectFullPath}/-/merge_requests/${iid}`;
