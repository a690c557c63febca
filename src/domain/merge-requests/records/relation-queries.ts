/** Relations of merge requests for their records (merge-request-records.ts), loaded for all of them at once. */
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../../../kernel/actor.ts';
import { selectProjectPaths } from '../../../kernel/namespaces/path-queries.ts';
import { type ProjectSettings, projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { peopleColumns, selectPeople } from '../../../kernel/users/queries.ts';
import type { UserBasicRow } from '../../../kernel/users/records.ts';
import type { Db } from '../../../platform/db/database.ts';
import { byId, idArray, readTagged, taggedRows } from '../../../platform/db/tagged-rows.ts';
import { type PatternMatcher, patternMatcher } from '../../../platform/patterns/pattern.ts';
import { selectSubscribed } from '../../conversation/index.ts';
import {
  type LabelBasicRow,
  type LabelOfTargets,
  labelsByTarget,
  type MilestoneWithPath,
  milestoneOfJson,
  selectLabelsOf,
  selectMilestonesOf,
} from '../../planning/index.ts';
import { type RuleRow, ruleRows } from '../../repositories/index.ts';
import { type ApprovalRows, type LoadedApprovals, loadedApprovals } from '../approvals/loaded.ts';
import { approvalCtes, approvalSelects } from '../approvals/queries.ts';
import { type HeadPipeline, selectHeadPipelines } from './head-pipeline-queries.ts';
import {
  type LockableMerge,
  type LockOfProject,
  selectLockable,
  selectLocksOver,
} from './locked-file-queries.ts';
import { findChangingLocked } from './locked-files.ts';
import { mergeRequestSubscriptions } from './merge-request-noteable.ts';
import type { MergeRequestRow, VersionRow } from './merge-request-rows.ts';
import { hasRequestedChanges, isBlocked, selectUnpassed } from './waiting-queries.ts';

/** Seconds spent, open threads, and whether one that must be merged first is not. */
type Counts = { id: number; spent: number; unresolved: number; blocked: boolean; changes_requested: boolean };
/** The branches of an external check that must pass, and has not. */
type UnpassedCheck = { merge_request_id: number; patterns: string[] };
type PersonOf = UserBasicRow & { merge_request_id: number };

export type MergeRequestRelations = {
  /** Authors, users who merged and who closed. */
  people: ReadonlyMap<number, UserBasicRow>;
  /** By merge request id, but paths and settings by project id, and milestones by their own ids. */
  assignees: ReadonlyMap<number, readonly UserBasicRow[]>;
  reviewers: ReadonlyMap<number, readonly UserBasicRow[]>;
  paths: ReadonlyMap<number, string>;
  settings: ReadonlyMap<number, ProjectSettings>;
  /** For the patterns of those settings. */
  matchesTitle: PatternMatcher;
  labels: ReadonlyMap<number, readonly LabelBasicRow[]>;
  milestones: ReadonlyMap<number, MilestoneWithPath>;
  counts: ReadonlyMap<number, Counts>;
  unpassed: ReadonlyMap<number, readonly UnpassedCheck[]>;
  /** What the newest commit of each fares by. */
  headPipelines: ReadonlyMap<number, HeadPipeline>;
  /** Of those that are open, where approvals are asked for. */
  approvals: ReadonlyMap<number, LoadedApprovals>;
  /** Open ones that change what others than their authors have locked. */
  changingLocked: ReadonlySet<number>;
  /** Of a single one. */
  single: SingleRelations | undefined;
};

export type SingleRelations = {
  /** Undefined for an anonymous reader. */
  subscribed: boolean;
  version: VersionRow | undefined;
  /** Whether the author has had none merged here before it. */
  isFirstContribution: boolean;
  /** The rules of the project's branches. */
  rules: readonly RuleRow[];
};

type Relations = ApprovalRows & {
  people: UserBasicRow;
  assignees: PersonOf;
  reviewers: PersonOf;
  paths: { id: number; full_path: string };
  settings: { id: number; settings: unknown };
  labels: LabelOfTargets;
  milestones: MilestoneWithPath;
  counts: Counts;
  unpassed: UnpassedCheck;
  pipelines: HeadPipeline;
  subscribed: { id: number };
  versions: VersionRow;
  earlier: { id: number };
  rules: RuleRow;
  lockable: LockableMerge;
  locks: LockOfProject;
};

const selectPeopleOf = (
  table: 'merge_request_assignees' | 'merge_request_reviewers',
  ids: RawBuilder<unknown>,
): RawBuilder<unknown> => sql`
  select a.merge_request_id, ${peopleColumns} from ${sql.table(table)} a join users u on u.id = a.user_id
  where a.merge_request_id = any(${ids})`;

const selectCounts = (ids: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select asked.id,
    (select coalesce(sum(t.seconds), 0)::bigint from timelogs t where t.merge_request_id = asked.id) as spent,
    (select count(*) from notes n where n.merge_request_id = asked.id and n.in_thread and n.resolved_at is null
      and n.system_action is null) as unresolved,
    ${isBlocked(sql.ref('asked.id'))} as blocked, ${hasRequestedChanges(sql.ref('asked.id'))} as changes_requested
  from unnest(${ids}) as asked(id) where asked.id > 0`;

const selectLatestVersion = (id: number): RawBuilder<unknown> => sql`
  select * from merge_request_versions where merge_request_id = ${id} order by id desc limit 1`;

/** Another of the author that is merged; of one that is merged itself, that was merged before it. */
const selectEarlierMerged = ({
  id,
  project_id,
  author_id,
  merged_at,
}: MergeRequestRow): RawBuilder<unknown> => sql`
  select id from merge_requests where author_id = ${author_id} and project_id = ${project_id} and state = 'merged'
    and id <> ${id} and ${merged_at === null ? sql`true` : sql`(merged_at, id) < (${merged_at}, ${id})`} limit 1`;

const byMergeRequest = (people: readonly PersonOf[]): ReadonlyMap<number, readonly UserBasicRow[]> =>
  Map.groupBy(
    people.toSorted((one, other) => one.id - other.id),
    ({ merge_request_id }) => merge_request_id,
  );

type Reading = {
  db: Db;
  services: Needs<'config' | 'repositories'>;
  settings: ApplicationSettings;
  actor: Caller;
};

/** All relations of the rows (at least one), by one statement. */
export async function loadMergeRequestRelations(
  { db, services, settings, actor }: Reading,
  rows: readonly MergeRequestRow[],
  { single = false, withLabelsDetails = false }: { single?: boolean; withLabelsDetails?: boolean },
): Promise<MergeRequestRelations> {
  const ids = idArray(rows.map((row) => row.id));
  const people = idArray(rows.flatMap((row) => [row.author_id, row.merge_user_id, row.closed_by_id]));
  const projects = idArray(rows.map((row) => row.project_id));
  const alone = single ? rows[0] : undefined;
  const open = services.config.tier === 'free' ? [] : rows.filter(({ state }) => state === 'opened');
  const approvable = open.length > 0 ? idArray(open.map((row) => row.id)) : undefined;
  const mergeable = idArray(rows.filter(({ state }) => state === 'opened').map((row) => row.id));
  const selects = [
    taggedRows('people', selectPeople(people)),
    taggedRows('assignees', selectPeopleOf('merge_request_assignees', ids)),
    taggedRows('reviewers', selectPeopleOf('merge_request_reviewers', ids)),
    taggedRows('paths', selectProjectPaths(projects)),
    taggedRows('settings', sql`select id, settings from projects where id = any(${projects})`),
    taggedRows('labels', selectLabelsOf('merge_request_id', ids, withLabelsDetails), { isDescribed: true }),
    taggedRows('milestones', selectMilestonesOf(idArray(rows.map((row) => row.milestone_id))), {
      isDescribed: true,
    }),
    taggedRows('counts', selectCounts(ids)),
    taggedRows('unpassed', selectUnpassed(ids)),
    taggedRows('pipelines', selectHeadPipelines(ids)),
    taggedRows('lockable', selectLockable(mergeable)),
    taggedRows('locks', selectLocksOver(mergeable)),
    ...(alone
      ? [
          taggedRows('versions', selectLatestVersion(alone.id)),
          taggedRows('earlier', selectEarlierMerged(alone)),
          taggedRows('rules', ruleRows(alone.project_id)),
        ]
      : []),
    ...(alone && actor
      ? [taggedRows('subscribed', selectSubscribed(actor.id, mergeRequestSubscriptions, ids))]
      : []),
    ...(approvable ? approvalSelects() : []),
  ];
  const of = await readTagged<Relations>(db, selects, approvable && approvalCtes(approvable));
  const approvalsOf = loadedApprovals(of, settings);
  const projectsSettings = new Map(of('settings').map((row) => [row.id, projectSettings(row)]));
  const patterns = [...projectsSettings.values()].map((each) => each.merge_request_title_regex);
  return {
    people: byId(of('people')),
    assignees: byMergeRequest(of('assignees')),
    reviewers: byMergeRequest(of('reviewers')),
    paths: new Map(of('paths').map(({ id, full_path }) => [id, full_path])),
    settings: projectsSettings,
    matchesTitle: await patternMatcher(patterns),
    labels: labelsByTarget(of('labels')),
    milestones: byId(of('milestones').map(milestoneOfJson)),
    counts: byId(of('counts')),
    unpassed: Map.groupBy(of('unpassed'), ({ merge_request_id }) => merge_request_id),
    headPipelines: new Map(of('pipelines').map((row) => [row.merge_request_id, row])),
    approvals: new Map(open.map((row) => [row.id, approvalsOf(row)])),
    changingLocked: await findChangingLocked(services.repositories, of('lockable'), of('locks')),
    single: alone && {
      subscribed: of('subscribed').length > 0,
      version: of('versions')[0],
      isFirstContribution: of('earlier').length === 0,
      rules: of('rules'),
    },
  };
}
