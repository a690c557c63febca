/** Jobs of one queue follow each other. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';

const done: number[] = [];
const app = useApp({
  instead: () => ({
    name: 'markdown',
    endpoints: [],
    tables: [],
    listeners: [],
    tasks: {
      async count({ place }) {
        done.push(Number(place));
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
