/** Jobs and facts that an earlier version left are done by this version. */
import { expect, test } from 'vitest';
import { beforeMigration } from '../../../test/support/migrations.ts';
import type { PoolSql } from '../db/driver/sql.ts';

const addJob = (sql: PoolSql, task: string, payload: unknown) =>
  sql`select graphile_worker.add_job(${task}, payload := ${JSON.stringify(payload)}::text::json)`;

test('jobs and facts from before the rename have their new names and payloads', () =>
  beforeMigration('0014', async (sql, upgrade) => {
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
    for (const [task, payload] of left) await addJob(sql, task, payload);
    await sql`insert into outbox (fact, payload, created_at) values ('repository_write_cut_off', '{}', now())`;

    await upgrade();

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
    ]);
    expect(await sql`select fact from outbox`).toEqual([{ fact: 'repository_write_interrupted' }]);
  }));

test('what integrations had to send by jobs waits for their sender', () =>
  beforeMigration('0044', async (sql, upgrade) => {
    await sql`set session_replication_role = replica`;
    await sql`insert into integrations (project_id, slug, active, events, properties, created_at, updated_at)
      values (1, 'slack', true, '{}', '{}', now(), now())`;
    const fact_at = '2026-01-01T00:00:00.000Z';
    for (const [integration_id, place] of [
      [1, 0],
      [1, 1],
      [2, 0],
    ])
      await addJob(sql, 'integrations.deliver', {
        id: `integration-${integration_id}-7-${place}`,
        integration_id,
        prepared: { message: place },
        fact_at,
      });

    await upgrade();

    const waiting = await sql`
      select integration_id, fact_id, place, prepared::json as prepared, fact_at from integration_deliveries order by id`;
    expect(waiting).toEqual(
      [0, 1].map((place) => ({
        integration_id: 1,
        fact_id: 7,
        place,
        prepared: { message: place },
        fact_at: new Date(fact_at),
      })),
    );
    expect(await sql`select from graphile_worker._private_jobs`).toEqual([]);
  }));
