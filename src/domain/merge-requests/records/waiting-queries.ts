/** What merge requests wait for: others, reviewers, and external status checks. */
import { type RawBuilder, sql } from 'kysely';

/** Whether one that blocks the merge request with this id is not merged; a closed one blocks, too. */
export const isBlocked = (id: RawBuilder<unknown>): RawBuilder<boolean> => sql`exists (
    select from merge_request_blocks b join merge_requests first on first.id = b.blocking_id
    where b.blocked_id = ${id} and first.state <> 'merged')`;

/** Whether a reviewer asks for changes of the merge request with this id, and has not approved it since or been asked again. */
export const hasRequestedChanges = (id: RawBuilder<unknown>): RawBuilder<boolean> => sql`exists (
    select from merge_request_reviewers r where r.merge_request_id = ${id} and r.state = 'requested_changes')`;

/**
 * The external status checks of these merge requests that must pass, and have not for the newest commit: the branches of each,
 * of which one is the target branch where it is for the merge request; none, where it is for all.
 */
export const selectUnpassed = (ids: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    select m.id as merge_request_id, array(
      select p.name from external_status_check_branches o join protected_branches p on p.id = o.protected_branch_id
      where o.check_id = c.id) as patterns
    from merge_requests m join projects on projects.id = m.project_id
    join external_status_checks c on c.project_id = m.project_id
    left join status_check_responses r on r.merge_request_id = m.id and r.check_id = c.id and r.sha = m.head_sha
    where m.id = any(${ids}) and (projects.settings ->> 'only_allow_merge_if_all_status_checks_passed')::boolean
      and r.status is distinct from 'passed'`;
