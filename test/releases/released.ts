/** Databases as releases left them. */
import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { connect } from '../../src/platform/db/database.ts';
import { migrateJobs } from '../../src/platform/jobs/jobs.ts';
import { loadRows, migrateAsReleased } from './fixture.ts';

type ReleasedDatabase = { host: string; user: string; password: string; database: string };

/** Runs the work on a database with the schema and the rows of the release. */
export async function onReleased(
  name: string,
  work: (database: ReleasedDatabase) => Promise<void>,
): Promise<void> {
  const server = inject('postgres');
  const target = { ...server, database: `test_${randomUUID().replaceAll('-', '')}` };
  const options = { max: 2, statementTimeout: 0, name: 'tests' };
  const admin = connect({ ...server, database: 'postgres' }, options);
  await admin.unsafe(`create database ${target.database}`);
  try {
    const sql = connect(target, options);
    try {
      await migrateAsReleased(name, sql, () => migrateJobs(target));
      await sql.begin((tx) => loadRows(name, tx));
    } finally {
      await sql.end();
    }
    await work(target);
  } finally {
    await admin.unsafe(`drop database ${target.database} with (force)`);
    await admin.end();
  }
}
