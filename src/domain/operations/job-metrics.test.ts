/** The queue of jobs, as administrators see it. */
import { expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { bodyOf, makeUser } from '../../../test/support/factories.ts';

const app = useApp();
const paths = ['queue_metrics', 'process_metrics', 'job_stats', 'compound_metrics'].map(
  (name) => `/sidekiq/${name}`,
);

test('is for administrators', async () => {
  const user = await makeUser(app);
  for (const path of paths) {
    expect((await app.call(`GET ${path}`)).status).toBe(401);
    expect((await app.as(user.token)(`GET ${path}`)).status).toBe(403);
  }
});

test('what waits, what is dead, and who works', async () => {
  const { sql } = app.app.services.database;
  // No worker knows the task, so that it stays.
  await sql`select graphile_worker.add_job('nobody.does_this', run_at := now() - interval '90 seconds')`;
  await sql`select graphile_worker.add_job('nobody.does_this', run_at := now() - interval '10 seconds')`;
  await sql`select graphile_worker.add_job('nobody.does_this', run_at := now() + interval '1 day')`;
  const [dead] = await sql<{ id: number }[]>`select (graphile_worker.add_job('nobody.did_this')).id`;
  await sql`update graphile_worker._private_jobs set attempts = max_attempts where id = ${dead?.id ?? 0}`;
  const all = bodyOf(await app.root('GET /sidekiq/compound_metrics'), 200);
  expect(Object.keys(all).sort()).toEqual(['jobs', 'processes', 'queues']);
  expect(all.queues['nobody.does_this'].backlog).toBe(2);
  expect(all.queues['nobody.does_this'].latency).toBeGreaterThanOrEqual(90);
  expect(all.queues['nobody.did_this']).toBeUndefined();
  expect(all.jobs.dead).toBe(1);
  expect(all.jobs.enqueued).toBeGreaterThanOrEqual(3);
  expect(all.processes).toMatchObject([{ pid: process.pid, tag: 'ashlar', concurrency: 2, labels: [] }]);
  expect(all.processes[0].queues).toContain('settings.count_users');
  expect(bodyOf(await app.root('GET /sidekiq/queue_metrics'), 200).queues['nobody.does_this'].backlog).toBe(
    2,
  );
  expect(bodyOf(await app.root('GET /sidekiq/process_metrics'), 200).processes).toHaveLength(1);
  expect(bodyOf(await app.root('GET /sidekiq/job_stats'), 200).jobs.dead).toBe(1);
});
