/** The filters of lists of merge requests, as conditions over `merge_requests i` (facts: Merge requests). */
import { sql } from 'kysely';
import type { Caller } from '../../../kernel/actor.ts';
import { unauthenticated } from '../../../platform/failure.ts';
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
} from '../../planning/index.ts';
import { approved, approver } from './approval-filter-queries.ts';
import type { MergeRequestListInput, MergeRequestScope } from './schema.ts';

type Either = NonNullable<MergeRequestListInput['not']>;

const of = plannedFilters({ table: 'merge_requests', column: 'merge_request_id' });
const assignees = of.people('merge_request_assignees');
const reviewers = of.people('merge_request_reviewers');
const approvers = of.people('merge_request_approvals');

/** Older clients send 0 for None. */
const idOf = (value: string): string => (value === '0' ? 'none' : value);
const isWord = (value: string): boolean => isNone(value) || value.toLowerCase() === 'any';

/** Filters that can be negated under `not`. */
function eitherClauses(input: Either, caller: Caller, today: string): Clause[] {
  const { clauses, add } = clauseList();
  add(input.labels, of.labels);
  add(input.milestone, (title) => of.milestoneTitled(title, today));
  add(input.author_id, (id) => of.author(sql`${id}`));
  add(input.author_username, (name) => of.author(userNamed(name)));
  add(input.assignee_id, (id) => presence(idOf(id), assignees.some, () => assignees.one(sql`${Number(id)}`)));
  add(input.assignee_username, (given) => given.map((name) => assignees.one(userNamed(name))));
  add(input.reviewer_id, (id) => presence(idOf(id), reviewers.some, () => reviewers.one(sql`${Number(id)}`)));
  add(input.reviewer_username, (name) =>
    isWord(name)
      ? presence(name, reviewers.some, () => ({ where: sql`true` }))
      : reviewers.one(userNamed(name)),
  );
  add(input.my_reaction_emoji, (name) => caller && of.reaction(name, caller.id));
  return clauses;
}

/** Two names for one filter cannot both be given (facts: Cross-cutting behaviour). */
function refuseBoth(input: Either): void {
  for (const name of ['author', 'assignee', 'reviewer'] as const)
    if (input[`${name}_id`] !== undefined && input[`${name}_username`] !== undefined)
      throw exclusive(`${name}_id, ${name}_username`);
}

/** The merge requests of a scope; 401 for an anonymous caller's own. */
function scopeClause(scope: MergeRequestScope, caller: Caller): Clause | undefined {
  if (scope === 'all') return undefined;
  if (!caller) throw unauthenticated();
  const own = { created_by_me: of.author, assigned_to_me: assignees.one, reviews_for_me: reviewers.one };
  return own[scope](sql`${caller.id}`);
}

/** A branch by its name, in which `*` stands for whatever text. */
function branch(column: 'source_branch' | 'target_branch', name: string): Condition {
  const place = sql.ref(`i.${column}`);
  if (!name.includes('*')) return sql`${place} = ${name}`;
  const pattern = name.replaceAll(/[\\%_]/g, '\\$&').replaceAll('*', '%');
  return sql`${place} like ${pattern}`;
}

/** Those whose present merge user this is: who merged, or asked for an automatic merge. */
const mergedBy = (user: ReturnType<typeof userNamed>): Clause => ({
  where: sql`coalesce(i.merge_user_id in (${user}), false)`,
  seed: (tail) => sql`select id from merge_requests where merge_user_id = (${user}) ${tail}`,
});

/** The conditions of the parameters; `scope` is the list's own unless the client names one. */
export function mergeRequestFilter(
  input: MergeRequestListInput,
  caller: Caller,
  scope: MergeRequestScope,
  today: string,
): Filter {
  refuseBoth(input);
  if (input.not) refuseBoth(input.not);
  if (input.wip !== undefined && input.draft !== undefined) throw exclusive('wip, draft');
  if (input.merge_user_id !== undefined && input.merge_user_username !== undefined)
    throw exclusive('merge_user_id, merge_user_username');
  const { clauses, add } = clauseList();
  const where = (condition: Condition): Clause => ({ where: condition });
  add((input.scope?.replaceAll('-', '_') as MergeRequestScope | undefined) ?? scope, (value) =>
    scopeClause(value, caller),
  );
  add(input.state === 'all' ? undefined : input.state, (state) => where(sql`i.state = ${state}`));
  add(input.iids, (iids) => where(sql`i.iid = any(${iids}::bigint[])`));
  add(input.source_project_id, (id) => where(sql`coalesce(i.source_project_id = ${id}, false)`));
  add(input.source_branch, (name) => where(branch('source_branch', name)));
  add(input.target_branch, (name) => where(branch('target_branch', name)));
  add(input.draft ?? (input.wip && input.wip === 'yes'), (draft) => where(sql`i.draft = ${draft}`));
  add(input.search, (text) => of.search(text, input.in?.length ? input.in : ['title', 'description']));
  add(input.merged_after, (time) => where(sql`coalesce(i.merged_at >= ${new Date(time)}, false)`));
  add(input.merged_before, (time) => where(sql`coalesce(i.merged_at <= ${new Date(time)}, false)`));
  add(input.approved_by_ids, (ids) =>
    ids.map((id) => presence(id, approvers.some, () => approvers.one(sql`${Number(id)}`))),
  );
  add(input.approved_by_usernames, (named) =>
    named.map((name) => presence(name, approvers.some, () => approvers.one(userNamed(name)))),
  );
  add(input.approver_ids, (values) => values.map((value) => approver(value, caller)));
  add(input.approved && input.approved === 'yes', approved);
  add(input.merge_user_id, (id) => mergedBy(sql`${id}`));
  add(input.merge_user_username, (name) => mergedBy(userNamed(name)));
  return [
    ...eitherClauses(input, caller, today),
    ...of.times(input),
    ...clauses,
    ...negated(input.not ? eitherClauses(input.not, caller, today) : []),
  ];
}

/** Those that were merged, of which the commits have what merging or squashing made, or else the head. */
export const mergedAmong = (commits: readonly string[]): Clause => {
  const among = (column: string) => sql`${sql.ref(`i.${column}`)} = any(${[...commits]}::text[])`;
  return {
    where: sql`(i.state = 'merged' and coalesce(${among('merge_commit_sha')} or ${among('squash_commit_sha')}
      or i.merge_commit_sha is null and i.squash_commit_sha is null and ${among('head_sha')}, false))`,
  };
};
