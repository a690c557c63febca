/** Issues as they are read everywhere. */
import type { Selectable } from 'kysely';
import type { IssuesTable } from '../../platform/db/rows.ts';

export type IssueRow = Selectable<IssuesTable>;

/** What an issue's address is made of: it stands in its project under its number. */
export const issueWebUrl = (baseUrl: string, projectFullPath: string, iid: number): string =>
  `${baseUrl}/${projectFullPath}/-/issues/${iid}`;
