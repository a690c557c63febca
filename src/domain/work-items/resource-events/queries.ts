/** Events of issues, epics and merge requests, and the labels and milestones that they name. */

import { type Selectable, sql } from 'kysely';
import { userBasicJson } from '../../../kernel/users/queries.ts';
import type { UserBasicRow } from '../../../kernel/users/records.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { ResourceEventsTable } from '../../../platform/db/rows.ts';
import { byId, readTagged, taggedRows } from '../../../platform/db/tagged-rows.ts';
import {
  type LabelBasicRow,
  type LabelRow,
  type MilestoneWithPath,
  milestoneOfJson,
  milestonesById,
  selectMilestonesOf,
} from '../../planning/index.ts';
import type { EventColumn } from './actions.ts';

/** The issue, epic or merge request, by the column that refers to it. */
export type EventSource = { column: EventColumn; id: number };

/** With the state of its issue or epic at that time, and the user, who is null when deleted meanwhile. */
export type EventRow = Selectable<ResourceEventsTable> & { state: string; user: UserBasicRow | null };

/** Events of one kind, each with the current state of its issue or epic. */
export const eventsOf = (db: Db, target: EventSource, kind: string) => {
  const { column } = target;
  return db
    .selectFrom('resource_events')
    .selectAll()
    .select(
      sql<string>`coalesce((select case s.action when 'reopened' then 'opened' else s.action end from resource_events s
        where s.${sql.ref(column)} = resource_events.${sql.ref(column)} and s.kind = 'state' and s.id < resource_events.id
        order by s.id desc limit 1), 'opened')`.as('state'),
    )
    .select(sql.raw<UserBasicRow | null>(userBasicJson('resource_events.user_id')).as('user'))
    .where(column, '=', target.id)
    .where('kind', '=', kind);
};

/** What events name, by id. */
export type EventRelations = {
  labels: ReadonlyMap<number, LabelBasicRow>;
  milestones: ReadonlyMap<number, MilestoneWithPath>;
};

const distinct = (ids: readonly (number | null)[]): number[] => [
  ...new Set(ids.filter((id): id is number => id !== null)),
];

/** What the events of a page name. */
export async function selectRelations(db: Db, rows: readonly EventRow[]): Promise<EventRelations> {
  const ids = distinct(rows.map(({ label_id }) => label_id));
  const [labels, milestones] = await Promise.all([
    ids.length === 0 ? [] : db.selectFrom('labels').selectAll().where('id', 'in', ids).execute(),
    milestonesById(db, distinct(rows.map(({ milestone_id }) => milestone_id))),
  ]);
  return { labels: byId(labels), milestones };
}

/** One event, if the issue or epic has it, with what it names. */
export async function selectEvent(db: Db, target: EventSource, kind: string, id: number) {
  const event = eventsOf(db, target, kind).where('id', '=', id);
  const of = await readTagged<{ events: EventRow; labels: LabelRow; milestones: MilestoneWithPath }>(
    db,
    [
      taggedRows('events', sql`select * from event`),
      taggedRows('labels', sql`select * from labels where id in (select label_id from event)`, {
        isDescribed: true,
      }),
      taggedRows('milestones', selectMilestonesOf(sql`array(select milestone_id from event)`), {
        isDescribed: true,
      }),
    ],
    sql`event as (${event})`,
  );
  return {
    // A time is a text in JSON.
    rows: of('events').map((row) => ({ ...row, created_at: new Date(row.created_at) })),
    relations: { labels: byId(of('labels')), milestones: byId(of('milestones').map(milestoneOfJson)) },
  };
}
