/** Reports that end the digest's process, concurrent digests, and errors with too many events. */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { makeProject } from '../../../../test/support/factories.ts';
import { now } from '../../../platform/clock.ts';
import { randomHex } from '../../../platform/secret.ts';
import { sweepCrowdedErrors, sweepOldErrors } from '../errors/retention-actions.ts';
import { errorTrackingCapability } from '../index.ts';
import { createDigest } from './digest.ts';
import { type DigestOne, digestBatch } from './digest-batch.ts';
import { digestReport } from './digest-report.ts';

/** The program without its own digest. */
const app = useApp({
  instead: (services) => {
    const { background, ...rest } = errorTrackingCapability(services);
    return rest;
  },
});
const db = () => app.app.services.database.db;

const situation = { personKey: 'key', mayBeWhole: () => true };
/** Digests in this process. */
const digestHere: DigestOne = (report) => Promise.resolve(digestReport(report, situation));

type Said = Record<string, unknown>;

const event = (changes: Said = {}): string =>
  JSON.stringify({ event_id: randomHex(16), message: 'said', ...changes });

const envelopeOf = (...events: string[]): Buffer =>
  Buffer.from(['{}', ...events.flatMap((each) => ['{"type":"event"}', each])].join('\n'));

/** Megabytes of small values, which are slow to digest. */
const heavy = (): Buffer => {
  const many = event({ extra: { many: Array.from({ length: 1_300_000 }, () => ({})) } });
  return envelopeOf(...Array.from({ length: 5 }, () => many));
};

async function spool(projectId: number, bodies: readonly Buffer[]): Promise<void> {
  const rows = bodies.map((body) => ({
    project_id: projectId,
    form: 'envelope',
    encoding: 'gzip',
    body: gzipSync(body, { level: 1 }),
    received_at: now(),
  }));
  await db().insertInto('error_spool').values(rows).execute();
}

const spooled = (projectId: number) =>
  db()
    .selectFrom('error_spool')
    .select(['attempts'])
    .where('project_id', '=', projectId)
    .orderBy('id')
    .execute();

const countOf = async (projectId: number): Promise<number[]> => {
  const rows = await db()
    .selectFrom('errors')
    .select('events_count')
    .where('project_id', '=', projectId)
    .execute();
  return rows.map(({ events_count }) => events_count);
};

const digest = (most = 1_000) => digestBatch(db(), digestHere, { most, batchSize: 50 }, () => {});

/** Starts the digest in its own process, as the program does; counts the reports that it gave up. */
function startDigest(limits?: { milliseconds: number; memoryMb: number; idle: number }) {
  const { background, gauges } = createDigest(
    app.app.services,
    { onStored: () => {} },
    { add: () => {} },
    limits,
  );
  background.start();
  onTestFinished(background.stop);
  return {
    stop: background.stop,
    counts: async () => {
      const [values] = await Promise.all(gauges.map(({ read }) => read()));
      return Object.fromEntries((values ?? []).map(({ labels, value }) => [labels.outcome, value]));
    },
  };
}

describe('a report that ends the digest', () => {
  test('is tried three times, and costs the others nothing', async () => {
    const { id } = await makeProject(app);
    await spool(id, [envelopeOf(event()), heavy(), envelopeOf(event())]);
    const running = startDigest({ milliseconds: 400, memoryMb: 512, idle: 30_000 });
    // From then on a batch has one report.
    await expect
      .poll(async () => ({ left: await spooled(id), errors: await countOf(id) }), {
        timeout: 20_000,
        interval: 20,
      })
      .toEqual({ left: expect.arrayContaining([{ attempts: 1 }]), errors: [expect.any(Number)] });
    await expect.poll(running.counts, { timeout: 40_000 }).toMatchObject({ kept: 2, fatal: 1 });
    expect(await spooled(id)).toEqual([]);
    expect(await countOf(id)).toEqual([2]);
  });

  test('is counted each time', async () => {
    const { id } = await makeProject(app);
    await spool(id, [heavy()]);
    const running = startDigest({ milliseconds: 400, memoryMb: 512, idle: 30_000 });
    await expect.poll(() => spooled(id), { timeout: 20_000, interval: 20 }).toEqual([{ attempts: 1 }]);
    await running.stop();
    expect(await running.counts()).toMatchObject({ kept: 0, fatal: 0 });
    await sql`delete from error_spool`.execute(db());
  });

  test('is not one that is being digested when the program stops', async () => {
    const { id } = await makeProject(app);
    await spool(id, [heavy()]);
    const running = startDigest();
    const locked = async () => {
      const { rows } = await sql`select from error_spool for update skip locked`.execute(db());
      return rows.length;
    };
    await expect.poll(locked, { timeout: 20_000, interval: 20 }).toBe(0);
    await running.stop();
    // A batch was written as a whole, or not at all.
    const outcomes = [
      { left: [], errors: [1] },
      { left: [{ attempts: 0 }], errors: [] },
    ];
    expect(outcomes).toContainEqual({ left: await spooled(id), errors: await countOf(id) });
    await sql`delete from error_spool`.execute(db());
  });
});

test('a process that has nothing to do ends, and another one takes what comes then', async () => {
  const { id } = await makeProject(app);
  const running = startDigest({ milliseconds: 4_000, memoryMb: 512, idle: 500 });
  const processes = () =>
    readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8')
      .split(' ')
      .filter((pid) => pid !== '' && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('digest-process'));
  for (const kept of [1, 2]) {
    await spool(id, [envelopeOf(event())]);
    await expect.poll(running.counts, { timeout: 20_000 }).toMatchObject({ kept, fatal: 0 });
    expect(processes()).toHaveLength(1);
    await expect.poll(processes, { timeout: 20_000 }).toEqual([]);
  }
});

test('a report that the database refuses costs the others nothing', async () => {
  const { id } = await makeProject(app);
  await sql`alter table error_events add constraint only_here check (release <> 'refused')`.execute(db());
  await spool(
    id,
    ['a', 'refused', 'b'].map((release) => envelopeOf(event({ release }))),
  );
  expect(await digest()).toMatchObject({ counts: { kept: 2, fatal: 0 } });
  expect(await spooled(id)).toEqual([{ attempts: 1 }]);
  await digest();
  expect(await digest()).toMatchObject({ counts: { kept: 0, repeated: 0, fatal: 1 } });
  expect(await spooled(id)).toEqual([]);
  expect(await countOf(id)).toEqual([2]);
});

test('several digests at once count each event once, and wait for nobody', async () => {
  const { id } = await makeProject(app);
  const bodies = Array.from({ length: 240 }, (_, n) =>
    envelopeOf(event({ message: `wall ${'abc'[n % 3]}`, user: { id: n % 7 }, tags: { n: n % 5 } })),
  );
  await spool(id, [...bodies, ...bodies.slice(0, 60)]);
  await Promise.all(
    [1, 2, 3].map(async () => {
      while ((await digest()).taken > 0);
    }),
  );
  expect(await spooled(id)).toEqual([]);
  expect(await countOf(id)).toEqual([80, 80, 80]);
  const { rows } = await sql<Said>`
    select (select sum(c.events)::int from error_counts c where c.error_id = e.id) as counted,
      (select sum(t.events)::int from error_tags t where t.error_id = e.id and t.key = 'n') as tagged,
      (select count(*) from error_events v where v.error_id = e.id) as kept, users_count
    from errors e where project_id = ${id}`.execute(db());
  expect(rows).toEqual(
    Array.from({ length: 3 }, () => ({ counted: 80, tagged: 80, kept: 80, users_count: 7 })),
  );
});

describe('what is kept', () => {
  async function reported(projectId: number, count: number, changes: Said = {}) {
    await spool(
      projectId,
      Array.from({ length: count }, () => envelopeOf(event(changes))),
    );
    let crowded: readonly number[] = [];
    for (;;) {
      const batch = await digest(8);
      if (batch.taken === 0) return crowded;
      crowded = [...crowded, ...batch.crowded];
    }
  }

  const eventsOf = (projectId: number) =>
    db().selectFrom('error_events').select('id').where('project_id', '=', projectId).orderBy('id').execute();

  test('of an error are the newest of its events', async () => {
    await sql`delete from errors`.execute(db());
    const { id } = await makeProject(app);
    expect(await reported(id, 6)).toEqual([]);
    expect(await reported(id, 6)).toHaveLength(1);
    await reported(id, 3, { message: 'another' });
    const before = await eventsOf(id);
    expect(await sweepCrowdedErrors(db(), 8)).toBe(4);
    expect(await eventsOf(id)).toEqual(before.slice(4));
    expect((await countOf(id)).sort()).toEqual([12, 3]);
    expect(await sweepCrowdedErrors(db(), 8)).toBe(0);
  });

  test('is no error without events, however many there are', async () => {
    const { id } = await makeProject(app);
    await sql`
      insert into errors (project_id, fingerprint, name, first_seen_at, last_seen_at, created_at, updated_at)
      select ${id}, decode(lpad(to_hex(n), 64, '0'), 'hex'), 'old', t, t, t, t
      from generate_series(1, 45) n, (select ${now()}::timestamptz - interval '91 days' as t) at`.execute(
      db(),
    );
    expect(await countOf(id)).toHaveLength(45);
    await sweepOldErrors(db(), 90);
    expect(await countOf(id)).toEqual([]);
  });

  test('is not too old: events, what was counted, and errors that had none since', async () => {
    const { id } = await makeProject(app);
    await reported(id, 2, { message: 'old' });
    await reported(id, 2, { message: 'both' });
    await sql`update error_events set received_at = received_at - interval '91 days' where project_id = ${id}`.execute(
      db(),
    );
    await sql`update error_counts set hour = hour - interval '91 days'`.execute(db());
    await sql`update errors set last_seen_at = last_seen_at - interval '91 days' where project_id = ${id}`.execute(
      db(),
    );
    await reported(id, 1, { message: 'both' });
    expect(await sweepOldErrors(db(), 0)).toBe(0);
    expect(await eventsOf(id)).toHaveLength(5);
    expect(await sweepOldErrors(db(), 90)).toBe(4);
    expect(await eventsOf(id)).toHaveLength(1);
    const errors = await db()
      .selectFrom('errors')
      .select(['name', 'events_count'])
      .where('project_id', '=', id)
      .execute();
    expect(errors).toEqual([{ name: 'both', events_count: 3 }]);
    const counts = await db()
      .selectFrom('error_counts')
      .innerJoin('errors', 'errors.id', 'error_id')
      .select('events')
      .where('project_id', '=', id)
      .execute();
    expect(counts).toEqual([{ events: 1 }]);
  });
});
