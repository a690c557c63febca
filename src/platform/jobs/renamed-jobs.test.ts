/** Jobs and facts that an earlier version left run under the names that this version has for them. */
import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { migrationsFolder } from '../../instance.ts';
import { connect } from '../db/database.ts';
import { migrate } from '../db/migrations.ts';
import { migrateJobs } from './jobs.ts';

test('jobs and facts from before the rename have their new names and payloads', async () => {
  const server = inject('postgres');
  const database = `test_${randomUUID().replaceAll('-', '')}`;
  const options = { max: 1, statementTimeout: 0, name: 'tests' };
  const admin = connect({ ...server, database: 'postgres' }, options);
  await admin.unsafe(`create database ${database}`);
  await admin.end();
  const older = mkdtempSync(join(tmpdir(), 'ashlar-migrations-'));
  for (const name of readdirSync(migrationsFolder).filter((file) => file < '0014'))
    cpSync(join(migrationsFolder, name), join(older, name));
  const sql = connect({ ...server, database }, options);
  try {
    await migrate(sql, older, () => migrateJobs({ ...server, database }));
    const hearing = {
      name: '7',
      occasion: { event: 'new_issue', actorId: 1, projectId: 2 },
      told: { issue_id: 3 },
      at: '2026-01-01T00:00:00.000Z',
    };
    const left: [task: string, payload: unknown][] = [
      ['notifications.hear', { hearing, after: 0 }],
      ['notifications.send', { hearing, userId: 4, mentioned: false }],
      ['notifications.due', { hour: 8 }],
      ['upkeep.tend', {}],
      ['wikis.settle', { kind: 'project', id: 5 }],
      ['operations.sweep_avatars', {}],
    ];
    for (const [task, payload] of left)
      await sql`select graphile_worker.add_job(${task}, payload := ${JSON.stringify(payload)}::text::json)`;
    await sql`insert into outbox (fact, payload, created_at) values ('repository_write_cut_off', '{}', now())`;

    await migrate(sql, migrationsFolder);

    const job = {
      name: '7',
      event: { name: 'new_issue', actorId: 1, projectId: 2 },
      payload: { issue_id: 3 },
      at: '2026-01-01T00:00:00.000Z',
    };
    const jobs = await sql<{ task: string; payload: unknown }[]>`
      select t.identifier as task, j.payload from graphile_worker._private_jobs j
      join graphile_worker._private_tasks t on t.id = j.task_id order by j.id`;
    expect(jobs.map(({ task, payload }) => [task, payload])).toEqual([
      ['notifications.fan_out', { job, after: 0 }],
      ['notifications.send', { job, userId: 4, mentioned: false }],
      ['notifications.due', { hour: 8 }],
      ['housekeeping.repack', {}],
      ['wikis.reconcile', { kind: 'project', id: 5 }],
      ['uploads.sweep_pictures', {}],
    ]);
    expect(await sql`select fact from outbox`).toEqual([{ fact: 'repository_write_interrupted' }]);
  } finally {
    await sql.end();
    const dropping = connect({ ...server, database: 'postgres' }, options);
    await dropping.unsafe(`drop database ${database}`);
    await dropping.end();
    rmSync(older, { recursive: true });
  }
});
