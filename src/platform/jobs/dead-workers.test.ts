import { setTimeout as sleep } from 'node:timers/promises';
import { CompiledQuery } from 'kysely';
import { expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { waitForMail } from '../../../test/support/mailbox.ts';
import { createPresence } from '../db/processes.ts';
import { insertFacts } from '../outbox/outbox.ts';
import { releaseDead, workersOf } from './dead-workers.ts';
import { removeEmptyQueues } from './jobs.ts';

const holders: unknown[] = [];
const app = useApp({
  instead: ({ database }) => ({
    name: 'markdown',
    endpoints: [],
    tables: [],
    // A task that nobody here runs.
    listeners: [{ fact: 'counted', task: 'elsewhere' }],
    tasks: {
      async holding() {
        const [row] =
          await database.sql`select locked_by from graphile_worker.jobs where task_identifier = 'holding'`;
        holders.push(row?.locked_by);
      },
    },
  }),
});

test('what a dead process held is free again, and what a living one holds stays', async () => {
  const { database, log } = app.app.services;
  const { sql, background } = database;
  const living = createPresence(database.points, log);
  const dead = createPresence(database.points, log);
  await living.announce();
  await dead.announce();
  await sql`update processes set beat_at = '-infinity' where id = ${dead.id}`;
  const hold = async (queue: string, by: string): Promise<void> => {
    await sql`select graphile_worker.add_job('elsewhere', '{}'::json, ${queue})`;
    await sql`update graphile_worker._private_job_queues set locked_by = ${by}, locked_at = now() where queue_name = ${queue}`;
    await sql`
      update graphile_worker._private_jobs set locked_by = ${by}, locked_at = now()
      where job_queue_id = (select id from graphile_worker._private_job_queues where queue_name = ${queue})`;
  };
  await hold('project 1', workersOf(living.id));
  await hold('project 2', workersOf(dead.id));
  await hold('project 3', 'pool-of-nobody');
  await releaseDead(background);
  const rows = await sql`
    select q.queue_name, q.locked_by as queue, j.locked_by as job
    from graphile_worker._private_job_queues q join graphile_worker._private_jobs j on j.job_queue_id = q.id
    order by q.queue_name`;
  const name = workersOf(living.id);
  expect([...rows]).toEqual([
    { queue_name: 'project 1', queue: name, job: name },
    { queue_name: 'project 2', queue: null, job: null },
    { queue_name: 'project 3', queue: null, job: null },
  ]);
  await living.stop();
  await releaseDead(background);
  expect(await sql`select id from graphile_worker._private_jobs where locked_by = ${name}`).toEqual([]);
  await dead.stop();
  await sql`delete from graphile_worker._private_jobs`;
});

test('the workers of the program hold their jobs under its name', async () => {
  const { database, presence } = app.app.services;
  await database.sql`select graphile_worker.add_job('holding')`;
  await waitForMail(app);
  expect(holders).toEqual([workersOf(presence.id)]);
  expect(await database.sql`select id from processes where id = ${presence.id}`).toHaveLength(1);
});

test('facts of many projects wait in few queues, and a queue in which nothing waits is removed', async () => {
  const { database, wake } = app.app.services;
  const { sql, background } = database;
  const names = async () =>
    (await sql<{ queue_name: string }[]>`select queue_name from graphile_worker._private_job_queues`).map(
      ({ queue_name }) => queue_name,
    );
  await sql`select graphile_worker.add_job('elsewhere', '{}'::json, 'project 7')`;
  await sql`select graphile_worker.add_job('elsewhere', '{}'::json, 'project 8')`;
  await sql`delete from graphile_worker._private_jobs where job_queue_id in (
    select id from graphile_worker._private_job_queues where queue_name = 'project 8')`;
  const projects = Array.from({ length: 60 }, (_, n) => n + 1);
  await background.executeQuery(
    CompiledQuery.raw(
      insertFacts(
        `select 'counted', jsonb_build_object('project_id', id), now() from generate_series(1, ${projects.length}) id`,
      ),
    ),
  );
  wake();
  const waiting = () => sql<{ queue: number; projects: number[] }[]>`
    select job_queue_id as queue, array_agg((fact->>'project_id')::int order by place) as projects
    from graphile_worker._private_jobs,
      json_array_elements(case json_typeof(payload) when 'array' then payload end) with ordinality as _(fact, place)
    group by id order by run_at`;
  while ((await waiting()).flatMap((job) => job.projects).length < projects.length) await sleep(20);
  const jobs = await waiting();
  expect(new Set(jobs.map(({ queue }) => queue)).size).toBe(16);
  expect(jobs.map((job) => job.projects)).toEqual(
    Array.from({ length: 16 }, (_, first) => projects.filter((id) => (id - 1) % 16 === first)),
  );
  await removeEmptyQueues(background);
  expect(await names()).toContain('project 7');
  expect(await names()).not.toContain('project 8');
  await sql`delete from graphile_worker._private_jobs`;
  await removeEmptyQueues(background);
  expect(await names()).toEqual([]);
});
