/**
 * Statements of the scopes in the database, each with its words and its visibility in the statement itself:
 * hidden rows are neither found nor counted.
 */
import { type RawBuilder, sql } from 'kysely';
import { openTo, seesAll, today, withReached } from '../../kernel/access/group-list-queries.ts';
import { type ProjectRow, projectColumns, projectTables } from '../../kernel/namespaces/rows.ts';
import { GUEST } from '../../kernel/policy/roles.ts';
import type { UserBasicRow } from '../../kernel/users/records.ts';
import { offsetPage, type Page } from '../../platform/pagination/page.ts';
import type { MilestoneWithPath } from '../planning/index.ts';
import { type SnippetRow, visibleSnippets } from '../snippets/index.ts';
import { type IssueRow, visibleIssues } from '../work-items/index.ts';
import { nothing, type SearchRequest } from './request.ts';
import { numberOf, patternsOf } from './rules.ts';

type Sql = RawBuilder<unknown>;
const fragment = (text: string): Sql => sql.raw(text);
const all = (conditions: readonly Sql[]): Sql => sql`(${sql.join(conditions, fragment(' and '))})`;
const any = (conditions: readonly Sql[]): Sql => sql`(${sql.join(conditions, fragment(' or '))})`;

/** One of the columns contains all the words. */
export const matches = (columns: readonly string[], search: string): Sql => {
  const patterns = patternsOf(search);
  return any(
    columns.map((column) => all(patterns.map((pattern) => sql`${fragment(column)} ilike ${pattern}`))),
  );
};

/** `ctes` with its `with`; `from` with its conditions. */
type Statement = { ctes: Sql; columns: Sql; from: Sql; order: string };

/** One page, newest first where the order says so, in two statements at most. */
export async function searchPage<T>({ db, page }: SearchRequest, statement: Statement): Promise<Page<T>> {
  const { ctes, columns, from, order } = statement;
  const { rows } = await sql<T>`${ctes} select ${columns} from ${from}
    order by ${fragment(order)} limit ${page.perPage + 1} offset ${page.offset}`.execute(db);
  return offsetPage(page, rows, async () => {
    const { rows: counted } = await sql<{ count: number }>`
      ${ctes} select count(*) as count from (select 1 from ${from} limit ${page.countLimit + 1}) counted`.execute(
      db,
    );
    return counted[0]?.count ?? 0;
  });
}

const isArchived =
  fragment(`(p.archived or exists (select from namespaces h join namespaces a on a.id = any(h.ancestor_ids)
  where h.id = p.namespace_id and a.archived))`);

/** The projects `p` of the container, for every caller. */
function inPlace({ container, includeArchived }: SearchRequest): Sql {
  if (container.in === 'project') return sql`p.id = ${container.project.id}`;
  const present = [
    sql`p.marked_for_deletion_on is null`,
    ...(includeArchived ? [] : [sql`not ${isArchived}`]),
    ...(container.in === 'group'
      ? [
          sql`exists (select from namespaces h where h.id = p.namespace_id
            and h.ancestor_ids @> array[${container.group.id}::bigint])`,
        ]
      : []),
  ];
  return all(present);
}

/** The projects `p` that the caller sees, below withReached(): decided as read_project and read_planning are. */
function seenProjects({ actor }: SearchRequest): Sql {
  if (seesAll(actor)) return sql`not p.deleting`;
  const reached = actor
    ? sql`or p.namespace_id in (select id from reached_groups where level >= ${sql.lit(GUEST)})
        or p.id in (select id from reached_projects where level >= ${sql.lit(GUEST)})`
    : sql``;
  return sql`not p.deleting and (p.visibility >= ${openTo(actor)} ${reached})`;
}

export const searchProjects = (request: SearchRequest): Promise<Page<ProjectRow>> =>
  searchPage(request, {
    ctes: withReached(request.actor),
    columns: fragment(projectColumns),
    from: sql`${fragment(projectTables)} where ${matches(['p.name', 'p.path', 'p.description'], request.search)}
      and ${inPlace(request)} and ${seenProjects(request)}`,
    order: 'p.created_at desc, p.id desc',
  });

/** Milestones of projects; those of groups are in no search. */
export const searchMilestones = (request: SearchRequest): Promise<Page<MilestoneWithPath>> =>
  searchPage(request, {
    ctes: withReached(request.actor),
    columns: sql`m.*, n.full_path || '/' || p.path as full_path`,
    from: sql`milestones m join projects p on p.id = m.project_id join namespaces n on n.id = p.namespace_id
      where ${matches(['m.title', 'm.description'], request.search)}
      and ${inPlace(request)} and ${seenProjects(request)}`,
    order: 'm.created_at desc, m.id desc',
  });

/** By words in the title or the description, or by number. */
export async function searchIssues(request: SearchRequest): Promise<Page<IssueRow>> {
  const { actor, search, state, confidential } = request;
  if (state === 'merged') return nothing;
  const visible = visibleIssues(actor, inPlace(request));
  const number = numberOf(search);
  const conditions = [
    number === undefined ? matches(['i.title', 'i.description'], search) : sql`i.iid = ${number}`,
    visible.condition,
    ...(state === 'opened' || state === 'closed' ? [sql`i.state = ${state}`] : []),
    ...(confidential === undefined ? [] : [sql`i.confidential = ${confidential}`]),
  ];
  return searchPage(request, {
    ctes: sql`with ${visible.ctes}`,
    columns: sql`i.*`,
    from: sql`issues i join issue_projects v on v.id = i.project_id where ${all(conditions)}`,
    order: 'i.created_at desc, i.id desc',
  });
}

export const searchSnippets = (request: SearchRequest): Promise<Page<SnippetRow>> =>
  searchPage(request, {
    ctes: sql``,
    columns: sql`snippets.*`,
    from: sql`snippets where ready and ${matches(['title', 'description'], request.search)}
      and ${visibleSnippets(request.actor)}`,
    order: 'created_at desc, id desc',
  });

/**
 * The members of the container, inherited ones too, as far as the caller sees the groups that they are in,
 * and the owner of a personal project.
 */
function members({ container, actor }: SearchRequest): Sql {
  if (container.in === 'instance') return sql`true`;
  const valid = sql`(m.expires_at is null or m.expires_at > ${today()}::date)`;
  if (container.in === 'project')
    return sql`(users.id = ${container.project.row.owner?.id ?? null} or exists (
      select from members m where m.user_id = users.id and ${valid}
      and (m.project_id = ${container.project.id} or m.namespace_id = any(${container.project.row.ancestor_ids}::bigint[]))))`;
  const { group } = container;
  const above = group.may('read_group_members')
    ? sql`n.id = any(${group.row.ancestor_ids}::bigint[])`
    : sql`false`;
  const seen = seesAll(actor)
    ? sql`true`
    : sql`(n.visibility >= ${openTo(actor)} ${actor ? sql`or n.id in (select id from reached_groups)` : sql``})`;
  return sql`exists (select from members m join namespaces n on n.id = m.namespace_id
    where m.user_id = users.id and ${valid} and not n.deleting
      and (${above} or (n.ancestor_ids @> array[${group.id}::bigint] and ${seen})))`;
}

/** By name, username, or the whole of a public address, which for administrators is any address. */
export const searchUsers = (request: SearchRequest): Promise<Page<UserBasicRow>> => {
  const { actor, search } = request;
  const whole = search.trim().toLowerCase();
  const address = actor?.admin
    ? sql`exists (select from emails e where e.user_id = users.id and not e.held_elsewhere and lower(e.email) collate "C" = ${whole})`
    : sql`lower(users.public_email) collate "C" = ${whole}`;
  const shown = actor?.admin ? sql`true` : sql`users.state = 'active'`;
  return searchPage(request, {
    ctes: withReached(actor),
    columns: fragment(
      'users.id, users.username, users.public_email, users.name, users.state, users.locked_at, users.avatar, users.email',
    ),
    from: sql`users where users.deletion is null and ${shown} and ${members(request)}
      and (${matches(['users.name', 'users.username'], search)} or ${address})`,
    order: 'users.id desc',
  });
};
