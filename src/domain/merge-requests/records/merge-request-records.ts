/** Merge request records (facts: Resource entities, Merge request); relations are loaded once per page. */
import Type, { type Static } from 'typebox';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { presentUserBasic, UserBasic } from '../../../kernel/users/records.ts';
import type { Db } from '../../../platform/db/database.ts';
import { dateTime, deprecated, nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { mapInTurns } from '../../../platform/turns.ts';
import { Pipeline, showPipeline } from '../../ci/index.ts';
import { LabelOrName, MilestoneRecord, presentLabelBasic, presentMilestone } from '../../planning/index.ts';
import { PipelineBasic } from '../../repositories/index.ts';
import { countTasks, presentTimeStats, TimeStatsRecord } from '../../work-items/index.ts';
import { isApproved } from '../approvals/loaded.ts';
import { detailedMergeStatus } from '../mergeability/checks.ts';
import { squashOnMerge } from '../texts/squash.ts';
import type { HeadPipeline } from './head-pipeline-queries.ts';
import { mergeConditions } from './merge-conditions.ts';
import { type MergeRequestRow, mergeRequestWebUrl, type VersionRow } from './merge-request-rows.ts';
import { mayMerge } from './merge-rights.ts';
import { readableProjects } from './readable-projects.ts';
import { loadMergeRequestRelations, type MergeRequestRelations } from './relation-queries.ts';

const basic = {
  id: Type.Integer(),
  iid: Type.Integer(),
  project_id: Type.Integer(),
  title: Type.String(),
  description: nullable(Type.String()),
  state: stringEnum(['opened', 'closed', 'merged', 'locked']),
  created_at: dateTime(),
  updated_at: dateTime(),
  merged_by: deprecated(nullable(UserBasic), 'merge_user'),
  merge_user: nullable(UserBasic),
  merged_at: nullable(dateTime()),
  closed_by: nullable(UserBasic),
  closed_at: nullable(dateTime()),
  target_branch: Type.String(),
  source_branch: Type.String(),
  user_notes_count: Type.Integer(),
  upvotes: Type.Integer(),
  downvotes: Type.Integer(),
  author: UserBasic,
  assignees: Type.Array(UserBasic),
  assignee: nullable(UserBasic),
  reviewers: Type.Array(UserBasic),
  source_project_id: nullable(Type.Integer()),
  target_project_id: Type.Integer(),
  labels: Type.Array(LabelOrName),
  draft: Type.Boolean(),
  imported: Type.Boolean(),
  imported_from: Type.String(),
  work_in_progress: deprecated(Type.Boolean(), 'draft'),
  milestone: nullable(MilestoneRecord),
  merge_when_pipeline_succeeds: Type.Boolean(),
  merge_status: deprecated(Type.String(), 'detailed_merge_status'),
  detailed_merge_status: Type.String(),
  merge_after: nullable(dateTime()),
  sha: nullable(Type.String()),
  merge_commit_sha: nullable(Type.String()),
  squash_commit_sha: nullable(Type.String()),
  discussion_locked: nullable(Type.Boolean()),
  should_remove_source_branch: nullable(Type.Boolean()),
  force_remove_source_branch: nullable(Type.Boolean()),
  prepared_at: nullable(dateTime()),
  allow_collaboration: Type.Optional(Type.Boolean({ description: 'Of forks.' })),
  allow_maintainer_to_push: Type.Optional(deprecated(Type.Boolean(), 'allow_collaboration')),
  reference: deprecated(Type.String(), 'references'),
  references: Type.Object({ short: Type.String(), relative: Type.String(), full: Type.String() }),
  web_url: Type.String(),
  time_stats: TimeStatsRecord,
  squash: Type.Boolean(),
  squash_on_merge: Type.Boolean(),
  task_completion_status: Type.Object({ count: Type.Integer(), completed_count: Type.Integer() }),
  has_conflicts: Type.Boolean(),
  blocking_discussions_resolved: Type.Boolean(),
  approvals_before_merge: Type.Optional(deprecated(nullable(Type.Integer()), 'approval rules')),
};

export const MergeRequestBasicRecord = Type.Object(basic);
export type MergeRequestBasicRecord = Static<typeof MergeRequestBasicRecord>;

/** What `view=simple` shows (facts: The merge request record). */
const simpleFields = [
  'id',
  'iid',
  'project_id',
  'title',
  'description',
  'state',
  'created_at',
  'updated_at',
  'web_url',
] as const;

/** A record of a list: only the fields of the simple view are always there. */
export const ListedMergeRequest = Type.Object({
  ...Type.Partial(MergeRequestBasicRecord).properties,
  ...Type.Pick(MergeRequestBasicRecord, [...simpleFields]).properties,
});
export type ListedMergeRequest = Static<typeof ListedMergeRequest>;

export const simpleRecord = ({
  id,
  iid,
  project_id,
  title,
  description,
  state,
  created_at,
  updated_at,
  web_url,
}: MergeRequestBasicRecord): ListedMergeRequest => ({
  id,
  iid,
  project_id,
  title,
  description,
  state,
  created_at,
  updated_at,
  web_url,
});

const DiffRefs = Type.Object({ base_sha: Type.String(), head_sha: Type.String(), start_sha: Type.String() });

export const MergeRequestRecord = Type.Object({
  ...basic,
  subscribed: Type.Boolean(),
  changes_count: nullable(Type.String()),
  latest_build_started_at: Type.Optional(nullable(dateTime())),
  latest_build_finished_at: Type.Optional(nullable(dateTime())),
  first_deployed_to_production_at: Type.Optional(Type.Null()),
  pipeline: Type.Optional(nullable(PipelineBasic)),
  head_pipeline: Type.Optional(
    nullable(Type.Object(Pipeline.properties, { description: 'For those who may read pipelines.' })),
  ),
  diff_refs: nullable(DiffRefs),
  merge_error: nullable(Type.String()),
  title_html: Type.Optional(Type.String()),
  description_html: Type.Optional(Type.String()),
  rebase_in_progress: Type.Optional(Type.Boolean()),
  diverged_commits_count: Type.Optional(Type.Integer()),
  first_contribution: Type.Optional(Type.Boolean()),
  user: Type.Object({ can_merge: Type.Boolean() }),
});
export type MergeRequestRecord = Static<typeof MergeRequestRecord>;

/** The reader, and the services of the request. */
export type MergeRequestReading = {
  db: Db;
  services: Needs<'config' | 'baseUrl' | 'database' | 'repositories'>;
  settings: ApplicationSettings;
  actor: Caller;
};

export type MergeRequestRecordOptions = {
  withLabelsDetails?: boolean;
  /** In a list over several projects, where relative references are full ones. */
  across?: boolean;
};

/** The records, in the order of the rows. The caller checked that the reader sees them. */
export async function presentMergeRequests(
  reading: MergeRequestReading,
  rows: readonly MergeRequestRow[],
  options: MergeRequestRecordOptions = {},
): Promise<MergeRequestBasicRecord[]> {
  if (rows.length === 0) return [];
  const relations = await loadMergeRequestRelations(reading, rows, options);
  const records = await mapInTurns(rows, (row) => presentBasic(reading, relations, row, options));
  return records.filter((record) => record !== undefined);
}

/** Undefined when the project or the author was deleted meanwhile. */
export function presentBasic(
  { services, settings }: Pick<MergeRequestReading, 'services' | 'settings'>,
  relations: MergeRequestRelations,
  row: MergeRequestRow,
  options: MergeRequestRecordOptions,
): MergeRequestBasicRecord | undefined {
  const around = { baseUrl: services.baseUrl(), settings };
  const author = relations.people.get(row.author_id);
  const fullPath = relations.paths.get(row.project_id);
  const project = relations.settings.get(row.project_id);
  if (!author || fullPath === undefined || !project) return undefined;
  const person = (id: number | null) => {
    const found = id === null ? undefined : relations.people.get(id);
    return found ? presentUserBasic(around, found) : null;
  };
  const people = (of: MergeRequestRelations['assignees']) =>
    (of.get(row.id) ?? []).map((user) => presentUserBasic(around, user));
  const assignees = people(relations.assignees);
  const labels = relations.labels.get(row.id) ?? [];
  const milestone = row.milestone_id === null ? undefined : relations.milestones.get(row.milestone_id);
  const counts = relations.counts.get(row.id);
  const unresolved = counts?.unresolved ?? 0;
  const short = `!${row.iid}`;
  const full = `${fullPath}${short}`;
  const shown = options.across ? full : short;
  const mergeUser = person(row.merge_user_id);
  const isFork = row.source_project_id !== row.project_id;
  return {
    id: row.id,
    iid: row.iid,
    project_id: row.project_id,
    title: row.title,
    description: row.description,
    state: row.state as MergeRequestBasicRecord['state'],
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    merged_by: row.state === 'merged' ? mergeUser : null,
    merge_user: mergeUser,
    merged_at: row.merged_at?.toISOString() ?? null,
    closed_by: person(row.closed_by_id),
    closed_at: row.closed_at?.toISOString() ?? null,
    target_branch: row.target_branch,
    source_branch: row.source_branch,
    user_notes_count: row.user_notes_count,
    upvotes: row.upvotes,
    downvotes: row.downvotes,
    author: presentUserBasic(around, author),
    assignees,
    assignee: assignees[0] ?? null,
    reviewers: people(relations.reviewers),
    source_project_id: row.source_project_id,
    target_project_id: row.project_id,
    labels: labels.map((label) => (options.withLabelsDetails ? presentLabelBasic(label) : label.name)),
    draft: row.draft,
    imported: false,
    imported_from: 'none',
    work_in_progress: row.draft,
    milestone: milestone
      ? presentMilestone(milestone, { baseUrl: around.baseUrl, fullPath: milestone.full_path })
      : null,
    merge_when_pipeline_succeeds: row.auto_merge !== null,
    merge_status: row.merge_status,
    detailed_merge_status: detailedMergeStatus(
      mergeConditions(
        row,
        {
          project,
          matchesTitlePattern: relations.matchesTitle(project.merge_request_title_regex, row.title),
          unresolved,
          isApproved: isApproved(relations.approvals.get(row.id)),
          blocked: counts?.blocked ?? false,
          changesRequested: counts?.changes_requested ?? false,
          unpassed: (relations.unpassed.get(row.id) ?? []).map(({ patterns }) => patterns),
          pipeline: relations.headPipelines.get(row.id)?.status ?? null,
          changesLocked: relations.changingLocked.has(row.id),
        },
        services.config.tier,
      ),
    ),
    merge_after: row.merge_after?.toISOString() ?? null,
    sha: row.head_sha,
    merge_commit_sha: row.merge_commit_sha,
    squash_commit_sha: row.squash_commit_sha,
    discussion_locked: row.discussion_locked,
    should_remove_source_branch: row.should_remove_source_branch,
    force_remove_source_branch: row.force_remove_source_branch,
    prepared_at: row.prepared_at?.toISOString() ?? null,
    ...(isFork && {
      allow_collaboration: row.allow_collaboration,
      allow_maintainer_to_push: row.allow_collaboration,
    }),
    reference: shown,
    references: { short, relative: shown, full },
    web_url: mergeRequestWebUrl(around.baseUrl, fullPath, row.iid),
    time_stats: presentTimeStats({ estimate: row.time_estimate, spent: counts?.spent ?? 0 }),
    squash: row.squash,
    squash_on_merge: squashOnMerge(project.squash_option, row.squash),
    task_completion_status: countTasks(row.description),
    has_conflicts: row.merge_status === 'cannot_be_merged',
    blocking_discussions_resolved:
      !project.only_allow_merge_if_all_discussions_are_resolved || unresolved === 0,
    ...(services.config.tier !== 'free' && { approvals_before_merge: row.approvals_before_merge }),
  };
}

/** What only the record of a single one has, beside the options that the request names. */
export type SingleExtras = Pick<
  MergeRequestRecord,
  'title_html' | 'description_html' | 'rebase_in_progress' | 'diverged_commits_count' | 'first_contribution'
>;

/** The record by itself; undefined when the project or the author was deleted meanwhile. */
export async function presentMergeRequest(
  reading: MergeRequestReading,
  project: AuthorizedProject,
  row: MergeRequestRow,
  extras: (relations: MergeRequestRelations) => SingleExtras = () => ({}),
): Promise<MergeRequestRecord | undefined> {
  const relations = await loadMergeRequestRelations(reading, [row], { single: true });
  const record = presentBasic(reading, relations, row, {});
  const version = relations.single?.version;
  const canMerge = await mayMerge(reading, project, row.target_branch, relations.single?.rules);
  return (
    record && {
      ...record,
      subscribed: relations.single?.subscribed ?? false,
      changes_count: version ? changesCount(version) : null,
      ...(await presentHeadPipeline(reading, project, row, relations.headPipelines.get(row.id))),
      diff_refs: version
        ? { base_sha: version.base_sha, head_sha: version.head_sha, start_sha: version.start_sha }
        : null,
      merge_error: row.merge_error,
      ...extras(relations),
      user: { can_merge: canMerge },
    }
  );
}

/** What the newest commit fares by, for those who may read pipelines: null where there is none. */
async function presentHeadPipeline(
  reading: MergeRequestReading,
  project: AuthorizedProject,
  row: MergeRequestRow,
  head: HeadPipeline | undefined,
): Promise<Partial<MergeRequestRecord>> {
  const isHere = head === undefined || head.project_id === project.id;
  const home = isHere ? project : (await readableProjects(reading, project, row)).get(head.project_id);
  if (!home?.may('read_pipelines')) return {};
  const { db, services, settings } = reading;
  const pipeline = head && (await showPipeline({ db, services, settings, subject: home }, head.id));
  return {
    latest_build_started_at: pipeline?.started_at ?? null,
    latest_build_finished_at: pipeline?.finished_at ?? null,
    first_deployed_to_production_at: null,
    pipeline: pipeline ?? null,
    head_pipeline: pipeline ?? null,
  };
}

/** `3`, or `1000+` where more files differ than are counted (facts: Diff versions). */
export const changesCount = ({ files, overflows }: Pick<VersionRow, 'files' | 'overflows'>): string =>
  `${files}${overflows ? '+' : ''}`;
