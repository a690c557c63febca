/** Relations of epics for their records (epic-records.ts), loaded for all of them by one statement. */
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../../../../kernel/actor.ts';
import { selectPeople } from '../../../../kernel/users/queries.ts';
import type { UserBasicRow } from '../../../../kernel/users/records.ts';
import type { Db } from '../../../../platform/db/database.ts';
import { byId, idArray, readTagged, taggedRows } from '../../../../platform/db/tagged-rows.ts';
import { selectSubscribed } from '../../../conversation/index.ts';
import {
  type LabelBasicRow,
  type LabelOfTargets,
  labelsByTarget,
  selectLabelsOf,
} from '../../../planning/index.ts';
import { type DatedEpic, datesOf, type EpicDates } from './epic-dates.ts';
import { epicSubscriptions } from './epic-noteable.ts';
import type { EpicRow } from './epic-rows.ts';
import { visibleEpics } from './visibility-queries.ts';

/** The parent of an epic, where the reader sees it. */
export type Parent = { id: number; iid: number; namespace_id: number };

export type EpicRelations = {
  authors: ReadonlyMap<number, UserBasicRow>;
  groupPaths: ReadonlyMap<number, string>;
  /** By their own ids. */
  parents: ReadonlyMap<number, Parent>;
  labels: ReadonlyMap<number, readonly LabelBasicRow[]>;
  dates: ReadonlyMap<number, EpicDates>;
  /** Of a single epic, for a signed-in reader. */
  subscribed: boolean | undefined;
};

type Relations = {
  authors: UserBasicRow;
  paths: { id: number; full_path: string };
  parents: Parent;
  labels: LabelOfTargets;
  dates: DatedEpic;
  subscribed: { id: number };
};

/** All relations of the rows (at least one). */
export async function loadEpicRelations(
  { db, actor }: { db: Db; actor: Caller },
  rows: readonly EpicRow[],
  {
    single = false,
    withLabelsDetails = false,
  }: { single?: boolean; withLabelsDetails?: boolean | undefined },
): Promise<EpicRelations> {
  const epics = idArray(rows.map((row) => row.id));
  const of = await readTagged<Relations>(db, [
    taggedRows('authors', selectPeople(idArray(rows.map((row) => row.author_id)))),
    taggedRows('paths', selectPaths(idArray(rows.map((row) => row.namespace_id)))),
    taggedRows('parents', selectParents(actor, idArray(rows.map((row) => row.parent_id)))),
    taggedRows('labels', selectLabelsOf('epic_id', epics, withLabelsDetails), { isDescribed: true }),
    taggedRows('dates', selectDates(epics)),
    ...(single && actor
      ? [taggedRows('subscribed', selectSubscribed(actor.id, epicSubscriptions, epics))]
      : []),
  ]);
  return {
    authors: byId(of('authors')),
    groupPaths: new Map(of('paths').map(({ id, full_path }) => [id, full_path])),
    parents: byId(of('parents')),
    labels: labelsByTarget(of('labels')),
    dates: datesOf(of('dates')),
    subscribed: single && actor ? of('subscribed').length > 0 : undefined,
  };
}

const selectPaths = (ids: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`select id, full_path from namespaces where id = any(${ids})`;

/** The parents that the reader sees: the others are not named. */
const selectParents = (actor: Caller, ids: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`select id, iid, namespace_id from epics where id = any(${ids}) and ${visibleEpics(actor)}`;

/** More levels than an epic tree can have. */
const MAX_DEPTH = 10;

/** The epics with all below them, and the dates of their milestones. */
const selectDates = (ids: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  with recursive below(id, parent_id, start_date_is_fixed, start_date_fixed, due_date_is_fixed, due_date_fixed, level) as (
    select id, parent_id, start_date_is_fixed, start_date_fixed, due_date_is_fixed, due_date_fixed, 1
    from epics where id = any(${ids})
    union
    select e.id, e.parent_id, e.start_date_is_fixed, e.start_date_fixed, e.due_date_is_fixed, e.due_date_fixed, b.level + 1
    from below b join epics e on e.parent_id = b.id where b.level < ${sql.lit(MAX_DEPTH)}),
  tree as (select distinct id, parent_id, start_date_is_fixed, start_date_fixed, due_date_is_fixed, due_date_fixed from below)
  select t.*, m.milestone_start, m.milestone_due from tree t left join lateral (
    select min(m.start_date) as milestone_start, max(m.due_date) as milestone_due
    from epic_issues l join issues i on i.id = l.issue_id join milestones m on m.id = i.milestone_id
    where l.epic_id = t.id) m on true`;
