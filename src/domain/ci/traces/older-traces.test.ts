/** Traces that an earlier version kept without their project. */
import { expect, test } from 'vitest';
import { beforeMigration } from '../../../../test/support/migrations.ts';

test('traces of before have the project of their job', () =>
  beforeMigration('0091', async (sql, upgrade) => {
    await sql.unsafe(`
      set session_replication_role = replica;
      insert into projects (id, namespace_id, name, path, visibility, last_activity_at, created_at, updated_at)
        overriding system value values (5, 1, 'stone', 'stone', 0, now(), now(), now());
      insert into ci_jobs (id, pipeline_id, project_id, name, status, user_id, kind, stage, stage_index, created_at, updated_at)
        overriding system value values (7, 1, 5, 'build', 'success', 1, 'job', 'build', 0, now(), now());
      insert into ci_traces (job_id, sha256, size) values (7, sha256('trace'), 12)`);
    await upgrade();
    expect(await sql`select job_id, project_id, size from ci_traces`).toEqual([
      { job_id: 7, project_id: 5, size: 12 },
    ]);
  }));
