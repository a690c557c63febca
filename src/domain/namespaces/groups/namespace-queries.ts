/** Statements over namespaces of both kinds. */
import { type RawBuilder, sql } from 'kysely';
import { today } from '../../../kernel/access/group-list-queries.ts';
import { namespaceLevel } from '../../../kernel/access/membership-queries.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { NamespaceSummary, OwnerSummary } from '../../../kernel/namespaces/rows.ts';
import { GUEST, OWNER } from '../../../kernel/policy/roles.ts';
import type { Db } from '../../../platform/db/database.ts';
import { containing } from '../../../platform/db/search.ts';
import { offsetPage, type Page, type PageRequest } from '../../../platform/pagination/page.ts';

export type NamespaceListing = NamespaceSummary & {
  owner: OwnerSummary | null;
  /** The caller's; an administrator's is Owner. */
  level: number;
  /** Counted for owners only. */
  members: number | null;
  projects: number | null;
  /** Of their repositories, as last measured. */
  repository_size: number | null;
};

// The id is a number of ours, and the date is made here: neither is text from outside.
const levelOf = (actor: Actor): RawBuilder<unknown> =>
  actor.admin ? sql`${OWNER}::integer` : sql.raw(namespaceLevel(String(actor.id), `'${today()}'`, 'group'));

/** The namespaces whose ids the subquery gives, by id, with the columns of their records. */
async function selectNamespaces(db: Db, actor: Actor, ids: RawBuilder<unknown>): Promise<NamespaceListing[]> {
  const { rows } = await sql<NamespaceListing>`
    select x.*,
      case when x.level >= ${OWNER} then (select count(distinct m.user_id) from members m
        join namespaces d on d.id = m.namespace_id where d.ancestor_ids @> array[x.id]) end as members,
      case when x.level >= ${OWNER} then (select count(*) from projects p
        join namespaces d on d.id = p.namespace_id where d.ancestor_ids @> array[x.id] and not p.deleting) end as projects,
      case when x.level >= ${OWNER} then (select coalesce(sum(r.size), 0)::bigint from projects p
        join namespaces d on d.id = p.namespace_id
        join repositories r on r.container = 'project' and r.container_id = p.id and not r.wiki
        where d.ancestor_ids @> array[x.id] and not p.deleting) end as repository_size
    from (
      select n.id, n.name, n.path, n.kind, n.full_path, n.parent_id, n.avatar, ${levelOf(actor)} as level,
        case when o.id is not null then jsonb_build_object('id', o.id, 'username', o.username, 'name', o.name,
          'state', o.state, 'avatar', o.avatar, 'public_email', o.public_email, 'locked', o.locked_at is not null,
          'email', o.email) end as owner
      from (${ids}) page join namespaces n on n.id = page.id left join users o on o.id = n.owner_id) x
    order by x.id`.execute(db);
  return rows;
}

/** The caller's own: the personal namespace, and groups joined with at least this level. */
const joined = (
  actor: Actor,
  least: number,
): RawBuilder<unknown> => sql`(n.owner_id = ${actor.id} or n.id in (
  select m.namespace_id from members m where m.user_id = ${actor.id} and m.access_level >= ${least}
    and m.namespace_id is not null and (m.expires_at is null or m.expires_at > ${today()})))`;

export type NamespaceFilters = {
  search?: string;
  owned_only?: boolean;
  top_level_only?: boolean;
  full_path_search?: boolean;
};

/** One page of the caller's namespaces, by id; an administrator's are all. */
export async function listNamespaces(
  db: Db,
  actor: Actor,
  filters: NamespaceFilters,
  page: PageRequest,
): Promise<Page<NamespaceListing>> {
  if (page.kind === 'keyset') throw new Error('namespaces have no keyset pagination');
  const where: RawBuilder<unknown>[] = [sql`not n.deleting`];
  if (!actor.admin || filters.owned_only) where.push(joined(actor, filters.owned_only ? OWNER : GUEST));
  if (filters.top_level_only) where.push(sql`n.parent_id is null`);
  if (filters.search) {
    const pattern = containing(filters.search);
    where.push(
      filters.full_path_search
        ? sql`n.full_path ilike ${pattern}`
        : sql`(n.name ilike ${pattern} or n.path ilike ${pattern})`,
    );
  }
  const matching = sql`select n.id from namespaces n where ${sql.join(where, sql.raw(' and '))}`;
  const ids = sql`${matching} order by n.id limit ${page.perPage + 1} offset ${page.offset}`;
  return offsetPage(page, await selectNamespaces(db, actor, ids), async () => {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from (${matching} limit ${page.countLimit + 1}) counted`.execute(db);
    return rows[0]?.count ?? 0;
  });
}

/** The namespace with this id or full path, for its members; undefined otherwise. */
export async function findNamespace(
  db: Db,
  actor: Actor,
  reference: string,
): Promise<NamespaceListing | undefined> {
  const named = /^\d{1,15}$/.test(reference)
    ? sql`n.id = ${Number(reference)}`
    : sql`lower(n.full_path) collate "C" = ${reference.toLowerCase()}`;
  const [row] = await selectNamespaces(
    db,
    actor,
    sql`select n.id from namespaces n where not n.deleting and ${named}`,
  );
  return row && (row.level > 0 || actor.auditor) ? row : undefined;
}

const SUGGESTIONS_TRIED = 100;

/** Whether a path is in use at the top level or in a group, and if so the first number behind it that makes it free. */
export async function checkPath(db: Db, path: string, parent: { full_path: string } | undefined) {
  const full = (last: string): string => (parent ? `${parent.full_path}/${last}` : last).toLowerCase();
  const suggestions = Array.from({ length: SUGGESTIONS_TRIED }, (_, index) => `${path}${index + 1}`);
  const { rows } = await sql<{ full_path: string }>`
    select lower(full_path) as full_path from namespaces
    where lower(full_path) collate "C" = any(${[path, ...suggestions].map(full)}::text[])`.execute(db);
  const used = new Set(rows.map((row) => row.full_path));
  if (!used.has(full(path))) return { exists: false, suggests: [] };
  return { exists: true, suggests: suggestions.filter((each) => !used.has(full(each))).slice(0, 1) };
}
