/**
 * Pages of events. A feed reads the newest events of each project from an index, as many as the page needs:
 * the cost does not depend on the number of events, and invisible projects are not read.
 */
import { type RawBuilder, sql } from 'kysely';
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import { openTo, seesAll } from '../../kernel/access/group-list-queries.ts';
import { CALLER, callerCte, reachedCtes, TODAY } from '../../kernel/access/membership-queries.ts';
import type { AuthorizedUser } from '../../kernel/access/users.ts';
import { activityTargets } from '../../kernel/activity/targets.ts';
import type { Actor, Caller } from '../../kernel/actor.ts';
import { GUEST } from '../../kernel/policy/roles.ts';
import type { Needs } from '../../kernel/services.ts';
import { userBasicJson } from '../../kernel/users/queries.ts';
import type { Db } from '../../platform/db/database.ts';
import { offsetPage, type Page, type PageRequest } from '../../platform/pagination/page.ts';
import { type NoteableKind, selectRelations } from '../conversation/index.ts';
import { countSeldom } from './counting.ts';
import { type EventRow, noteTypes } from './event-rows.ts';
import { type EventFilters, storedTypes } from './schema.ts';
import { seenIn, seenOf, visibleEvents } from './visibility-queries.ts';

export type Feed = {
  /** CTEs, the last of which is `places`: the projects, each with the caller's abilities. */
  ctes: RawBuilder<unknown>;
  caller: Caller;
  /** Only events of this author. */
  authorId?: number;
  /** Only events of this project. */
  projectId?: number;
};

/** Events of a project. */
export const feedOfProject = (
  services: Needs<'registered'>,
  caller: Caller,
  project: AuthorizedProject,
): Feed => ({
  ctes: sql`${callerCte(caller)},
    places as (select ${project.id}::bigint as id, ${seenOf(services, project, caller)})`,
  caller,
  projectId: project.id,
});

const isReached = sql.raw(`(p.namespace_id in (select id from reached_groups where level >= ${GUEST})
  or p.id in (select id from reached_projects where level >= ${GUEST}))`);
const reached = sql.raw(reachedCtes(CALLER, TODAY));
/** The caller's role on each project `p`, and the tables that it comes from. */
const levels = sql.raw(
  'left join reached_groups g on g.id = p.namespace_id left join reached_projects r on r.id = p.id',
);
const level = sql.raw('coalesce(greatest(g.level, r.level), 0)');

/** Events of projects where the actor is a member. */
export const feedOfMember = (services: Needs<'registered'>, actor: Actor): Feed => ({
  ctes: sql`${callerCte(actor)}, ${reached},
    places as materialized (
      select p.id, ${seenIn(services, actor, level)} from projects p ${levels} where not p.deleting and ${isReached})`,
  caller: actor,
});

/**
 * Events of an author in projects that the caller may read; the author's projects are found by one index step
 * each.
 */
export function feedOfAuthor(
  services: Needs<'registered'>,
  caller: Caller,
  { id }: Pick<AuthorizedUser, 'id'>,
): Feed {
  const theirs = sql`select e.project_id from activity_events e where e.author_id = ${id}`;
  const isVisible = seesAll(caller)
    ? sql`true`
    : sql`(p.visibility >= ${sql.lit(openTo(caller))} or ${isReached})`;
  return {
    ctes: sql`${callerCte(caller)}, ${reached},
      active(id) as (
        (${theirs} and e.project_id is not null order by e.project_id limit 1)
        union all
        select (${theirs} and e.project_id > active.id order by e.project_id limit 1) from active
        where active.id is not null),
      places as materialized (
        select p.id, ${seenIn(services, caller, level)} from active join projects p on p.id = active.id ${levels}
        where not p.deleting and ${isVisible})`,
    caller,
    authorId: id,
  };
}

/** Days are whole days of UTC, exclusive (facts: Activity events). */
function conditionOf(
  services: Needs<'registered'>,
  { authorId, caller }: Feed,
  filters: EventFilters,
): RawBuilder<unknown> {
  const { action, target_type, before, after } = filters;
  return sql.join(
    [
      sql`e.project_id = v.id`,
      ...(authorId === undefined ? [] : [sql`e.author_id = ${authorId}`]),
      ...(action === undefined ? [] : [sql`e.action = ${action}`]),
      ...(target_type === undefined
        ? []
        : [sql`e.target_type in (${sql.join(storedTypes[target_type].map(sql.lit))})`]),
      ...(before === undefined ? [] : [sql`e.created_at < ${before}::date`]),
      ...(after === undefined ? [] : [sql`e.created_at >= ${after}::date + 1`]),
      visibleEvents(services, caller),
    ],
    sql` and `,
  );
}

const filtered = ({ action, target_type, before, after }: EventFilters): boolean =>
  [action, target_type, before, after].some((value) => value !== undefined);

export type EventPage = {
  items: readonly EventRow[];
  /** The page with its total, which is counted at the same time where the end is not reached. */
  page: Promise<Page<EventRow>>;
};

/** One page, newest first by default; page and total have only events that the caller may see. */
export async function selectEvents(
  db: Db,
  services: Needs<'registered'>,
  feed: Feed,
  filters: EventFilters,
  page: PageRequest & { kind: 'offset' },
): Promise<EventPage> {
  const sort = sql.raw(filters.sort ?? 'desc');
  const order = sql`order by e.created_at ${sort}, e.id ${sort}`;
  const most = page.offset + page.perPage + 1;
  const condition = conditionOf(services, feed, filters);
  const { rows } = await sql<EventRow>`
    with recursive ${feed.ctes}
    select ${eventColumns(services)} from (
      select e.* from places v cross join lateral (
        select * from activity_events e where ${condition} ${order} limit ${most}) e
      ${order} limit ${page.perPage + 1} offset ${page.offset}) e
    ${order}`.execute(db);
  const count = async (): Promise<number> => {
    const limit = page.countLimit + 1;
    const counted = await sql<{ count: number }>`
      with recursive ${feed.ctes}
      select count(*) as count from (
        select from places v cross join lateral (
          select from activity_events e where ${condition} limit ${limit}) e limit ${limit}) counted`.execute(
      db,
    );
    return counted.rows[0]?.count ?? 0;
  };
  const { projectId, caller } = feed;
  const isWhole = projectId !== undefined && !filtered(filters);
  const counting = isWhole
    ? () => countSeldom(db, `${projectId}:${caller?.id ?? 0}`, page.countLimit, count)
    : count;
  return { items: rows.slice(0, page.perPage), page: offsetPage(page, rows, counting) };
}

/** The columns of an EventRow, of an event `e` that the caller sees. */
function eventColumns(services: Needs<'registered'>): RawBuilder<unknown> {
  const shown = activityTargets
    .all(services)
    .flatMap(({ type, noteColumn, select }) => (select ? { type, noteColumn, select } : []));
  const byType = shown
    .filter(({ type }) => type !== undefined)
    .map(({ type, select }) => sql`when ${sql.lit(type)} then ${asJson(select(sql`e.target_id`))}`);
  const byNoteable = shown
    .flatMap(({ noteColumn, select }) =>
      noteColumn === undefined ? [] : { id: sql.ref(`n.${noteColumn}`), select },
    )
    .map(({ id, select }) => sql`when ${id} is not null then ${asJson(select(id))}`);
  return sql`e.id, e.project_id, e.action, e.target_type, e.target_id, e.details, e.created_at,
    ${sql.raw(userBasicJson('e.author_id'))} as author,
    case when e.target_type in (${sql.join(noteTypes.map(sql.lit))}) then (
      select case ${sql.join(byNoteable, sql` `)} end from notes n where n.id = e.target_id)
    else case e.target_type ${sql.join(byType, sql` `)} end end as target`;
}

const asJson = (selected: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(select to_jsonb(target) from (${selected}) target)`;

export const selectNoteRows = (db: Db, kinds: readonly NoteableKind[], ids: readonly number[]) =>
  db
    .selectFrom('notes')
    .selectAll('notes')
    .select(selectRelations('notes', kinds))
    .where('id', 'in', ids)
    .execute();
