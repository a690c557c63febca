/** Statements over access tokens: one list and one look-up, each for given owners. */
import { type SelectQueryBuilder, sql } from 'kysely';
import { type MembershipSource, membershipSourceOf } from '../../kernel/access/membership-actions.ts';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import type { Tables } from '../../platform/db/rows.ts';
import { containing } from '../../platform/db/search.ts';
import { type Page, type PageRequest, selectPage } from '../../platform/pagination/page.ts';
import { type ManagedKind, tokenOrder } from './rules.ts';
import type { TokenFilters } from './schema.ts';

/**
 * The owners of a request's tokens. A bot's tokens are also its own personal ones, so `own` has every kind
 * that its user could have made; without a user it is everybody's, for administrators.
 */
export type Whose =
  | { list: 'own'; userId: number | undefined }
  | { list: 'impersonation'; userId: number }
  | { list: 'project'; projectId: number }
  | { list: 'group'; groupId: number }
  /** The token that the request came with, whichever it is. */
  | { list: 'presented' };

const columns = [
  'access_tokens.id',
  'users.id as user_id',
  'access_tokens.project_id',
  'access_tokens.namespace_id',
  'access_tokens.access_level',
  'access_tokens.created_by_id',
  'access_tokens.name',
  'access_tokens.description',
  'access_tokens.scopes',
  'access_tokens.family_id',
  'access_tokens.expires_at',
  'access_tokens.revoked_at',
  'access_tokens.last_used_at',
  'access_tokens.created_at',
  'access_tokens.updated_at',
  'users.username',
  'users.kind as user_kind',
] as const;

/** The tokens of users who are not being deleted. */
const select = (db: Db) =>
  db
    .selectFrom('access_tokens')
    .innerJoin('users', 'users.id', 'access_tokens.user_id')
    .select(columns)
    .select(sql<ManagedKind>`access_tokens.kind`.as('kind'))
    .where('users.deletion', 'is', null);

type TokenQuery = ReturnType<typeof select>;
export type TokenRow = TokenQuery extends SelectQueryBuilder<Tables, infer _, infer Row> ? Row : never;

function narrow(query: TokenQuery, whose: Whose): TokenQuery {
  switch (whose.list) {
    case 'own': {
      const own = query.where('access_tokens.kind', 'in', ['personal', 'project', 'group']);
      return whose.userId === undefined ? own : own.where('access_tokens.user_id', '=', whose.userId);
    }
    case 'impersonation':
      return query
        .where('access_tokens.kind', '=', 'impersonation')
        .where('access_tokens.user_id', '=', whose.userId);
    case 'project':
      return query
        .where('access_tokens.kind', '=', 'project')
        .where('access_tokens.project_id', '=', whose.projectId);
    case 'group':
      return query
        .where('access_tokens.kind', '=', 'group')
        .where('access_tokens.namespace_id', '=', whose.groupId);
    case 'presented':
      return query.where('access_tokens.kind', 'in', ['personal', 'impersonation', 'project', 'group']);
  }
}

/** The token with this id among those, or undefined. */
export const selectToken = (db: Db, whose: Whose, id: number): Promise<TokenRow | undefined> =>
  narrow(select(db), whose).where('access_tokens.id', '=', id).executeTakeFirst();

/** A token that changes, with the full path of the project or group that it is for; null for a person's. */
export type ChangedToken = TokenRow & { full_path: string | null };

/** The statement for ChangedToken. */
export const selectChanged = (tx: Db) =>
  select(tx).select(
    sql<string | null>`(select concat_ws('/', n.full_path, p.path)
      from (select) one left join projects p on p.id = access_tokens.project_id
      join namespaces n on n.id = coalesce(p.namespace_id, access_tokens.namespace_id))`.as('full_path'),
  );

/** The token, locked until the transaction ends. */
export const lockToken = (tx: Db, id: number): Promise<ChangedToken | undefined> =>
  selectChanged(tx).where('access_tokens.id', '=', id).forUpdate('access_tokens').executeTakeFirst();

/** The project or group that a bot's token is for; undefined for a person's token. */
export function membershipSourceOfToken(token: ChangedToken): MembershipSource | undefined {
  const { project_id, namespace_id, full_path } = token;
  if (full_path === null) return undefined;
  return membershipSourceOf({ project_id, namespace_id: namespace_id ?? 0, full_path });
}

const active = () =>
  sql<boolean>`(access_tokens.revoked_at is null
    and (access_tokens.expires_at is null or access_tokens.expires_at > ${now()}))`;

function filter(query: TokenQuery, filters: TokenFilters): TokenQuery {
  let filtered = query;
  if (filters.revoked === true) filtered = filtered.where('access_tokens.revoked_at', 'is not', null);
  if (filters.revoked === false) filtered = filtered.where('access_tokens.revoked_at', 'is', null);
  if (filters.state === 'active') filtered = filtered.where(active());
  if (filters.state === 'inactive') filtered = filtered.where(sql<boolean>`not ${active()}`);
  for (const [column, before, after] of [
    ['created_at', filters.created_before, filters.created_after],
    ['last_used_at', filters.last_used_before, filters.last_used_after],
    ['expires_at', filters.expires_before, filters.expires_after],
  ] as const) {
    if (before !== undefined) filtered = filtered.where(`access_tokens.${column}`, '<=', new Date(before));
    if (after !== undefined) filtered = filtered.where(`access_tokens.${column}`, '>=', new Date(after));
  }
  if (filters.search) filtered = filtered.where('access_tokens.name', 'ilike', containing(filters.search));
  return filtered;
}

/** Tokens that never expire come after every day, unused ones before every time. */
const orderColumns = {
  id: 'access_tokens.id',
  created: 'access_tokens.created_at',
  expires: "coalesce(access_tokens.expires_at, 'infinity')",
  last_used: "coalesce(access_tokens.last_used_at, '-infinity')",
  name: 'lower(access_tokens.name) collate "C"',
};

/** One page of those tokens. */
export const listTokens = (
  db: Db,
  whose: Whose,
  filters: TokenFilters,
  page: PageRequest,
): Promise<Page<TokenRow>> =>
  selectPage(db, filter(narrow(select(db), whose), filters), page, tokenOrder(filters.sort), orderColumns);

const hookTokens = (db: Db) =>
  db
    .selectFrom('access_tokens')
    .select(['id', 'user_id', 'name', 'created_at', 'expires_at'])
    .where('revoked_at', 'is', null);

/** What hooks are told of a token. */
export type HookToken =
  ReturnType<typeof hookTokens> extends SelectQueryBuilder<Tables, infer _, infer Row> ? Row : never;

/** The token, unless it was revoked meanwhile. */
export const selectHookToken = (db: Db, id: number): Promise<HookToken | undefined> =>
  hookTokens(db).where('id', '=', id).executeTakeFirst();

export const selectNewestProjectToken = (db: Db, projectId: number): Promise<HookToken | undefined> =>
  hookTokens(db)
    .where('project_id', '=', projectId)
    .where('kind', '=', 'project')
    .orderBy('id', 'desc')
    .executeTakeFirst();
