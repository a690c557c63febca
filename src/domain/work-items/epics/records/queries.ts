/** People of epics. */
import { type RawBuilder, sql } from 'kysely';

/** Authors, assignees, commenters and mentioned users, internal notes aside, as rows of target and user_id. */
export const epicParticipants = (ids: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    select id as target, author_id as user_id from epics where id = any(${ids})
    union select epic_id, author_id from notes where epic_id = any(${ids}) and system_action is null and not internal
    union select t.epic_id, t.user_id from todos t left join notes n on n.id = t.note_id
      where t.epic_id = any(${ids}) and t.action in ('mentioned', 'directly_addressed') and n.internal is not true`;
