/** The filters of lists of issues, as conditions over `issues i` (facts: Issues). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Caller } from '../../../../kernel/actor.ts';
import { containing, distinctTerms } from '../../../../platform/db/search.ts';
import { Failure, unauthenticated } from '../../../../platform/failure.ts';
import type { IssueClause, IssueCondition, IssueFilter } from '../records/list-queries.ts';
import { type DueDateWord, dueRange } from './due-dates.ts';
import type { IssueFilterInput, IssueScope } from './schema.ts';

type Either = NonNullable<IssueFilterInput['not']>;

const isNone = (text: string): boolean => text.toLowerCase() === 'none';
const isAny = (text: string): boolean => text.toLowerCase() === 'any';

/** True of issues with none, with any, or with this one. */
function presence(value: string, any: IssueCondition, equal: () => IssueClause): IssueClause {
  if (isNone(value)) return { where: sql`not ${any}` };
  return isAny(value) ? { where: any } : equal();
}

const author = (id: RawBuilder<unknown>): IssueClause => ({
  where: sql`i.author_id in (${id})`,
  seed: (tail) => sql`select id from issues where author_id = (${id}) ${tail}`,
});
const assignee = (id: RawBuilder<unknown>): IssueClause => ({
  where: sql`exists (select from issue_assignees a where a.issue_id = i.id and a.user_id in (${id}))`,
  seed: (tail) => sql`select issue_id from issue_assignees where user_id = (${id}) ${tail}`,
});
const userNamed = (name: string) =>
  sql`select id from users where lower(username) collate "C" = ${name.toLowerCase()}`;
const ANY_ASSIGNEE = sql<SqlBool>`exists (select from issue_assignees a where a.issue_id = i.id)`;

/**
 * The ids of labels or milestones for which a condition is true: of the projects listed and the groups around
 * them, since issues there have no others, and elsewhere there may be very many of the same name.
 */
const around = (table: 'labels' | 'milestones', condition: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`select x.id from issue_projects v join ${sql.table(table)} x on x.project_id = v.id where ${condition}
    union all select id from ${sql.table(table)} where ${condition} and namespace_id in (
      select unnest(n.ancestor_ids) from namespaces n
      where n.id in (select p.namespace_id from projects p join issue_projects v on v.id = p.id))`;

const label = (name: string): IssueClause => {
  const ids = around('labels', sql`name = ${name}`);
  return {
    where: sql`exists (select from label_links l where l.issue_id = i.id and l.label_id = any(array(${ids})))`,
    seed: (tail) => sql`select l.issue_id from (${ids}) named(id) cross join lateral (
      select issue_id from label_links where label_id = named.id and issue_id is not null ${tail}) l ${tail}`,
  };
};
const ANY_LABEL = sql<SqlBool>`exists (select from label_links l where l.issue_id = i.id)`;

const milestoneIn = (condition: RawBuilder<unknown>): IssueClause => {
  const ids = around('milestones', condition);
  return {
    // Null where there is none, which a negation must take for false.
    where: sql`coalesce(i.milestone_id = any(array(${ids})), false)`,
    seed: (tail) => sql`select planned.id from (${ids}) named(id) cross join lateral (
      select id from issues where milestone_id = named.id ${tail}) planned ${tail}`,
  };
};
const ANY_MILESTONE = sql<SqlBool>`(i.milestone_id is not null)`;

function milestoneState(state: string, today: string): IssueClause {
  if (state === 'upcoming') return milestoneIn(sql`state = 'active' and due_date > ${today}::date`);
  if (state === 'started') return milestoneIn(sql`state = 'active' and start_date <= ${today}::date`);
  return presence(state, ANY_MILESTONE, () => ({ where: sql`true` }));
}

const milestoneTitled = (title: string, today: string): IssueClause =>
  title === '#upcoming' || title === '#started'
    ? milestoneState(title.slice(1), today)
    : presence(title, ANY_MILESTONE, () => milestoneIn(sql`title = ${title}`));

/** Filters that can be negated under `not`. */
function eitherClauses(input: Either, today: string): IssueClause[] {
  const clauses: IssueClause[] = [];
  const add = <T>(value: T | undefined, clause: (value: T) => IssueClause | IssueClause[]): void => {
    if (value !== undefined) clauses.push(...[clause(value)].flat());
  };
  add(input.labels, (given) => {
    const [first = ''] = given;
    if (given.length === 1 && (isNone(first) || isAny(first)))
      return presence(first, ANY_LABEL, () => label(first));
    return given.map(label);
  });
  add(input.milestone, (title) => milestoneTitled(title, today));
  add(input.milestone_id, (state) => milestoneState(state.toLowerCase(), today));
  add(input.iids, (iids) => ({ where: sql`i.iid = any(${iids}::bigint[])` }));
  add(input.author_id, (id) => author(sql`${id}`));
  add(input.author_username, (name) => author(userNamed(name)));
  // Older clients send 0 for None.
  add(input.assignee_id, (id) =>
    presence(id === '0' ? 'none' : id, ANY_ASSIGNEE, () => assignee(sql`${Number(id)}`)),
  );
  add(input.assignee_username, (given) => given.map((name) => assignee(userNamed(name))));
  add(input.weight, (weight) =>
    presence(weight, sql`(i.weight is not null)`, () => ({
      where: sql`coalesce(i.weight = ${Number(weight)}::bigint, false)`,
    })),
  );
  // No issue is in an iteration, since nothing makes one.
  add(input.iteration_id, (id) => ({ where: isNone(id) || id === '0' ? sql`true` : sql`false` }));
  add(input.iteration_title, () => ({ where: sql`false` }));
  return clauses;
}

function reaction(name: string, userId: number): IssueClause {
  const mine = sql`from award_emoji e where e.user_id = ${userId}`;
  const named = sql`${mine} and e.name = ${name}`;
  return presence(name, sql`exists (select ${mine} and e.issue_id = i.id)`, () => ({
    where: sql`exists (select ${named} and e.issue_id = i.id)`,
    seed: (tail) => sql`select e.issue_id ${named} and e.issue_id is not null ${tail}`,
  }));
}

/** All of the words; a seed only where the words are long enough for the index. */
function search(text: string, places: readonly ('title' | 'description')[]): IssueClause[] {
  return distinctTerms(text.split(/\s+/)).map((word): IssueClause => {
    const inside = sql.join(
      places.map((place) => sql`${sql.ref(place)} ilike ${containing(word)}`),
      sql.raw(' or '),
    );
    const where = sql<SqlBool>`coalesce(${inside}, false)`;
    return {
      where,
      ...(word.length >= 3 && {
        seed: (tail: RawBuilder<unknown>) => sql`select id from issues where (${inside}) ${tail}`,
      }),
    };
  });
}

const epic = (value: string): IssueClause =>
  presence(
    value === '0' ? 'none' : value,
    sql`exists (select from epic_issues x where x.issue_id = i.id)`,
    () => ({
      where: sql`exists (select from epic_issues x where x.issue_id = i.id and x.epic_id = ${Number(value)})`,
      seed: (tail) => sql`select issue_id from epic_issues where epic_id = ${Number(value)} ${tail}`,
    }),
  );

function due(word: DueDateWord, today: string): IssueCondition {
  if (word === '') return sql`true`;
  if (word === '0') return sql`i.due_date is null`;
  if (word === 'any') return sql`i.due_date is not null`;
  const { from, to } = dueRange(word, today);
  return sql`(i.due_date >= ${from}::date and i.due_date <= ${to}::date)`;
}

/** Two names for one filter cannot both be given (facts: Cross-cutting behaviour). */
function refuseBoth(input: Either): void {
  for (const name of ['author', 'assignee'] as const)
    if (input[`${name}_id`] !== undefined && input[`${name}_username`] !== undefined)
      throw exclusive(`${name}_id, ${name}_username`);
  if (input.milestone !== undefined && input.milestone_id !== undefined)
    throw exclusive('milestone, milestone_id');
  if (input.iteration_id !== undefined && input.iteration_title !== undefined)
    throw exclusive('iteration_id, iteration_title');
}

function exclusive(names: string): Failure {
  const error = `${names} are mutually exclusive`;
  return new Failure('bad_request', `400 Bad request - ${error}`, { error });
}

/** The issues of a scope; 401 for an anonymous caller's own. */
function scopeClause(scope: IssueScope, caller: Caller): IssueClause | undefined {
  if (scope === 'all') return undefined;
  if (!caller) throw unauthenticated();
  return scope === 'created_by_me' ? author(sql`${caller.id}`) : assignee(sql`${caller.id}`);
}

/** The conditions of the parameters; `scope` is the list's own unless the client names one. */
export function issueFilter(
  input: IssueFilterInput,
  caller: Caller,
  scope: IssueScope,
  today: string,
): IssueFilter {
  refuseBoth(input);
  if (input.not) refuseBoth(input.not);
  const clauses = eitherClauses(input, today);
  const add = <T>(
    value: T | undefined,
    clause: (value: T) => IssueClause | IssueClause[] | undefined,
  ): void => {
    if (value !== undefined) clauses.push(...[clause(value) ?? []].flat());
  };
  const where = (condition: IssueCondition): IssueClause => ({ where: condition });
  add((input.scope?.replaceAll('-', '_') as IssueScope | undefined) ?? scope, (value) =>
    scopeClause(value, caller),
  );
  add(input.state === 'all' ? undefined : input.state, (state) => where(sql`i.state = ${state}`));
  add(input.closed_by_id, (id) => ({
    where: sql`coalesce(i.closed_by_id = ${id}, false)`,
    seed: (tail) => sql`select id from issues where closed_by_id = ${id} ${tail}`,
  }));
  add(input.search, (text) => search(text, input.in?.length ? input.in : ['title', 'description']));
  add(input.created_after, (time) => where(sql`i.created_at >= ${new Date(time)}`));
  add(input.created_before, (time) => where(sql`i.created_at <= ${new Date(time)}`));
  add(input.updated_after, (time) => where(sql`i.updated_at >= ${new Date(time)}`));
  add(input.updated_before, (time) => where(sql`i.updated_at <= ${new Date(time)}`));
  add(input.due_date, (word) => where(due(word, today)));
  add(input.issue_type, (type) => where(sql`i.issue_type = ${type}`));
  add(input.my_reaction_emoji, (name) => caller && reaction(name, caller.id));
  add(input.confidential, (value) => where(sql`i.confidential = ${value}`));
  add(input.epic_id, epic);
  add(input.health_status, (status) =>
    presence(status, sql`(i.health_status is not null)`, () =>
      where(sql`coalesce(i.health_status = ${status}, false)`),
    ),
  );
  const without = input.not ? eitherClauses(input.not, today) : [];
  return [...clauses, ...without.map((each) => ({ where: sql<SqlBool>`not ${each.where}` }))];
}
