/** The filters of lists of issues, as conditions over `issues i` (facts: Issues). */
import { sql } from 'kysely';
import type { Caller } from '../../../../kernel/actor.ts';
import { unauthenticated } from '../../../../platform/failure.ts';
import {
  type Clause,
  type Condition,
  clauseList,
  exclusive,
  type Filter,
  isNone,
  negated,
  plannedFilters,
  presence,
  userNamed,
} from '../../../planning/index.ts';
import { type DueDateWord, dueRange } from './due-dates.ts';
import type { IssueFilterInput, IssueScope } from './schema.ts';

type Either = NonNullable<IssueFilterInput['not']>;

const of = plannedFilters({ table: 'issues', column: 'issue_id' });
const assignees = of.people('issue_assignees');

/** Filters that can be negated under `not`. */
function eitherClauses(input: Either, today: string): Clause[] {
  const { clauses, add } = clauseList();
  add(input.labels, of.labels);
  add(input.milestone, (title) => of.milestoneTitled(title, today));
  add(input.milestone_id, (state) => of.milestoneState(state.toLowerCase(), today));
  add(input.iids, (iids) => ({ where: sql`i.iid = any(${iids}::bigint[])` }));
  add(input.author_id, (id) => of.author(sql`${id}`));
  add(input.author_username, (name) => of.author(userNamed(name)));
  // Older clients send 0 for None.
  add(input.assignee_id, (id) =>
    presence(id === '0' ? 'none' : id, assignees.some, () => assignees.one(sql`${Number(id)}`)),
  );
  add(input.assignee_username, (given) => given.map((name) => assignees.one(userNamed(name))));
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

const epic = (value: string): Clause =>
  presence(
    value === '0' ? 'none' : value,
    sql`exists (select from epic_issues x where x.issue_id = i.id)`,
    () => ({
      where: sql`exists (select from epic_issues x where x.issue_id = i.id and x.epic_id = ${Number(value)})`,
      seed: (tail) => sql`select issue_id from epic_issues where epic_id = ${Number(value)} ${tail}`,
    }),
  );

function due(word: DueDateWord, today: string): Condition {
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

/** The issues of a scope; 401 for an anonymous caller's own. */
function scopeClause(scope: IssueScope, caller: Caller): Clause | undefined {
  if (scope === 'all') return undefined;
  if (!caller) throw unauthenticated();
  return scope === 'created_by_me' ? of.author(sql`${caller.id}`) : assignees.one(sql`${caller.id}`);
}

/** The conditions of the parameters; `scope` is the list's own unless the client names one. */
export function issueFilter(
  input: IssueFilterInput,
  caller: Caller,
  scope: IssueScope,
  today: string,
): Filter {
  refuseBoth(input);
  if (input.not) refuseBoth(input.not);
  const { clauses, add } = clauseList();
  const where = (condition: Condition): Clause => ({ where: condition });
  add((input.scope?.replaceAll('-', '_') as IssueScope | undefined) ?? scope, (value) =>
    scopeClause(value, caller),
  );
  add(input.state === 'all' ? undefined : input.state, (state) => where(sql`i.state = ${state}`));
  add(input.closed_by_id, (id) => ({
    where: sql`coalesce(i.closed_by_id = ${id}, false)`,
    seed: (tail) => sql`select id from issues where closed_by_id = ${id} ${tail}`,
  }));
  add(input.search, (text) => of.search(text, input.in?.length ? input.in : ['title', 'description']));
  add(input.due_date, (word) => where(due(word, today)));
  add(input.issue_type, (type) => where(sql`i.issue_type = ${type}`));
  add(input.my_reaction_emoji, (name) => caller && of.reaction(name, caller.id));
  add(input.confidential, (value) => where(sql`i.confidential = ${value}`));
  add(input.epic_id, epic);
  add(input.health_status, (status) =>
    presence(status, sql`(i.health_status is not null)`, () =>
      where(sql`coalesce(i.health_status = ${status}, false)`),
    ),
  );
  return [
    ...eitherClauses(input, today),
    ...of.times(input),
    ...clauses,
    ...negated(input.not ? eitherClauses(input.not, today) : []),
  ];
}
