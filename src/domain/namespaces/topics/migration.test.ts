/** Migrates projects' topics from before they had a table of their own. */
import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { migrationsFolder } from '../../../instance.ts';
import { connect } from '../../../platform/db/database.ts';
import { migrate } from '../../../platform/db/migrations.ts';

test('topics of projects from before, each in its first spelling, counted', async () => {
  const server = inject('postgres');
  const database = `test_${randomUUID().replaceAll('-', '')}`;
  const options = { max: 1, statementTimeout: 0, name: 'tests' };
  const admin = connect({ ...server, database: 'postgres' }, options);
  await admin.unsafe(`create database ${database}`);
  await admin.end();
  const older = mkdtempSync(join(tmpdir(), 'ashlar-migrations-'));
  for (const name of readdirSync(migrationsFolder).filter((file) => file < '0011'))
    cpSync(join(migrationsFolder, name), join(older, name));
  const sql = connect({ ...server, database }, options);
  try {
    await migrate(sql, older);
    await sql`
      insert into namespaces (kind, ancestor_ids, name, path, full_path, full_name, visibility, created_at, updated_at)
      values ('group', '{}', 'g', 'g', 'g', 'g', 20, now(), now())`;
    const projects: [visibility: number, topics: string[]][] = [
      [20, ['Stone', ' wall ', '', 'STONE']],
      [0, ['stone', 'secret']],
      [20, ['Wall', 'stone']],
      [20, []],
    ];
    for (const [index, [visibility, topics]] of projects.entries()) {
      await sql`
        insert into projects (namespace_id, name, path, visibility, topics, last_activity_at, created_at, updated_at)
        select id, ${`p${index}`}, ${`p${index}`}, ${visibility}, ${topics}, now(), now(), now() from namespaces`;
    }
    await migrate(sql, migrationsFolder);
    expect(await sql`select topics from projects order by id`).toEqual([
      { topics: ['Stone', 'wall'] },
      { topics: ['Stone', 'secret'] },
      { topics: ['wall', 'Stone'] },
      { topics: [] },
    ]);
    expect(await sql`select name, title, public_projects_rank from topics order by lower(name)`).toEqual([
      { name: 'secret', title: 'secret', public_projects_rank: 0 },
      { name: 'Stone', title: 'Stone', public_projects_rank: -2 },
      { name: 'wall', title: 'wall', public_projects_rank: -2 },
    ]);
  } finally {
    await sql.end();
    rmSync(older, { recursive: true });
  }
});
