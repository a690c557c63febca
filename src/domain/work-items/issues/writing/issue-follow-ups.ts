/** Registry of what other capabilities write when an issue changes. */

import { Registry } from '../../../../kernel/registry.ts';
import type { Db } from '../../../../platform/db/database.ts';
import type { WorkChange } from '../../changes/issue-changes.ts';
import type { IssueRow } from '../records/issue-rows.ts';

/** Writes in the transaction of the change, after the issue's own notes and events. */
export type IssueFollowUp = {
  changed(tx: Db, author: { id: number }, issue: IssueRow, changes: readonly WorkChange[]): Promise<void>;
  /** For an issue that was closed by a change, after changed(), or by its move or promotion. */
  closed(tx: Db, author: { id: number }, issue: IssueRow): Promise<void>;
};

export const issueFollowUps = new Registry<IssueFollowUp>();
