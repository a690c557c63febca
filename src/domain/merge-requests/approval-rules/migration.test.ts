/** Migrates projects whose setting asked for approvals, from before there were rules. */
import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { migrationsFolder } from '../../../instance.ts';
import { connect } from '../../../platform/db/database.ts';
import { migrate } from '../../../platform/db/migrations.ts';

test('approvals that a project asked for become a rule of any approver', async () => {
  const server = inject('postgres');
  const database = `test_${randomUUID().replaceAll('-', '')}`;
  const options = { max: 1, statementTimeout: 0, name: 'tests' };
  const admin = connect({ ...server, database: 'postgres' }, options);
  await admin.unsafe(`create database ${database}`);
  await admin.end();
  const older = mkdtempSync(join(tmpdir(), 'ashlar-migrations-'));
  for (const name of readdirSync(migrationsFolder).filter((file) => file < '0018'))
    cpSync(join(migrationsFolder, name), join(older, name));
  const sql = connect({ ...server, database }, options);
  try {
    await migrate(sql, older);
    await sql`
      insert into namespaces (kind, ancestor_ids, name, path, full_path, full_name, visibility, created_at, updated_at)
      values ('group', '{}', 'g', 'g', 'g', 'g', 20, now(), now())`;
    await sql`
      insert into projects (namespace_id, name, path, visibility, settings, last_activity_at, created_at, updated_at)
      select id, x::text, x::text, 20, x::jsonb, now(), now(), now()
      from namespaces, unnest(array['{}', '{"approvals_before_merge": 0}', '{"approvals_before_merge": 2}',
        '{"approvals_before_merge": 3000000000}']) x`;
    await migrate(sql, migrationsFolder);
    expect(
      await sql`
        select p.settings ->> 'approvals_before_merge' as setting, r.rule_type, r.approvals_required
        from projects p left join approval_rules r on r.project_id = p.id order by p.id`,
    ).toEqual([
      { setting: null, rule_type: null, approvals_required: null },
      { setting: '0', rule_type: null, approvals_required: null },
      { setting: '2', rule_type: 'any_approver', approvals_required: 2 },
      { setting: '100', rule_type: 'any_approver', approvals_required: 100 },
    ]);
  } finally {
    await sql.end();
    rmSync(older, { recursive: true });
  }
});
