/** The filters that all lists of planned things have, as conditions over the listed rows `i` (facts: Issues, Merge requests). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { containing, distinctTerms } from '../../../platform/db/search.ts';
import { Failure } from '../../../platform/failure.ts';
import type { Clause, Condition } from './list-queries.ts';

export const isNone = (text: string): boolean => text.toLowerCase() === 'none';
const isAny = (text: string): boolean => text.toLowerCase() === 'any';

/** True of rows with none, with any, or with this one. */
export function presence(value: string, any: Condition, equal: () => Clause): Clause {
  if (isNone(value)) return { where: sql`not ${any}` };
  return isAny(value) ? { where: any } : equal();
}

/** Collects clauses of the parameters that are given. */
export function clauseList() {
  const clauses: Clause[] = [];
  return {
    clauses,
    add<T>(value: T | undefined, clause: (value: T) => Clause | Clause[] | undefined): void {
      if (value !== undefined) clauses.push(...[clause(value) ?? []].flat());
    },
  };
}

/** Rows of which none of these are true. */
export const negated = (clauses: readonly Clause[]): Clause[] =>
  clauses.map((each) => ({ where: sql<SqlBool>`not ${each.where}` }));

/** Two names for one filter cannot both be given (facts: Cross-cutting behaviour). */
export function exclusive(names: string): Failure {
  const error = `${names} are mutually exclusive`;
  return new Failure('bad_request', `400 Bad request - ${error}`, { error });
}

export const userNamed = (name: string): RawBuilder<unknown> =>
  sql`select id from users where lower(username) collate "C" = ${name.toLowerCase()}`;

/**
 * The ids of labels or milestones for which a condition is true: of the projects listed and the groups around
 * them, since what is listed has no others, and elsewhere there may be very many of the same name.
 */
const around = (table: 'labels' | 'milestones', condition: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`select x.id from listed_projects v join ${sql.table(table)} x on x.project_id = v.id where ${condition}
    union all select id from ${sql.table(table)} where ${condition} and namespace_id in (
      select unnest(n.ancestor_ids) from namespaces n
      where n.id in (select p.namespace_id from projects p join listed_projects v on v.id = p.id))`;

/** A table of planned things, and its column in the tables that refer to it. */
export type PlannedTable = { table: 'issues' | 'merge_requests'; column: 'issue_id' | 'merge_request_id' };

/** The filters of a table. */
export function plannedFilters({ table, column }: PlannedTable) {
  const target = sql.table(table);
  const id = sql.ref(column);

  const label = (name: string): Clause => {
    const ids = around('labels', sql`name = ${name}`);
    return {
      where: sql`exists (select from label_links l where l.${id} = i.id and l.label_id = any(array(${ids})))`,
      seed: (tail) => sql`select l.${id} from (${ids}) named(id) cross join lateral (
      select ${id} from label_links where label_id = named.id and ${id} is not null ${tail}) l ${tail}`,
    };
  };
  const anyLabel = sql<SqlBool>`exists (select from label_links l where l.${id} = i.id)`;

  const milestoneIn = (condition: RawBuilder<unknown>): Clause => {
    const ids = around('milestones', condition);
    return {
      // Null where there is none, which a negation must take for false.
      where: sql`coalesce(i.milestone_id = any(array(${ids})), false)`,
      seed: (tail) => sql`select planned.id from (${ids}) named(id) cross join lateral (
      select id from ${target} where milestone_id = named.id ${tail}) planned ${tail}`,
    };
  };
  const anyMilestone = sql<SqlBool>`(i.milestone_id is not null)`;

  function milestoneState(state: string, today: string): Clause {
    if (state === 'upcoming') return milestoneIn(sql`state = 'active' and due_date > ${today}::date`);
    if (state === 'started') return milestoneIn(sql`state = 'active' and start_date <= ${today}::date`);
    return presence(state, anyMilestone, () => ({ where: sql`true` }));
  }

  return {
    author: (user: RawBuilder<unknown>): Clause => ({
      where: sql`i.author_id in (${user})`,
      seed: (tail) => sql`select id from ${target} where author_id = (${user}) ${tail}`,
    }),

    /** People of a relation, such as assignees, by its table. */
    people: (relation: string) => ({
      some: sql<SqlBool>`exists (select from ${sql.table(relation)} a where a.${id} = i.id)`,
      one: (user: RawBuilder<unknown>): Clause => ({
        where: sql`exists (select from ${sql.table(relation)} a where a.${id} = i.id and a.user_id in (${user}))`,
        seed: (tail) => sql`select ${id} from ${sql.table(relation)} where user_id = (${user}) ${tail}`,
      }),
    }),

    labels(given: readonly string[]): Clause | Clause[] {
      const [first = ''] = given;
      if (given.length === 1 && (isNone(first) || isAny(first)))
        return presence(first, anyLabel, () => label(first));
      return given.map(label);
    },

    milestoneState,

    milestoneTitled: (title: string, today: string): Clause =>
      title === '#upcoming' || title === '#started'
        ? milestoneState(title.slice(1), today)
        : presence(title, anyMilestone, () => milestoneIn(sql`title = ${title}`)),

    reaction(name: string, userId: number): Clause {
      const mine = sql`from award_emoji e where e.user_id = ${userId}`;
      const named = sql`${mine} and e.name = ${name}`;
      return presence(name, sql`exists (select ${mine} and e.${id} = i.id)`, () => ({
        where: sql`exists (select ${named} and e.${id} = i.id)`,
        seed: (tail) => sql`select e.${id} ${named} and e.${id} is not null ${tail}`,
      }));
    },

    /** All of the words; a seed only where the words are long enough for the index. */
    search: (text: string, places: readonly ('title' | 'description')[]): Clause[] =>
      distinctTerms(text.split(/\s+/)).map((word): Clause => {
        const inside = sql.join(
          places.map((place) => sql`${sql.ref(place)} ilike ${containing(word)}`),
          sql.raw(' or '),
        );
        const where = sql<SqlBool>`coalesce(${inside}, false)`;
        return {
          where,
          ...(word.length >= 3 && {
            seed: (tail: RawBuilder<unknown>) => sql`select id from ${target} where (${inside}) ${tail}`,
          }),
        };
      }),

    /** Rows made or changed in these bounds. */
    times(bounds: {
      created_after?: string | undefined;
      created_before?: string | undefined;
      updated_after?: string | undefined;
      updated_before?: string | undefined;
    }): Clause[] {
      const { clauses, add } = clauseList();
      add(bounds.created_after, (time) => ({ where: sql`i.created_at >= ${new Date(time)}` }));
      add(bounds.created_before, (time) => ({ where: sql`i.created_at <= ${new Date(time)}` }));
      add(bounds.updated_after, (time) => ({ where: sql`i.updated_at >= ${new Date(time)}` }));
      add(bounds.updated_before, (time) => ({ where: sql`i.updated_at <= ${new Date(time)}` }));
      return clauses;
    },
  };
}
