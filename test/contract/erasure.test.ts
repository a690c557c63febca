/** Deleting a project, a group or a user leaves no rows: each table that names one is in some capability's list. */
import { expect, test } from 'vitest';
import { useApp } from '../support/app.ts';

const ashlar = useApp();

const OWNERS = [
  'project_id',
  'namespace_id',
  'group_id',
  'shared_group_id',
  'user_id',
  'author_id',
  'owner_id',
  'creator_id',
];

/** Tables whose rows stay when their subject is deleted, with the reason. */
const kept: Record<string, string> = {
  audit_events: 'The record of what was done outlives what it was done to.',
};

test('every table with a column that names an owner is named by a capability', async () => {
  const { sql } = ashlar.app.services.database;
  const tables = await sql<{ name: string }[]>`
    select distinct table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = any(${OWNERS}) order by 1`;
  const named = new Set(ashlar.app.capabilities.flatMap((capability) => capability.tables));
  const forgotten = tables.map(({ name }) => name).filter((name) => !named.has(name) && !(name in kept));
  expect(tables.length).toBeGreaterThan(10);
  expect(forgotten).toEqual([]);
});

test('every named table exists, and one capability names it', async () => {
  const { sql } = ashlar.app.services.database;
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'public'`;
  const existing = new Set(tables.map(({ name }) => name));
  const named = ashlar.app.capabilities.flatMap((capability) => capability.tables);
  expect(named.filter((name) => !existing.has(name))).toEqual([]);
  expect(named.filter((name, index) => named.indexOf(name) !== index)).toEqual([]);
});
