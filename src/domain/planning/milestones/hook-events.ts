/** Milestones, as hooks are told of them (facts-merge-requests: 10.5). */
import type { Db } from '../../../platform/db/database.ts';
import {
  type HookEvent,
  type HookPlace,
  type HookSample,
  type HookServices,
  hookSource,
  hookTime,
  readPlace,
} from '../../hooks/index.ts';
import type { MilestoneRow } from './milestone-records.ts';
import { selectMilestoneById, selectNewestMilestone } from './queries.ts';

/** Also what the fact of a deletion keeps, as there is no row any more when it is told. */
export const attributesOf = (row: MilestoneRow) => ({
  id: row.id,
  iid: row.iid,
  title: row.title,
  description: row.description,
  state: row.state,
  created_at: hookTime(row.created_at),
  updated_at: hookTime(row.updated_at),
  due_date: row.due_date,
  start_date: row.start_date,
  group_id: row.namespace_id,
  project_id: row.project_id,
});
type Attributes = ReturnType<typeof attributesOf>;

type MilestoneFact = HookPlace & { milestone_id: number; gone?: Attributes };
type Action = 'create' | 'close' | 'reopen' | 'delete';

async function milestoneEvent(
  services: HookServices,
  place: HookPlace,
  attributes: Attributes,
  action: Action,
): Promise<HookEvent[]> {
  const part = await readPlace(services, place);
  if (!part) return [];
  const kind = { object_kind: 'milestone', event_type: 'milestone' };
  const body = { ...kind, ...part, object_attributes: attributes, action };
  return [{ flag: 'milestone_events', body }];
}

async function readAttributes(db: Db, id: number): Promise<Attributes | undefined> {
  const row = await selectMilestoneById(db, id);
  return row && attributesOf(row);
}

/** The facts that are told, with what happened by them: of other changes hooks hear nothing. */
const actions = {
  milestone_created: 'create',
  milestone_closed: 'close',
  milestone_reopened: 'reopen',
  milestone_deleted: 'delete',
} as const satisfies Record<string, Action>;

export const milestoneHooks = Object.entries(actions).map(([fact, action]) =>
  hookSource<MilestoneFact>({
    fact,
    flags: ['milestone_events'],
    async eventsOf(services, told) {
      const { background } = services.database;
      const attributes = told.gone ?? (await readAttributes(background, told.milestone_id));
      return attributes ? milestoneEvent(services, told, attributes, action) : [];
    },
  }),
);

export const milestoneSample: HookSample = {
  flag: 'milestone_events',
  async eventFor(services, { projectId }) {
    const newest = await selectNewestMilestone(services.database.background, projectId);
    const place = { project_id: projectId };
    const [event] = newest ? await milestoneEvent(services, place, attributesOf(newest), 'create') : [];
    return event ?? { missing: 'Ensure the project has milestones.' };
  },
};
