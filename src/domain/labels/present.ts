/** Labels as records; the other data of a page is read by a statement each. */
import type { Caller } from '../../core/identity/actor.ts';
import { type LabelRow, presentLabelBasic } from '../../core/work/label-records.ts';
import { isProject, type ResourceParent } from '../../core/work/resource-parents.ts';
import { subscribedLabels } from '../../core/work/subscriptions.ts';
import type { Db } from '../../platform/db/database.ts';
import { mapInTurns } from '../../platform/turns.ts';
import { countIssues, selectPriorities } from './queries.ts';
import type { LabelRecord } from './schema.ts';

/** The records of labels as the parent shows them to the caller. */
export async function presentLabels(
  { db, actor }: { db: Db; actor: Caller },
  parent: ResourceParent,
  rows: readonly LabelRow[],
  withCounts = false,
): Promise<LabelRecord[]> {
  const ids = rows.map(({ id }) => id);
  const [subscribed, priorities, counts] = await Promise.all([
    actor ? subscribedLabels(db, actor.id, ids, isProject(parent) ? parent.id : null) : undefined,
    isProject(parent) ? selectPriorities(db, parent.id, ids) : undefined,
    withCounts ? countIssues(db, actor, ids) : undefined,
  ]);
  return mapInTurns(rows, (row) => ({
    ...presentLabelBasic(row),
    ...(counts && {
      open_issues_count: counts.get(row.id)?.open ?? 0,
      closed_issues_count: counts.get(row.id)?.closed ?? 0,
      // There are no merge requests.
      open_merge_requests_count: 0,
    }),
    subscribed: subscribed?.has(row.id) ?? false,
    ...(priorities && {
      priority: priorities.get(row.id) ?? null,
      is_project_label: row.project_id !== null,
    }),
  }));
}

/** The record of one label. */
export async function presentLabel(
  context: { db: Db; actor: Caller },
  parent: ResourceParent,
  row: LabelRow,
): Promise<LabelRecord> {
  const [record] = await presentLabels(context, parent, [row]);
  if (!record) throw new Error('a record for each row');
  return record;
}
