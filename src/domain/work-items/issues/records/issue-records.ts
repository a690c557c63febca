/** Issue records (facts: Resource entities, Issue); relations are loaded once per page. */
import Type, { type Static } from 'typebox';
import type { Caller } from '../../../../kernel/actor.ts';
import type { Needs, Services } from '../../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../../kernel/settings/definitions.ts';
import { presentUserBasic, UserBasic } from '../../../../kernel/users/records.ts';
import type { Db } from '../../../../platform/db/database.ts';
import { date, dateTime, nullable, stringEnum } from '../../../../platform/http/parameters/schema.ts';
import { mapInTurns } from '../../../../platform/turns.ts';
import {
  IterationRecord,
  LabelOrName,
  MilestoneRecord,
  presentLabelBasic,
  presentMilestone,
} from '../../../planning/index.ts';
import { countTasks, taskStatus } from '../../changes/task-list.ts';
import { presentTimeStats, TimeStatsRecord } from '../../time-tracking/time-stats.ts';
import { type IssueRow, issueWebUrl } from './issue-rows.ts';
import { type IssueRelations, loadIssueRelations } from './relation-queries.ts';

const basic = {
  id: Type.Integer(),
  iid: Type.Integer(),
  project_id: Type.Integer(),
  title: Type.String(),
  description: nullable(Type.String()),
  state: stringEnum(['opened', 'closed']),
  created_at: dateTime(),
  updated_at: dateTime(),
  closed_at: nullable(dateTime()),
  closed_by: nullable(UserBasic),
  labels: Type.Array(LabelOrName),
  milestone: nullable(MilestoneRecord),
  assignees: Type.Array(UserBasic),
  author: UserBasic,
  type: Type.String(),
  assignee: nullable(UserBasic),
  user_notes_count: Type.Integer(),
  merge_requests_count: Type.Integer(),
  upvotes: Type.Integer(),
  downvotes: Type.Integer(),
  start_date: nullable(date()),
  due_date: nullable(date()),
  confidential: Type.Boolean(),
  discussion_locked: nullable(Type.Boolean()),
  issue_type: Type.String(),
  web_url: Type.String(),
  time_stats: TimeStatsRecord,
  task_completion_status: Type.Object({ count: Type.Integer(), completed_count: Type.Integer() }),
  weight: Type.Optional(nullable(Type.Integer({ description: 'Premium and up.' }))),
  blocking_issues_count: Type.Integer(),
};

/** The fields that other records show of an issue. */
export const IssueBasicRecord = Type.Object(basic);
export type IssueBasicRecord = Static<typeof IssueBasicRecord>;

const EpicOfIssue = Type.Object({
  id: Type.Integer(),
  iid: Type.Integer(),
  title: Type.String(),
  url: Type.String(),
  group_id: Type.Integer(),
});

export const IssueRecord = Type.Object({
  ...basic,
  has_tasks: Type.Boolean(),
  task_status: Type.Optional(Type.String()),
  _links: Type.Object({
    self: Type.String(),
    notes: Type.String(),
    award_emoji: Type.String(),
    project: Type.String(),
    closed_as_duplicate_of: nullable(Type.String()),
  }),
  references: Type.Object({ short: Type.String(), relative: Type.String(), full: Type.String() }),
  severity: Type.String(),
  subscribed: Type.Optional(Type.Boolean({ description: 'Of one issue, for who is signed in.' })),
  moved_to_id: nullable(Type.Integer()),
  imported: Type.Boolean(),
  imported_from: Type.String(),
  service_desk_reply_to: nullable(Type.String()),
  epic_iid: Type.Optional(nullable(Type.Integer({ description: 'Premium and up.' }))),
  epic: Type.Optional(nullable(EpicOfIssue)),
  iteration: Type.Optional(nullable(IterationRecord)),
  health_status: Type.Optional(nullable(Type.String({ description: 'Ultimate.' }))),
});
export type IssueRecord = Static<typeof IssueRecord>;

/** The reader, and the services of the request. */
export type IssueReading = {
  db: Db;
  services: Needs<'config' | 'database' | 'baseUrl'>;
  settings: ApplicationSettings;
  actor: Caller;
};

export type IssueRecordOptions = {
  withLabelsDetails?: boolean;
  /** A single issue shows whether the reader is subscribed. */
  single?: boolean;
  /** In a list over several projects, where relative references are full ones. */
  across?: boolean;
};

/** The records, in the order of the rows. The caller checked that the reader sees the issues. */
export async function presentIssues(
  reading: IssueReading,
  rows: readonly IssueRow[],
  options: IssueRecordOptions = {},
): Promise<IssueRecord[]> {
  if (rows.length === 0) return [];
  const relations = await loadIssueRelations(reading, rows, options);
  const records = await mapInTurns(rows, (row) => presentIssue(reading, relations, row, options));
  return records.filter((record) => record !== undefined);
}

/** The record with its relations. Undefined when the project or the author was deleted meanwhile. */
export function presentIssue(
  { services, settings }: Pick<IssueReading, 'services' | 'settings'>,
  relations: IssueRelations,
  row: IssueRow,
  options: IssueRecordOptions,
): IssueRecord | undefined {
  const around = { baseUrl: services.baseUrl(), settings };
  const author = relations.people.get(row.author_id);
  const fullPath = relations.paths.get(row.project_id);
  if (!author || fullPath === undefined) return undefined;
  const closer = row.closed_by_id === null ? undefined : relations.people.get(row.closed_by_id);
  const assignees = (relations.assignees.get(row.id) ?? []).map((user) => presentUserBasic(around, user));
  const labels = relations.labels.get(row.id) ?? [];
  const milestone = row.milestone_id === null ? undefined : relations.milestones.get(row.milestone_id);
  const counts = relations.counts.get(row.id);
  const tasks = countTasks(row.description);
  const short = `#${row.iid}`;
  const full = `${fullPath}${short}`;
  return {
    id: row.id,
    iid: row.iid,
    project_id: row.project_id,
    title: row.title,
    description: row.description,
    state: row.state === 'closed' ? 'closed' : 'opened',
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    closed_at: row.closed_at?.toISOString() ?? null,
    closed_by: closer ? presentUserBasic(around, closer) : null,
    labels: labels.map((label) => (options.withLabelsDetails ? presentLabelBasic(label) : label.name)),
    milestone: milestone
      ? presentMilestone(milestone, { baseUrl: around.baseUrl, fullPath: milestone.full_path })
      : null,
    assignees,
    author: presentUserBasic(around, author),
    type: row.issue_type.toUpperCase(),
    assignee: assignees[0] ?? null,
    user_notes_count: row.user_notes_count,
    merge_requests_count: relations.closing.get(row.id) ?? 0,
    upvotes: row.upvotes,
    downvotes: row.downvotes,
    start_date: row.start_date,
    due_date: row.due_date,
    confidential: row.confidential,
    discussion_locked: row.discussion_locked,
    issue_type: row.issue_type,
    web_url: issueWebUrl(around.baseUrl, fullPath, row.iid),
    time_stats: presentTimeStats({ estimate: row.time_estimate, spent: counts?.spent ?? 0 }),
    task_completion_status: tasks,
    blocking_issues_count: counts?.blocking ?? 0,
    has_tasks: tasks.count > 0,
    ...(tasks.count > 0 && { task_status: taskStatus(tasks) }),
    _links: presentLinks(`${around.baseUrl}/api/v4/projects`, relations, row),
    references: { short, relative: options.across ? full : short, full },
    severity: row.severity,
    ...(relations.subscribed !== undefined && { subscribed: relations.subscribed }),
    moved_to_id: row.moved_to_id,
    imported: false,
    imported_from: 'none',
    service_desk_reply_to: null,
    ...presentPaid(services.config.tier, relations, row),
  };
}

function presentLinks(projects: string, relations: IssueRelations, row: IssueRow): IssueRecord['_links'] {
  const self = `${projects}/${row.project_id}/issues/${row.iid}`;
  const original = row.duplicated_to_id === null ? undefined : relations.originals.get(row.duplicated_to_id);
  return {
    self,
    notes: `${self}/notes`,
    award_emoji: `${self}/award_emoji`,
    project: `${projects}/${row.project_id}`,
    closed_as_duplicate_of: original ? `${projects}/${original.project_id}/issues/${original.iid}` : null,
  };
}

/** Fields of paid tiers; no request makes iterations, so no issue is in one. */
function presentPaid(
  tier: Services['config']['tier'],
  relations: IssueRelations,
  row: IssueRow,
): Pick<IssueRecord, 'weight' | 'epic_iid' | 'epic' | 'iteration' | 'health_status'> {
  if (tier === 'free') return {};
  const epic = relations.epics.get(row.id) ?? null;
  return {
    weight: row.weight,
    epic_iid: epic?.iid ?? null,
    epic: epic && {
      id: epic.id,
      iid: epic.iid,
      title: epic.title,
      url: `/groups/${epic.group_path}/-/epics/${epic.iid}`,
      group_id: epic.group_id,
    },
    iteration: null,
    ...(tier === 'ultimate' && { health_status: row.health_status }),
  };
}
