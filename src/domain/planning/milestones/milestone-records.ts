/** Milestone records. */
import type { Selectable } from 'kysely';
import Type, { type Static } from 'typebox';
import { now } from '../../../platform/clock.ts';
import type { MilestonesTable } from '../../../platform/db/rows.ts';
import { date, dateTime, nullable } from '../../../platform/http/parameters/schema.ts';

export type MilestoneRow = Selectable<MilestonesTable>;

/** A milestone with the full path of its project or group. */
export type MilestoneWithPath = MilestoneRow & { full_path: string };

export const MilestoneRecord = Type.Object({
  id: Type.Integer(),
  iid: Type.Integer(),
  project_id: Type.Optional(Type.Integer()),
  group_id: Type.Optional(Type.Integer()),
  title: Type.String(),
  description: nullable(Type.String()),
  state: Type.String(),
  created_at: dateTime(),
  updated_at: dateTime(),
  due_date: nullable(date()),
  start_date: nullable(date()),
  expired: Type.Boolean(),
  web_url: Type.String(),
});
export type MilestoneRecord = Static<typeof MilestoneRecord>;

/** The record; `fullPath` is that of its project or group. */
export const presentMilestone = (
  row: MilestoneRow,
  { baseUrl, fullPath }: { baseUrl: string; fullPath: string },
): MilestoneRecord => ({
  id: row.id,
  iid: row.iid,
  ...(row.project_id !== null && { project_id: row.project_id }),
  ...(row.namespace_id !== null && { group_id: row.namespace_id }),
  title: row.title,
  description: row.description,
  state: row.state,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  due_date: row.due_date,
  start_date: row.start_date,
  expired: row.due_date !== null && row.due_date < now().toISOString().slice(0, 10),
  web_url: `${baseUrl}/${row.project_id === null ? 'groups/' : ''}${fullPath}/-/milestones/${row.iid}`,
});

/** The row of selectMilestonesOf() that was read as JSON, which has no times. */
export const milestoneOfJson = (row: MilestoneWithPath): MilestoneWithPath => ({
  ...row,
  created_at: new Date(row.created_at),
  updated_at: new Date(row.updated_at),
});
