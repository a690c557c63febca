/** Whether merge requests wait for others. */
import { type RawBuilder, sql } from 'kysely';

/** Whether one that blocks the merge request with this id is not merged; a closed one blocks, too. */
export const isBlocked = (id: RawBuilder<unknown>): RawBuilder<boolean> => sql`exists (
    select from merge_request_blocks b join merge_requests first on first.id = b.blocking_id
    where b.blocked_id = ${id} and first.state <> 'merged')`;
