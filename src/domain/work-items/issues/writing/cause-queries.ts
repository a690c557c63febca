/** What has closed issues. */
import type { Db } from '../../../../platform/db/database.ts';
import type { EventCause } from '../../resource-events/actions.ts';

/** Whether the issue was closed by the same before: a task that runs again does not close a reopened one. */
export async function wasClosedBy(tx: Db, issueId: number, cause: EventCause): Promise<boolean> {
  const [column, value] =
    'commit' in cause
      ? (['source_commit', cause.commit] as const)
      : (['source_merge_request_id', cause.mergeRequestId] as const);
  const event = await tx
    .selectFrom('resource_events')
    .select('id')
    .where('issue_id', '=', issueId)
    .where('kind', '=', 'state')
    .where(column, '=', value)
    .executeTakeFirst();
  return event !== undefined;
}
