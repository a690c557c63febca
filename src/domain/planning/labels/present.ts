/** Labels as records. */
import { isProject, type ResourceParent } from '../../../kernel/access/resource-parents.ts';
import type { Caller } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import { mapInTurns } from '../../../platform/turns.ts';
import { type LabelCounts, plannedKinds } from '../planned.ts';
import { type LabelRow, presentLabelBasic } from './label-records.ts';
import { selectStates } from './queries.ts';
import type { LabelRecord } from './schema.ts';

type LabelContext = { db: Db; services: Needs<'registered'>; actor: Caller };

const noCounts: LabelCounts = {
  open_issues_count: 0,
  closed_issues_count: 0,
  open_merge_requests_count: 0,
};

/** The counts of the labels as far as the caller sees, of each planned kind by the id of the label. */
const countByLabel = ({ db, services, actor }: LabelContext, ids: readonly number[]) =>
  Promise.all(plannedKinds.all(services).map((kind) => kind.countByLabel(db, actor, ids)));

/** The records of labels as the parent shows them to the caller. */
export async function presentLabels(
  context: LabelContext,
  parent: ResourceParent,
  rows: readonly LabelRow[],
  withCounts = false,
): Promise<LabelRecord[]> {
  const { db, actor } = context;
  const ids = rows.map(({ id }) => id);
  const projectId = isProject(parent) ? parent.id : null;
  const [states, counts] = await Promise.all([
    selectStates(db, ids, { userId: actor?.id ?? null, projectId }),
    withCounts ? countByLabel(context, ids) : undefined,
  ]);
  return mapInTurns(rows, (row) => ({
    ...presentLabelBasic(row),
    ...(counts && Object.assign({}, noCounts, ...counts.map((each) => each.get(row.id)))),
    subscribed: states.get(row.id)?.subscribed ?? false,
    ...(projectId !== null && {
      priority: states.get(row.id)?.priority ?? null,
      is_project_label: row.project_id !== null,
    }),
  }));
}

/** The record of one label. */
export async function presentLabel(
  context: LabelContext,
  parent: ResourceParent,
  row: LabelRow,
): Promise<LabelRecord> {
  const [record] = await presentLabels(context, parent, [row]);
  if (!record) throw new Error('a record for each row');
  return record;
}
