/** Resource event records and lists (facts: Resource events). */

import Type, { type Static } from 'typebox';
import { presentUserBasic, type Surroundings, UserBasic } from '../../../kernel/users/records.ts';
import type { Db } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/failure.ts';
import { dateTime, nullable } from '../../../platform/http/parameters/schema.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { mapInTurns } from '../../../platform/turns.ts';
import {
  LabelBasicRecord,
  MilestoneRecord,
  presentLabelBasic,
  presentMilestone,
} from '../../planning/index.ts';
import {
  type EventRelations,
  type EventRow,
  type EventSource,
  eventsOf,
  selectEvent,
  selectRelations,
} from './queries.ts';

const types = { issue_id: 'Issue', epic_id: 'Epic', merge_request_id: 'MergeRequest' } as const;

const common = { id: Type.Integer(), user: UserBasic, created_at: dateTime() };
const resource = { ...common, resource_type: Type.String(), resource_id: Type.Integer() };

export const resourceEventRecords = {
  state: Type.Object({
    ...resource,
    source_commit: nullable(Type.String()),
    source_merge_request_id: nullable(Type.Integer()),
    state: Type.String(),
  }),
  label: Type.Object({ ...resource, label: nullable(LabelBasicRecord), action: Type.String() }),
  milestone: Type.Object({
    ...resource,
    milestone: nullable(MilestoneRecord),
    action: Type.String(),
    state: Type.String(),
  }),
  weight: Type.Object({ ...common, issue_id: Type.Integer(), weight: nullable(Type.Integer()) }),
};
export type ResourceEventKind = keyof typeof resourceEventRecords;
export type ResourceEventRecord<Kind extends ResourceEventKind> = Static<(typeof resourceEventRecords)[Kind]>;

/** One page of them, oldest first. */
export async function listResourceEvents<Kind extends ResourceEventKind>(
  db: Db,
  around: Surroundings,
  target: EventSource,
  kind: Kind,
  page: PageRequest,
): Promise<Page<ResourceEventRecord<Kind>>> {
  const rows = await selectPage(
    db,
    eventsOf(db, target, kind),
    page,
    { by: 'id', sort: 'asc' },
    { id: 'id' },
  );
  const relations = await selectRelations(db, rows.items);
  return { ...rows, items: await present(around, target, kind, rows.items, relations) };
}

/** One event; 404 when the noteable has none with this id. */
export async function findResourceEvent<Kind extends ResourceEventKind>(
  db: Db,
  around: Surroundings,
  target: EventSource,
  kind: Kind,
  id: number,
): Promise<ResourceEventRecord<Kind>> {
  const { rows, relations } = await selectEvent(db, target, kind, id);
  const [record] = await present(around, target, kind, rows, relations);
  if (!record) throw notFound();
  return record;
}

async function present<Kind extends ResourceEventKind>(
  around: Surroundings,
  target: EventSource,
  kind: Kind,
  rows: readonly EventRow[],
  { labels, milestones }: EventRelations,
): Promise<ResourceEventRecord<Kind>[]> {
  const labelled = new Map(
    await mapInTurns([...labels.values()], (label) => [label.id, presentLabelBasic(label)] as const),
  );
  return rows.flatMap((row) => {
    if (!row.user) return [];
    const milestone = row.milestone_id === null ? undefined : milestones.get(row.milestone_id);
    const shared = {
      id: row.id,
      user: presentUserBasic(around, row.user),
      created_at: row.created_at.toISOString(),
    };
    const of = {
      ...shared,
      resource_type: types[target.column],
      resource_id: target.id,
    };
    const action = row.action ?? '';
    const records: { [K in ResourceEventKind]: () => ResourceEventRecord<K> } = {
      state: () => ({
        ...of,
        source_commit: row.source_commit,
        source_merge_request_id: row.source_merge_request_id,
        state: action,
      }),
      label: () => ({ ...of, label: labelled.get(row.label_id ?? 0) ?? null, action }),
      milestone: () => ({
        ...of,
        milestone: milestone
          ? presentMilestone(milestone, { baseUrl: around.baseUrl, fullPath: milestone.full_path })
          : null,
        action,
        state: row.state,
      }),
      weight: () => ({ ...shared, issue_id: target.id, weight: row.weight }),
    };
    return records[kind]();
  });
}
