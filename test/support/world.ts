/** A small world in which every list has the same number of objects, each of another owner: made by SQL, as rows. */
import type { TestApp } from './app.ts';
import type { SampleIds } from './inventory.ts';
import { findObjects, samples } from './samples.ts';

export { queryInWorld } from './samples.ts';

/**
 * `count` of every kind below one group, one project of it, and root, who is `user` and stars, follows, owns
 * and is a member of `count` objects. The places and people are made here, all else by the samples of the resources.
 */
export async function makeWorld(app: TestApp, count: number): Promise<SampleIds> {
  const { sql } = app.app.services.database;
  const [root] = await sql<{ id: number }[]>`select id from users where username = 'root'`;
  const [home] = await sql<{ id: number }[]>`select id from namespaces where owner_id = ${root?.id ?? 0}`;
  const [made] = await sql<{ id: number }[]>`
    insert into namespaces (kind, ancestor_ids, name, path, full_path, full_name, visibility, created_at, updated_at)
    values ('group', '{}', 'world', 'world', 'world', 'world', 20, now(), now()) returning id`;
  const group = made?.id ?? 0;
  await sql`update namespaces set ancestor_ids = array[id] where id = ${group}`;
  const [project] = await sql<{ id: number }[]>`
    insert into projects (namespace_id, name, path, visibility, last_activity_at, created_at, updated_at)
    values (${group}, 'world', 'world', 20, now(), now(), now()) returning id`;
  const places = { user: root?.id ?? 0, group, project: project?.id ?? 0 };
  await sql.unsafe(people(count, places.group));
  await sql.unsafe(namespaces(count, places.group, home?.id ?? 0, places.project));
  for (const [folder, { rows }] of samples) if (rows) await insertRows(app, folder, rows(places, app));
  for (const { fill } of samples.values()) await fill?.(app, count, places);
  return { ...places, objects: await findObjects(app, places) };
}

/** Runs SQL of a resource's samples; `person` is a table of ids and usernames. */
export async function insertRows(app: TestApp, folder: string, rows: string): Promise<void> {
  const person = `create temporary table person on commit drop as
    select id, username from users where username like 'person-%' order by id`;
  await app.app.services.database.sql.unsafe(`${person}; ${rows};`).catch((error: unknown) => {
    throw new Error(`the rows of src/domain/${folder}/samples.ts: ${error}`, { cause: error });
  });
}

/** Users `person-1` and so on, each with a namespace; they are the group's enterprise users. */
const people = (count: number, group: number): string => `
  insert into users (username, name, email, projects_limit, can_create_group, confirmed_at, last_activity_on,
      enterprise_group_id, enterprise_group_associated_at, created_at, updated_at)
    select 'person-' || i, 'Person ' || i, 'person-' || i || '@example.org', 10, true, now(), current_date,
      ${group}, now(), now() - i * interval '1 hour', now()
    from generate_series(1, ${count}) i;
  insert into emails (user_id, email, confirmed_at, created_at, updated_at)
    select id, email, now(), now(), now() from users where username like 'person-%';
  insert into namespaces (kind, owner_id, ancestor_ids, name, path, full_path, full_name, visibility, created_at, updated_at)
    select 'user', id, '{}', name, username, username, name, 20, now(), now() from users where username like 'person-%';
  update namespaces set ancestor_ids = array[id] where ancestor_ids = '{}';`;

/** Subgroups, groups beside the group, projects of root, of the group and of the users; forks. */
const namespaces = (count: number, group: number, home: number, project: number): string => `
  insert into namespaces (kind, parent_id, ancestor_ids, name, path, full_path, full_name, visibility, created_at, updated_at)
    select 'group', ${group}, array[${group}], 'Part ' || i, 'part-' || i, 'world/part-' || i, 'world / Part ' || i, 20, now(), now()
    from generate_series(1, ${count}) i
    union all
    select 'group', null, '{}', 'Beside ' || i, 'beside-' || i, 'beside-' || i, 'Beside ' || i, 20, now(), now()
    from generate_series(1, ${count}) i;
  update namespaces set ancestor_ids = ancestor_ids || id where path like 'part-%' or path like 'beside-%';
  insert into projects (namespace_id, creator_id, name, path, visibility, forked_from_id, last_activity_at, created_at, updated_at)
    select place, u.id, 'Thing ' || u.id, 'thing-' || u.id, 20, fork, now(), now() - u.id * interval '1 hour', now()
    from users u, (values (${home}, ${project}), (${group}, null::bigint)) x(place, fork) where u.username like 'person-%'
    union all
    select n.id, u.id, 'Own', 'own', 20, null, now(), now(), now()
    from users u join namespaces n on n.owner_id = u.id where u.username like 'person-%'`;
