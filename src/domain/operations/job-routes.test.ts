/** Queues, processes and jobs as administrators read them. */
import { expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { bodyOf, makeUser } from '../../../test/support/factories.ts';
import { addJobs } from '../../platform/jobs/jobs.ts';

const ashlar = useApp();

test('what waits, since when, and what is dead', async () => {
  const { database } = ashlar.app.services;
  const read = async (name: string) => bodyOf(await ashlar.root(`GET /sidekiq/${name}`), 200);
  const before = await read('compound_metrics');
  expect(before).toEqual({
    queues: expect.any(Object),
    processes: expect.any(Array),
    jobs: { processed: expect.any(Number), failed: expect.any(Number), enqueued: 0, dead: 0 },
  });
  await addJobs(database.db, [
    { task: 'quarry.cut', payload: {} },
    { task: 'quarry.cut', payload: {} },
    { task: 'quarry.carry', payload: {} },
    { task: 'mason.rest', payload: {}, delaySeconds: 3_600 },
  ]);
  const { sql } = database;
  await sql`update graphile_worker._private_jobs set run_at = now() - interval '90 seconds', attempts = 0
    where id = (select min(id) from graphile_worker.jobs where task_identifier = 'quarry.cut')`;
  await sql`update graphile_worker._private_jobs set attempts = max_attempts, last_error = 'It broke'
    where id = (select id from graphile_worker.jobs where task_identifier = 'quarry.carry')`;
  const { queues } = await read('queue_metrics');
  expect([queues.quarry.backlog, queues.quarry.latency >= 90]).toEqual([2, true]);
  expect(queues.mason).toEqual({ backlog: 0, latency: 0 });
  const { jobs } = await read('job_stats');
  expect(jobs).toMatchObject({ enqueued: 3, dead: 1 });
});

test('the processes that are alive', async () => {
  const { processes } = bodyOf(await ashlar.root('GET /sidekiq/process_metrics'), 200);
  const own = processes.filter(({ pid }: { pid: number }) => pid === process.pid);
  expect(own).toMatchObject([{ tag: 'ashlar', concurrency: 2, busy: 0, labels: [] }]);
  expect(own[0].hostname).not.toBe('');
});

test('administrators alone read them', async () => {
  const user = await makeUser(ashlar);
  const names = ['queue_metrics', 'process_metrics', 'job_stats', 'compound_metrics'];
  for (const name of names) expect((await ashlar.as(user.token)(`GET /sidekiq/${name}`)).status).toBe(403);
});
