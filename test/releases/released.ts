/** Databases as releases left them. */
import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { migrationsFolder } from '../../src/instance.ts';
import { connect } from '../../src/platform/db/database.ts';
import { migrate } from '../../src/platform/db/migrations.ts';
import { migrateJobs } from '../../src/platform/jobs/jobs.ts';
import { lastMigration, loadRows } from './fixture.ts';

type ReleasedDatabase = { host: string; user: string; password: string; database: string };

/** Runs the work on a database with the schema and the rows of the release. */
export async function onReleased(
  name: string,
  work: (database: ReleasedDatabase) => Promise<void>,
): Promise<void> {
  const server = inject('postgres');
  const target = { ...server, database: `test_${randomUUID().replaceAll('-', '')}` };
  const older = mkdtempSync(join(tmpdir(), 'ashlar-released-'));
  const options = { max: 2, statementTimeout: 0, name: 'tests' };
  const admin = connect({ ...server, database: 'postgres' }, options);
  await admin.unsafe(`create database ${target.database}`);
  try {
    const last = lastMigration(name);
    for (const file of readdirSync(migrationsFolder).filter((each) => each <= `${last}.sql`))
      cpSync(join(migrationsFolder, file), join(older, file));
    const sql = connect(target, options);
    try {
      await migrate(sql, older, () => migrateJobs(target));
      await sql.begin((tx) => loadRows(name, tx));
    } finally {
      await sql.end();
    }
    await work(target);
  } finally {
    await admin.unsafe(`drop database ${target.database} with (force)`);
    await admin.end();
    rmSync(older, { recursive: true });
  }
}
