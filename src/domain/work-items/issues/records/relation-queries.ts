/** Relations of issues for their records (issue-records.ts), loaded for all of them at once. */
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../../../../kernel/actor.ts';
import type { Services } from '../../../../kernel/services.ts';
import type { UserBasicRow } from '../../../../kernel/users/records.ts';
import type { Db } from '../../../../platform/db/database.ts';
import { jsonRows } from '../../../../platform/db/json-rows.ts';
import { selectSubscribed } from '../../../conversation/index.ts';
import {
  type LabelBasicRow,
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
  epics: ReadonlyMap<number, EpicOfIssue>;
  /** The issues that these were closed as duplicates of, where the reader sees them. */
  originals: ReadonlyMap<number, { project_id: number; iid: number }>;
  /** Of a single issue, for a signed-in reader. */
  subscribed: boolean | undefined;
};

const unique = (ids: readonly (number | null)[]): number[] => [
  ...new Set(ids.filter((id): id is number => id !== null)),
];

/**
 * PostgreSQL assumes ten entries of an array that it does not know. It would plan the statement anew for each shorter
 * one, which takes longer than the statement: shorter ones are filled up with an id that no row has.
 */
const ASSUMED_IDS = 10;
const listed = (ids: readonly number[]): RawBuilder<unknown> => {
  const filling = Array.from({ length: Math.max(0, ASSUMED_IDS - ids.length) }, () => 0);
  return sql`${[...ids, ...filling]}::bigint[]`;
};
const byId = <Row extends { id: number }>(rows: readonly Row[]): Map<number, Row> =>
  new Map(rows.map((row) => [row.id, row]));

const none = sql`'[]'::jsonb`;

type RelationsRow = {
  people: UserBasicRow[];
  assignees: (UserBasicRow & { issue_id: number })[];
  paths: { id: number; full_path: string }[];
  labels: (LabelBasicRow & { target_id: number })[];
  milestones: MilestoneWithPath[];
  counts: Counts[];
  epics: EpicOfIssue[];
  originals: { id: number; project_id: number; iid: number }[];
  subscribed: { id: number }[];
};

/** All relations of the rows (at least one), by one statement. */
export async function loadIssueRelations(
  { db, services, actor }: { db: Db; services: Services; actor: Caller },
  rows: readonly IssueRow[],
  single: boolean,
): Promise<IssueRelations> {
  const issues = listed(rows.map((row) => row.id));
  const originals = unique(rows.map((row) => row.duplicated_to_id));
  const seen = originals.length > 0 ? visibleIssues(actor) : undefined;
  const found = await sql<RelationsRow>`${seen ? sql`with ${seen.ctes}` : sql``} select
    ${jsonRows(selectPeople(unique(rows.flatMap((row) => [row.author_id, row.closed_by_id]))))} as people,
    ${jsonRows(selectAssignees(issues))} as assignees,
    ${jsonRows(selectPaths(unique(rows.map((row) => row.project_id))))} as paths,
    ${jsonRows(selectLabelsOf('issue_id', issues))} as labels,
    ${jsonRows(selectMilestonesOf(listed(unique(rows.map((row) => row.milestone_id)))))} as milestones,
    ${jsonRows(selectCounts(issues))} as counts,
    ${services.config.tier === 'free' ? none : jsonRows(selectEpics(actor, issues))} as epics,
    ${seen ? jsonRows(selectOriginals(originals, seen)) : none} as originals,
    ${single && actor ? jsonRows(selectSubscribed(actor.id, issueSubscriptions, issues)) : none} as subscribed`.execute(
    db,
  );
  const [row] = found.rows;
  if (!row) throw new Error('a select without a table returns its row');
  return {
    people: byId(row.people),
    assignees: Map.groupBy(row.assignees, ({ issue_id }) => issue_id),
    paths: new Map(row.paths.map(({ id, full_path }) => [id, full_path])),
    labels: Map.groupBy(row.labels, ({ target_id }) => target_id),
    milestones: byId(row.milestones.map(milestoneOfJson)),
    counts: byId(row.counts),
    epics: new Map(row.epics.map((epic) => [epic.issue_id, epic])),
    originals: byId(row.originals),
    subscribed: single && actor ? row.subscribed.length > 0 : undefined,
  };
}

const people = sql`u.id, u.username, u.public_email, u.name, u.state, u.locked_at is not null as locked, u.avatar, u.email`;

const selectPeople = (ids: readonly number[]): RawBuilder<unknown> =>
  sql`select ${people} from users u where u.id = any(${listed(ids)})`;

const selectAssignees = (issues: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select a.issue_id, ${people} from issue_assignees a join users u on u.id = a.user_id
  where a.issue_id = any(${issues}) order by u.id`;

const selectPaths = (ids: readonly number[]): RawBuilder<unknown> => sql`
  select p.id, n.full_path || '/' || p.path as full_path from projects p join namespaces n on n.id = p.namespace_id
  where p.id = any(${listed(ids)})`;

const selectCounts = (issues: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select asked.id,
    (select coalesce(sum(t.seconds), 0)::bigint from timelogs t where t.issue_id = asked.id) as spent,
    (select count(*) from issue_links l join issues blocked on blocked.id = l.target_id
      where l.source_id = asked.id and l.link_type = 'blocks' and blocked.state = 'opened') as blocking
  from unnest(${issues}) as asked(id)`;

/** The epics that the reader sees. */
const selectEpics = (caller: Caller, issues: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select x.issue_id, epics.id, epics.iid, epics.title, home.id as group_id, home.full_path as group_path
  from epic_issues x join epics on epics.id = x.epic_id join namespaces home on home.id = epics.namespace_id
  where x.issue_id = any(${issues}) and ${visibleEpics(caller)}`;

/** Those among the issues of these ids that the reader sees. */
const selectOriginals = (ids: readonly number[], { condition }: VisibleIssues): RawBuilder<unknown> => sql`
  select i.id, i.project_id, i.iid from issues i join issue_projects v on v.id = i.project_id
  where i.id = any(${listed(ids)}) and ${condition}`;
