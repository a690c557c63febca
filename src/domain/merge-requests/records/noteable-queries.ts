/** Statements about merge requests as noteables: who takes part in them. */
import { type RawBuilder, sql } from 'kysely';

/**
 * Authors, assignees, reviewers, commenters and mentioned users, internal notes aside, as rows of target and user_id
 * (facts: Participants and notifications).
 */
export const mergeRequestParticipants = (ids: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    select id as target, author_id as user_id from merge_requests where id = any(${ids})
    union select merge_request_id, user_id from merge_request_assignees where merge_request_id = any(${ids})
    union select merge_request_id, user_id from merge_request_reviewers where merge_request_id = any(${ids})
    union select merge_request_id, author_id from notes
      where merge_request_id = any(${ids}) and system_action is null and not internal
    union select t.merge_request_id, t.user_id from todos t left join notes n on n.id = t.note_id
      where t.merge_request_id = any(${ids}) and t.action in ('mentioned', 'directly_addressed')
        and n.internal is not true`;
