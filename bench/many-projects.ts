/** A database of very many projects, and the three callers whose lists must not get slower. */
import { createHash } from 'node:crypto';
import type { Sql } from '../src/platform/db/driver/sql.ts';
import { fill, withoutIndexes } from './database.ts';

/** The same for any number of projects. */
const GROUPS = 400;
const MEMBERSHIPS = 50;

export const MEMBER_TOKEN = 'glpat-member-token-of-the-bench';

/** Makes `count` projects, 1 % public, 4 % internal, and a member of 50 groups, in the data folder. */
export const makeManyProjects = (data: string, count: number): Promise<void> =>
  fill(data, async (sql) => {
    const time = sql`timestamptz '2026-01-01'`;
    await sql`
      insert into namespaces (kind, ancestor_ids, name, path, full_path, full_name, visibility, created_at, updated_at)
      select 'group', array[]::bigint[], 'Group ' || g, 'group-' || g, 'group-' || g, 'Group ' || g, 0, ${time}, ${time}
      from generate_series(1, ${GROUPS}::integer) g`;
    await sql`update namespaces set ancestor_ids = array[id]`;
    await withoutIndexes(sql, 'projects', () => insertProjects(sql, count));
    await makeMember(sql);
    await sql`vacuum analyze`;
  });

const insertProjects = (sql: Sql, count: number) => sql`
  insert into projects (namespace_id, name, path, description, visibility, default_branch, last_activity_at, created_at, updated_at)
  select (array(select id from namespaces where kind = 'group' order by id))[1 + i * 7919::bigint % ${GROUPS}], 'Project ' || i, 'project-' || i, 'About project ' || i,
    case when percent = 0 then 20 when percent < 5 then 10 else 0 end, 'main', t, t, t
  from (select i, abs(hashint4(i)::bigint) % 100 as percent, timestamptz '2026-01-01' + i * interval '1 second' as t
    from generate_series(1, ${count}::integer) i) made`;

async function makeMember(sql: Sql): Promise<void> {
  const [user] = await sql<{ id: number }[]>`
    insert into users (username, name, email, confirmed_at, projects_limit, can_create_group, created_at, updated_at)
    values ('member', 'Member', 'member@example.com', now(), 10, true, now(), now()) returning id`;
  const id = user?.id ?? 0;
  await sql`
    insert into members (user_id, namespace_id, access_level, created_at, updated_at)
    select ${id}, id, 30, now(), now() from namespaces where kind = 'group' order by id limit ${MEMBERSHIPS}`;
  await sql`
    insert into access_tokens (kind, digest, user_id, name, scopes, created_at, updated_at)
    values ('personal', ${createHash('sha256').update(MEMBER_TOKEN).digest()}, ${id}, 'bench', ${['api']}, now(), now())`;
}
