/** Relations of issues for their records (issue-records.ts), loaded for all of them at once. */
import { type RawBuilder, sql } from 'kysely';
import { mayInProject } from '../../../../kernel/access/ability-queries.ts';
import type { Caller } from '../../../../kernel/actor.ts';
import { selectProjectPaths } from '../../../../kernel/namespaces/path-queries.ts';
import type { Needs } from '../../../../kernel/services.ts';
import { peopleColumns, selectPeople } from '../../../../kernel/users/queries.ts';
import type { UserBasicRow } from '../../../../kernel/users/records.ts';
import type { Db } from '../../../../platform/db/database.ts';
import { byId, idArray, readTagged, taggedRows } from '../../../../platform/db/tagged-rows.ts';
import { selectSubscribed } from '../../../conversation/index.ts';
import {
  type LabelBasicRow,
  type LabelOfTargets,
  labelsByTarget,
  type MilestoneWithPath,
  milestoneOfJson,
  selectLabelsOf,
  selectMilestonesOf,
} from '../../../planning/index.ts';
import { visibleEpics } from '../../epics/records/visibility-queries.ts';
import { issueSubscriptions } from './issue-noteable.ts';
import type { IssueRow } from './issue-rows.ts';
import { type VisibleIssues, visibleIssues } from './visibility-queries.ts';

/** Seconds spent, and how many open issues this one blocks. */
type Counts = { id: number; spent: number; blocking: number };
/** How many merge requests that the reader sees close the issue when they are merged. */
type Closing = { issue_id: number; count: number };
type EpicOfIssue = {
  issue_id: number;
  id: number;
  iid: number;
  title: string;
  group_id: number;
  group_path: string;
};

export type IssueRelations = {
  /** Authors, and users who closed issues. */
  people: ReadonlyMap<number, UserBasicRow>;
  /** By issue id, but paths by project id, and milestones and originals by their own ids. */
  assignees: ReadonlyMap<number, readonly UserBasicRow[]>;
  paths: ReadonlyMap<number, string>;
  labels: ReadonlyMap<number, readonly LabelBasicRow[]>;
  milestones: ReadonlyMap<number, MilestoneWithPath>;
  counts: ReadonlyMap<number, Counts>;
  /** How many merge requests that the reader sees close the issue; without one, it is not in the map. */
  closing: ReadonlyMap<number, number>;
  epics: ReadonlyMap<number, EpicOfIssue>;
  /** The issues that these were closed as duplicates of, where the reader sees them. */
  originals: ReadonlyMap<number, { project_id: number; iid: number }>;
  /** Of a single issue, for a signed-in reader. */
  subscribed: boolean | undefined;
};

type Relations = {
  people: UserBasicRow;
  assignees: UserBasicRow & { issue_id: number };
  paths: { id: number; full_path: string };
  labels: LabelOfTargets;
  milestones: MilestoneWithPath;
  counts: Counts;
  closing: Closing;
  epics: EpicOfIssue;
  originals: { id: number; project_id: number; iid: number };
  subscribed: { id: number };
};

type Reading = { db: Db; services: Needs<'config'>; actor: Caller };

/** All relations of the rows (at least one), by one statement. */
export async function loadIssueRelations(
  { db, services, actor }: Reading,
  rows: readonly IssueRow[],
  { single = false, withLabelsDetails = false }: { single?: boolean; withLabelsDetails?: boolean },
): Promise<IssueRelations> {
  const issues = idArray(rows.map((row) => row.id));
  const people = idArray(rows.flatMap((row) => [row.author_id, row.closed_by_id]));
  const milestones = idArray(rows.map((row) => row.milestone_id));
  const originals = rows.map((row) => row.duplicated_to_id).filter((id) => id !== null);
  const seen = originals.length > 0 ? visibleIssues(actor) : undefined;
  const selects = [
    taggedRows('people', selectPeople(people)),
    taggedRows('assignees', selectAssignees(issues)),
    taggedRows('paths', selectProjectPaths(idArray(rows.map((row) => row.project_id)))),
    taggedRows('labels', selectLabelsOf('issue_id', issues, withLabelsDetails), { isDescribed: true }),
    taggedRows('milestones', selectMilestonesOf(milestones), { isDescribed: true }),
    taggedRows('counts', selectCounts(issues)),
    taggedRows('closing', selectClosing(actor, issues)),
    ...(services.config.tier === 'free' ? [] : [taggedRows('epics', selectEpics(actor, issues))]),
    ...(seen ? [taggedRows('originals', selectOriginals(idArray(originals), seen))] : []),
    ...(single && actor
      ? [taggedRows('subscribed', selectSubscribed(actor.id, issueSubscriptions, issues))]
      : []),
  ];
  const of = await readTagged<Relations>(db, selects, seen?.ctes);
  return {
    people: byId(of('people')),
    assignees: Map.groupBy(
      of('assignees').toSorted((one, other) => one.id - other.id),
      ({ issue_id }) => issue_id,
    ),
    paths: new Map(of('paths').map(({ id, full_path }) => [id, full_path])),
    labels: labelsByTarget(of('labels')),
    milestones: byId(of('milestones').map(milestoneOfJson)),
    counts: byId(of('counts')),
    closing: new Map(of('closing').map(({ issue_id, count }) => [issue_id, count])),
    epics: new Map(of('epics').map((epic) => [epic.issue_id, epic])),
    originals: byId(of('originals')),
    subscribed: single && actor ? of('subscribed').length > 0 : undefined,
  };
}

const selectAssignees = (issues: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select a.issue_id, ${peopleColumns} from issue_assignees a join users u on u.id = a.user_id
  where a.issue_id = any(${issues})`;

/** A link is looked up before its issue: a join might look at all open issues for each. */
const selectCounts = (issues: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select asked.id,
    (select coalesce(sum(t.seconds), 0)::bigint from timelogs t where t.issue_id = asked.id) as spent,
    (select count(*) from issue_links l where l.source_id = asked.id and l.link_type = 'blocks'
      and (select state from issues where id = l.target_id) = 'opened') as blocking
  from unnest(${issues}) as asked(id) where asked.id > 0`;

/** Counted by project first: the reader's role is found once for each. */
const selectClosing = (caller: Caller, issues: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select closing.issue_id, sum(closing.count)::bigint as count
  from (select x.issue_id, m.project_id, count(*) as count from merge_request_closing_issues x
    join merge_requests m on m.id = x.merge_request_id where x.issue_id = any(${issues}) group by 1, 2) closing
  where ${mayInProject('read_merge_requests', caller, sql`closing.project_id`)} group by 1`;

/** The epics that the reader sees. */
const selectEpics = (caller: Caller, issues: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select x.issue_id, epics.id, epics.iid, epics.title, home.id as group_id, home.full_path as group_path
  from epic_issues x join epics on epics.id = x.epic_id join namespaces home on home.id = epics.namespace_id
  where x.issue_id = any(${issues}) and ${visibleEpics(caller)}`;

/** Those among the issues of these ids that the reader sees. */
const selectOriginals = (ids: RawBuilder<unknown>, { condition }: VisibleIssues): RawBuilder<unknown> => sql`
  select i.id, i.project_id, i.iid from issues i join listed_projects v on v.id = i.project_id
  where i.id = any(${ids}) and ${condition}`;
