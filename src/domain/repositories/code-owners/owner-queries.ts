/**
 * Who owns what, as parts of statements (facts: merge requests §6.4). A row `f` has the owners as a code owners file names them
 * (`owner_names`, `owner_emails`, `owner_roles`), the project (`of_project_id`) and its ancestor groups (`of_ancestor_ids`); a
 * row `k` has a user (`user_id`). `today` is the date.
 */
import { type RawBuilder, sql } from 'kysely';
import { projectLevel } from '../../../kernel/access/membership-queries.ts';
import { DEVELOPER, OWNER } from '../../../kernel/policy/roles.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { NamedOwners } from './named-owners.ts';

const current = (alias: string, today: string): RawBuilder<unknown> =>
  sql.raw(`(${alias}.expires_at is null or ${alias}.expires_at > ${today})`);

/** A group `g` of the project's ancestors, or one with which the project or one of these is shared. */
const isOwningGroup = (
  today: string,
): RawBuilder<unknown> => sql`g.kind = 'group' and (g.id = any(f.of_ancestor_ids)
  or exists (select from project_group_links l where l.project_id = f.of_project_id and l.group_id = g.id
    and l.group_access >= ${sql.lit(DEVELOPER)} and ${current('l', today)})
  or exists (select from group_group_links l where l.shared_group_id = any(f.of_ancestor_ids)
    and l.shared_with_group_id = g.id and l.group_access >= ${sql.lit(DEVELOPER)} and ${current('l', today)}))`;

/** A direct member `m` of a group who develops in it. */
const isDeveloper = (today: string): RawBuilder<unknown> =>
  sql`m.access_level >= ${sql.lit(DEVELOPER)} and ${current('m', today)}`;

/** The level of the user in the project. */
export const levelOfUser = (today: string): RawBuilder<number> =>
  sql.raw(`(select ${projectLevel('k.user_id', today)}
    from projects p join namespaces n on n.id = p.namespace_id where p.id = f.of_project_id)`);

/** Whether the user is one of the owners. */
export const isOwner = (today: string): RawBuilder<boolean> => sql`((
    f.owner_names <> '{}' and exists (select from users w where w.id = k.user_id and lower(w.username) = any(f.owner_names))
    or f.owner_emails <> '{}' and exists (select from emails e where e.user_id = k.user_id
      and lower(e.email) = any(f.owner_emails) and e.confirmed_at is not null)
    or f.owner_names <> '{}' and exists (select from members m join namespaces g on g.id = m.namespace_id
      where m.user_id = k.user_id and ${isDeveloper(today)} and lower(g.full_path) = any(f.owner_names)
        and ${isOwningGroup(today)})
    or f.owner_roles <> '{}' and exists (select from members m where m.user_id = k.user_id
      and m.project_id = f.of_project_id and m.access_level = any(f.owner_roles) and ${current('m', today)})
    or ${sql.lit(OWNER)} = any(f.owner_roles) and exists (select from projects p join namespaces n on n.id = p.namespace_id
      where p.id = f.of_project_id and n.owner_id = k.user_id)
  ) and ${levelOfUser(today)} >= ${sql.lit(DEVELOPER)})`;

/** The users whom the file names by themselves, whoever they are in the project: `user_id`. */
export const selectNamedUsers = (): RawBuilder<unknown> => sql`
  select u.id as user_id from unnest(f.owner_names) o(name) join users u on lower(u.username) = o.name
  union all select e.user_id from unnest(f.owner_emails) o(email) join emails e on lower(e.email) = o.email
    and e.confirmed_at is not null`;

/** The groups that it names: `group_id`. */
export const selectNamedGroups = (today: string): RawBuilder<unknown> => sql`
  select g.id as group_id from unnest(f.owner_names) o(name) join namespaces g on lower(g.full_path) = o.name
  where ${isOwningGroup(today)}`;

/** All users who may be owners: `user_id`, some more than once; those are it who develop in the project. */
export const selectCandidates = (today: string): RawBuilder<unknown> => sql`
  ${selectNamedUsers()}
  union all select m.user_id from (${selectNamedGroups(today)}) g join members m on m.namespace_id = g.group_id
    and ${isDeveloper(today)}
  union all select m.user_id from members m where m.project_id = f.of_project_id
    and m.access_level = any(f.owner_roles) and ${current('m', today)}
  union all select n.owner_id from projects p join namespaces n on n.id = p.namespace_id
    where p.id = f.of_project_id and n.owner_id is not null and ${sql.lit(OWNER)} = any(f.owner_roles)`;

/** The places of those of these owners of which the user is none, while there are some; a caller without an account is none. */
export async function selectForeign(
  db: Db,
  projectId: number,
  userId: number | undefined,
  owners: readonly NamedOwners[],
): Promise<number[]> {
  if (owners.length === 0) return [];
  const today = `'${now().toISOString().slice(0, 10)}'::date`;
  const given = JSON.stringify(owners.map((each, place) => ({ place, ...each })));
  const { rows } = await sql<{ place: number }>`
    select f.place from (
      select g.*, p.id as of_project_id, n.ancestor_ids as of_ancestor_ids
      from jsonb_to_recordset(${given}::text::jsonb) as g (place integer, owner_names text[], owner_emails text[],
        owner_roles smallint[]), projects p join namespaces n on n.id = p.namespace_id where p.id = ${projectId}) f,
      (select ${userId ?? 0}::bigint as user_id) k
    where not ${isOwner(today)} and exists (
      select from (${selectCandidates(today)}) k join users u on u.id = k.user_id
      where u.state = 'active' and u.deletion is null and ${levelOfUser(today)} >= ${sql.lit(DEVELOPER)})
    order by f.place`.execute(db);
  return rows.map(({ place }) => place);
}
