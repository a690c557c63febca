/** Rows of issues and their web addresses. */
import type { Selectable } from 'kysely';
import type { IssuesTable } from '../../../../platform/db/rows.ts';

export type IssueRow = Selectable<IssuesTable>;

export const issueWebUrl = (baseUrl: string, projectFullPath: string, iid: number): string =>
  `${baseUrl}/${projectFullPath}/-/issues/${iid}`;
