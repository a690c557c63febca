/** Deleting a project, a group or a user leaves no row that names it, and each table has an owner who sees to that. */
import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../support/app.ts';
import type { SampleIds } from '../support/inventory.ts';
import { makeWorld } from '../support/world.ts';

const ashlar = useApp();
const database = () => ashlar.app.services.database.sql;
let world: SampleIds;

beforeAll(async () => {
  world = await makeWorld(ashlar, 3);
});

/** Tables of the technical floor. */
const platform = ['instance_facts', 'migrations', 'outbox', 'processes', 'rate_limit_windows'];

test('every table has one owner', async () => {
  const tables = await database()<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'public'`;
  const named = ashlar.app.capabilities.flatMap((capability) => capability.tables);
  expect([...named, ...platform].sort()).toEqual(tables.map(({ name }) => name).sort());
});

/** Columns that keep the id of what is deleted, with the reason. */
const kept: Record<string, string> = {
  'audit_events.author_id': 'The record of what was done outlives who did it.',
  'deploy_tokens.created_by_id': 'Nothing reads it.',
  'members.created_by_id': 'A record leaves out a creator who is gone.',
  'oauth_applications.created_by_id': 'Nothing reads it.',
  'repositories.container_id': 'The row goes when housekeeping has removed the folder.',
};

/** The columns of these names that hold the id. */
async function naming(
  columns: RegExp,
  id: number,
  also: (table: string) => string = () => '',
): Promise<string[]> {
  const all = await database()<{ table_name: string; column_name: string }[]>`
    select c.table_name, c.column_name from information_schema.columns c
    where c.table_schema = 'public' and c.data_type = 'bigint' order by 1, 2`;
  const found: string[] = [];
  for (const { table_name: table, column_name: column } of all) {
    const name = `${table}.${column}`;
    if (!columns.test(name) || name in kept) continue;
    const rows = await database().unsafe(
      `select from ${table} where ${column} = ${id} ${also(table)} limit 1`,
    );
    if (rows.length > 0) found.push(name);
  }
  return found;
}

const gone = (table: string, id: number) =>
  expect
    .poll(async () => (await database().unsafe(`select from ${table} where id = ${id}`)).length, {
      timeout: 60_000,
    })
    .toBe(0);

const userColumns =
  /\.(user_id|(\w+_)?(author|owner|creator|uploader|follower|followee|requester)_id|\w+_by_id)$/;

test.each(['', 'hard_delete=true'])('a deleted user is named nowhere: %s', async (query) => {
  const username = query === '' ? 'person-1' : 'person-2';
  const [user] = await database()<{ id: number }[]>`select id from users where username = ${username}`;
  const id = user?.id ?? 0;
  expect((await naming(userColumns, id)).length).toBeGreaterThan(20);
  expect((await ashlar.root(`DELETE /users/${id}`, { query })).status).toBe(204);
  await gone('users', id);
  expect(await naming(userColumns, id)).toEqual([]);
});

const ofProjects = (table: string) =>
  /^(repository_uses|storage_moves|repositories)$/.test(table) ? `and container = 'project'` : '';
const projectColumns = /\.((\w+_)?project_id|forked_from_id|container_id)$/;

test('a deleted project is named nowhere', async () => {
  const id = world.project;
  expect((await naming(projectColumns, id, ofProjects)).length).toBeGreaterThan(20);
  expect((await ashlar.root(`DELETE /projects/${id}`)).status).toBe(202);
  const [row] = await database()<{ full_path: string }[]>`
    select n.full_path || '/' || p.path as full_path from projects p join namespaces n on n.id = p.namespace_id where p.id = ${id}`;
  const query = new URLSearchParams({
    permanently_remove: 'true',
    full_path: row?.full_path ?? '',
  }).toString();
  expect((await ashlar.root(`DELETE /projects/${id}`, { query })).status).toBe(202);
  await gone('projects', id);
  expect(await naming(projectColumns, id, ofProjects)).toEqual([]);
});

const groupColumns = /(\.(\w+_)?(namespace|group)_id|namespaces\.parent_id|group_wikis\.id)$/;

test('a deleted group is named nowhere', async () => {
  const id = world.group;
  expect((await naming(groupColumns, id)).length).toBeGreaterThan(15);
  expect((await ashlar.root(`DELETE /groups/${id}`)).status).toBe(202);
  await database()`update namespaces set marked_for_deletion_on = '2026-01-01' where id = ${id}`;
  const groups = ashlar.app.capabilities.find(({ name }) => name === 'groups');
  await groups?.tasks?.['namespaces.delete_overdue']?.({});
  await gone('namespaces', id);
  expect(await naming(groupColumns, id)).toEqual([]);
});
