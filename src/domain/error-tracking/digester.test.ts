/** Reports that end the digest, several digests at once, and errors that have more events than are kept. */
import { gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { makeProject } from '../../../test/support/factories.ts';
import { now } from '../../platform/clock.ts';
import { deriveKey, randomHex } from '../../platform/secret.ts';
import { digestBatch } from './digest-batch.ts';
import { createDigester, type Digester } from './digester.ts';
import { errorTrackingCapability } from './index.ts';
import { createRecentBodies } from './recent-bodies.ts';
import { sweepCrowdedErrors, sweepOldErrors } from './retention.ts';

/** Without a digest of its own. */
const app = useApp({
  instead: (services) => {
    const { background, ...rest } = errorTrackingCapability(services);
    return rest;
  },
});
const db = () => app.app.services.database.db;

const key = deriveKey('a key', 'tests');
const opened: Digester[] = [];
function open(limits?: Parameters<typeof createDigester>[1]): Digester {
  const digester = createDigester(key, limits);
  opened.push(digester);
  return digester;
}
afterAll(async () => {
  await Promise.all(opened.map((digester) => digester.stop()));
});

type Said = Record<string, unknown>;

const event = (changes: Said = {}): string =>
  JSON.stringify({ event_id: randomHex(16), message: 'said', ...changes });

const envelopeOf = (...events: string[]): Buffer =>
  Buffer.from(['{}', ...events.flatMap((each) => ['{"type":"event"}', each])].join('\n'));

/** Megabytes of small things, which take some while. */
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

const digest = (digester: Digester, most = 1_000) => digestBatch(db(), digester, most, createRecentBodies());

describe('a report that ends the digest', () => {
  test('is tried three times, and costs the others nothing', async () => {
    const { id } = await makeProject(app);
    const digester = open({ milliseconds: 400, memoryMb: 512 });
    await spool(id, [envelopeOf(event()), heavy(), envelopeOf(event())]);
    expect(await digest(digester)).toMatchObject({ counts: { kept: 1, fatal: 0 } });
    expect(await spooled(id)).toEqual([{ attempts: 1 }, { attempts: 0 }]);
    expect(await digest(digester)).toMatchObject({ counts: { kept: 0, fatal: 0 } });
    expect(await spooled(id)).toEqual([{ attempts: 2 }, { attempts: 0 }]);
    expect(await digest(digester)).toMatchObject({ counts: { kept: 0, fatal: 1 } });
    expect(await digest(digester)).toMatchObject({ counts: { kept: 1, fatal: 0 } });
    expect(await spooled(id)).toEqual([]);
    expect(await countOf(id)).toEqual([2]);
  }, 60_000);

  test('is not one that is being digested when the program stops', async () => {
    const { id } = await makeProject(app);
    const digester = open();
    await spool(id, [heavy()]);
    const batch = digest(digester);
    await digester.stop();
    await batch;
    expect(await spooled(id)).toEqual([{ attempts: 0 }]);
    await sql`delete from error_spool`.execute(db());
  });
});

test('a report that the database refuses costs the others nothing', async () => {
  const { id } = await makeProject(app);
  const digester = open();
  await sql`alter table error_events add constraint only_here check (release <> 'refused')`.execute(db());
  await spool(
    id,
    ['a', 'refused', 'b'].map((release) => envelopeOf(event({ release }))),
  );
  expect(await digest(digester)).toMatchObject({ counts: { kept: 2, fatal: 0 } });
  expect(await spooled(id)).toEqual([{ attempts: 1 }]);
  await digest(digester);
  expect(await digest(digester)).toMatchObject({ counts: { kept: 0, repeated: 0, fatal: 1 } });
  expect(await spooled(id)).toEqual([]);
  expect(await countOf(id)).toEqual([2]);
});

test('several digests at once count each event once, and wait for nobody', async () => {
  const { id } = await makeProject(app);
  const bodies = Array.from({ length: 240 }, (_, n) =>
    envelopeOf(event({ message: `wall ${'abc'[n % 3]}`, user: { id: n % 7 }, tags: { n: n % 5 } })),
  );
  await spool(id, [...bodies, ...bodies.slice(0, 60)]);
  const digesters = [open(), open(), open()];
  await Promise.all(
    digesters.map(async (digester) => {
      while ((await digest(digester)).taken > 0);
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
}, 60_000);

describe('what is kept', () => {
  async function reported(projectId: number, count: number, changes: Said = {}) {
    await spool(
      projectId,
      Array.from({ length: count }, () => envelopeOf(event(changes))),
    );
    const digester = open();
    let crowded: readonly number[] = [];
    for (;;) {
      const batch = await digest(digester, 8);
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
