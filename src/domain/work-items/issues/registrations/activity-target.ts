/** Issues in activity feeds. */

import { sql } from 'kysely';
import type { ActivityTarget } from '../../../../kernel/activity/targets.ts';
import { issueKind } from '../records/issue-noteable.ts';
import { isRevealed } from '../records/visibility-queries.ts';
import { shownIssue } from './queries.ts';

export const issueActivityTarget: ActivityTarget = {
  type: issueKind.type,
  noteColumn: 'issue_id',
  abilities: ['read_issues', 'read_confidential_issues'],
  isVisible: (id) => sql`(v.read_issues and exists (
    ${shownIssue(id, sql`and ${isRevealed(sql`v.read_confidential_issues`)}`)}))`,
  select: (id) => shownIssue(id),
};
