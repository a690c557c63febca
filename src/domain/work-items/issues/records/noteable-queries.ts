/** Statements about issues as noteables: who takes part in them, and their assignees. */

import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../../platform/db/database.ts';

/** Authors, assignees, commenters and mentioned users, internal notes aside, as rows of target and user_id. */
export const issueParticipants = (ids: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    select id as target, author_id as user_id from issues where id = any(${ids})
    union select issue_id, user_id from issue_assignees where issue_id = any(${ids})
    union select issue_id, author_id from notes where issue_id = any(${ids}) and system_action is null and not internal
    union select t.issue_id, t.user_id from todos t left join notes n on n.id = t.note_id
      where t.issue_id = any(${ids}) and t.action in ('mentioned', 'directly_addressed') and n.internal is not true`;

export const selectAssigneeIds = (db: Db, issueId: number) =>
  db.selectFrom('issue_assignees').select('user_id').where('issue_id', '=', issueId).execute();
