/** Databases of earlier versions. */
import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { migrationsFolder } from '../../src/instance.ts';
import { connect } from '../../src/platform/db/database.ts';
import type { PoolSql } from '../../src/platform/db/driver/sql.ts';
import { migrate } from '../../src/platform/db/migrations.ts';
import { migrateJobs } from '../../src/platform/jobs/jobs.ts';

/** Runs the work on a database whose migrations are those before this one; `upgrade` brings the others. */
export async function beforeMigration(
  first: string,
  work: (sql: PoolSql, upgrade: () => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const server = inject('postgres');
  const database = `test_${randomUUID().replaceAll('-', '')}`;
  const options = { max: 2, statementTimeout: 0, name: 'tests' };
  const administer = async (statement: string) => {
    const admin = connect({ ...server, database: 'postgres' }, options);
    await admin.unsafe(statement);
    await admin.end();
  };
  await administer(`create database ${database}`);
  const older = mkdtempSync(join(tmpdir(), 'ashlar-migrations-'));
  for (const name of readdirSync(migrationsFolder).filter((file) => file < first))
    cpSync(join(migrationsFolder, name), join(older, name));
  const sql = connect({ ...server, database }, options);
  try {
    await migrate(sql, older, () => migrateJobs({ ...server, database }));
    await work(sql, () => migrate(sql, migrationsFolder));
  } finally {
    await sql.end();
    await administer(`drop database ${database}`);
    rmSync(older, { recursive: true });
  }
}
