/** Users found by search. */
import { type RawBuilder, sql } from 'kysely';
import { openTo, seesAll, today, withReached } from '../../../kernel/access/group-list-queries.ts';
import type { UserBasicRow } from '../../../kernel/users/records.ts';
import type { Page } from '../../../platform/pagination/page.ts';
import { matches, type SearchRequest, searchPage } from '../../search/index.ts';

/**
 * The members of the container, inherited ones too, as far as the caller sees the groups that they are in,
 * and the owner of a personal project.
 */
function members({ container, actor }: SearchRequest): RawBuilder<unknown> {
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
    columns: sql`users.id, users.username, users.public_email, users.name, users.state, users.locked_at, users.avatar, users.email`,
    from: sql`users where users.deletion is null and ${shown} and ${members(request)}
      and (${matches(['users.name', 'users.username'], search)} or ${address})`,
    order: 'users.id desc',
  });
};
