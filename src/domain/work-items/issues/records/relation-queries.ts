/** Relations of issues for their records (issue-records.ts), loaded for all of them at once. */
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../../../../kernel/actor.ts';
import type { Services } from '../../../../kernel/services.ts';
import type { UserBasicRow } from '../../../../kernel/users/records.ts';
import type { Db } from '../../../../platform/db/database.ts';
import { type TaggedRow, taggedRows } from '../../../../platform/db/tagged-rows.ts';
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

type Relations = {
  people: UserBasicRow;
  assignees: UserBasicRow & { issue_id: number };
  paths: { id: number; full_path: string };
  labels: LabelBasicRow & { target_ids: number[]; place: number };
  milestones: MilestoneWithPath;
  counts: Counts;
  epics: EpicOfIssue;
  originals: { id: number; project_id: number; iid: number };
  subscribed: { id: number };
};

/** All relations of the rows (at least one), by one statement. */
export async function loadIssueRelations(
  { db, services, actor }: { db: Db; services: Services; actor: Caller },
  rows: readonly IssueRow[],
  { single = false, withLabelsDetails = false }: { single?: boolean; withLabelsDetails?: boolean },
): Promise<IssueRelations> {
  const issues = listed(rows.map((row) => row.id));
  const milestones = listed(unique(rows.map((row) => row.milestone_id)));
  const originals = unique(rows.map((row) => row.duplicated_to_id));
  const seen = originals.length > 0 ? visibleIssues(actor) : undefined;
  const selects = [
    taggedRows('people', selectPeople(unique(rows.flatMap((row) => [row.author_id, row.closed_by_id])))),
    taggedRows('assignees', selectAssignees(issues)),
    taggedRows('paths', selectPaths(unique(rows.map((row) => row.project_id)))),
    taggedRows('labels', selectLabelsOf('issue_id', issues, withLabelsDetails), { isDescribed: true }),
    taggedRows('milestones', selectMilestonesOf(milestones), { isDescribed: true }),
    taggedRows('counts', selectCounts(issues)),
    ...(services.config.tier === 'free' ? [] : [taggedRows('epics', selectEpics(actor, issues))]),
    ...(seen ? [taggedRows('originals', selectOriginals(originals, seen))] : []),
    ...(single && actor
      ? [taggedRows('subscribed', selectSubscribed(actor.id, issueSubscriptions, issues))]
      : []),
  ];
  const { rows: found } = await sql<TaggedRow>`
    ${seen ? sql`with ${seen.ctes}` : sql``} ${sql.join(selects, sql` union all `)}`.execute(db);
  const byTag = Map.groupBy(found, ({ tag }) => tag);
  const of = <Tag extends keyof Relations>(tag: Tag): Relations[Tag][] =>
    // The select of the tag has these columns.
    (byTag.get(tag) ?? []).map(
      ({ row, description }) => ({ ...row, description }) as unknown as Relations[Tag],
    );
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
    epics: new Map(of('epics').map((epic) => [epic.issue_id, epic])),
    originals: byId(of('originals')),
    subscribed: single && actor ? of('subscribed').length > 0 : undefined,
  };
}

/** In the order of their places. */
function labelsByTarget(labels: readonly Relations['labels'][]): Map<number, LabelBasicRow[]> {
  const byTarget = new Map<number, LabelBasicRow[]>();
  for (const { target_ids, place: _, ...label } of labels.toSorted((one, other) => one.place - other.place)) {
    for (const id of target_ids) {
      const known = byTarget.get(id);
      if (known) known.push(label);
      else byTarget.set(id, [label]);
    }
  }
  return byTarget;
}

const people = sql`u.id, u.username, u.public_email, u.name, u.state, u.locked_at is not null as locked, u.avatar, u.email`;

const selectPeople = (ids: readonly number[]): RawBuilder<unknown> =>
  sql`select ${people} from users u where u.id = any(${listed(ids)})`;

const selectAssignees = (issues: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select a.issue_id, ${people} from issue_assignees a join users u on u.id = a.user_id
  where a.issue_id = any(${issues})`;

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
