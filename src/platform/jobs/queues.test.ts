/** Jobs of one queue follow each other. */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { insertFacts } from '../outbox/outbox.ts';

const done: number[] = [];
const heard: number[] = [];
/** Numbers of facts that fail once. */
const failing = new Set<number>();
/** What the numbered fact does. */
const works = new Map<number, () => Promise<void>>();
const app = useApp({
  instead: () => ({
    name: 'markdown',
    endpoints: [],
    tables: [],
    listeners: [{ fact: 'counted', task: 'hear' }],
    tasks: {
      async count({ place }) {
        done.push(Number(place));
      },
      async hear({ place }) {
        heard.push(Number(place));
        await works.get(Number(place))?.();
        if (failing.delete(Number(place))) throw new Error(`${place} fails`);
      },
    },
  }),
});

test('without waiting for the next poll, in their order', async () => {
  // By the polls alone, of two workers a second, these would take longer than a test may.
  const jobs = 1_500;
  const { sql } = app.app.services.database;
  await sql`
    select count(*) from generate_series(1, ${jobs}::integer) place, graphile_worker.add_job('count',
      json_build_object('place', place), 'projects 1', now() - (${jobs}::integer - place) * interval '1 microsecond')`;
  while (done.length < jobs) await sleep(100);
  expect(done).toEqual(done.toSorted((one, other) => one - other));
});

type Waiting = { queue_name: string; payload: { place: number }[]; attempts: number };
const waiting = () =>
  app.app.services.database.sql<Waiting[]>`
    select q.queue_name, j.payload, j.attempts from graphile_worker._private_jobs j
    join graphile_worker._private_job_queues q on q.id = j.job_queue_id order by j.id`;

/** Facts of one moment, by their numbers, of a project. */
async function announce(projectId: number, places: readonly number[]): Promise<void> {
  const { database, wake } = app.app.services;
  await database.sql.unsafe(
    insertFacts(
      `select 'counted', jsonb_build_object('project_id', $1::integer, 'place', place), now() from unnest($2::integer[]) place`,
    ),
    [projectId, places],
  );
  wake();
}

beforeEach(() => heard.splice(0));

test('facts of one queue are one job, and one that fails is tried again alone, the others not', async () => {
  failing.add(2);
  await announce(17, [1, 2, 3, 4]);
  await expect
    .poll(async () =>
      (await waiting()).map(({ payload, ...job }) => ({ ...job, places: payload.map(({ place }) => place) })),
    )
    .toEqual([{ queue_name: 'projects 1', places: [2], attempts: 1 }]);
  expect(heard).toEqual([1, 2, 3, 4]);
  await app.app.services.database.sql`update graphile_worker._private_jobs set run_at = now()`;
  await expect.poll(waiting, { timeout: 5_000 }).toEqual([]);
  expect(heard).toEqual([1, 2, 3, 4, 2]);
});

test('facts behind one that takes long become a job of their own, before what came after them', async () => {
  const places = () => waiting().then((jobs) => jobs.map(({ payload }) => payload.map(({ place }) => place)));
  const inHand: unknown[] = [];
  works.set(1, async () => {
    await announce(17, [4, 5]);
    while ((await places()).length < 2) await sleep(10);
    await sleep(300);
  });
  works.set(2, async () => {
    inHand.push(...(await places()));
  });
  await announce(1, [1, 2, 3]);
  await expect.poll(() => heard, { timeout: 5_000 }).toEqual([1, 2, 3, 4, 5]);
  expect(inHand).toEqual([
    [4, 5],
    [2, 3],
  ]);
});
