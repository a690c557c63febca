/** The digest on PostgreSQL: reports of the spool become errors, each event once. */
import { gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { describe, expect, test, vi } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { makeProject } from '../../../../test/support/factories.ts';
import { now } from '../../../platform/clock.ts';
import { randomHex } from '../../../platform/secret.ts';
import { readEvent } from '../events/shape.ts';

const app = useApp();
const db = () => app.app.services.database.db;

type Said = Record<string, unknown>;

/** An error of its own for each type. */
const thrown = (type: string, changes: Said = {}): Said => ({
  event_id: randomHex(16),
  platform: 'python',
  timestamp: now().getTime() / 1_000,
  exception: {
    values: [
      { type, value: 'no stone left', stacktrace: { frames: [{ function: 'lay', module: 'walls' }] } },
    ],
  },
  ...changes,
});

const envelopeOf = (...events: Said[]): Buffer =>
  Buffer.from(['{}', ...events.flatMap((event) => ['{"type":"event"}', JSON.stringify(event)])].join('\n'));

async function spool(projectId: number, bodies: readonly Buffer[], changes: Said = {}): Promise<void> {
  await db()
    .insertInto('error_spool')
    .values(
      bodies.map((body) => ({
        project_id: projectId,
        form: 'envelope',
        encoding: 'gzip',
        body: gzipSync(body),
        received_at: now(),
        ...changes,
      })),
    )
    .execute();
}

/** Waits until the running digest has emptied the spool. */
const digested = (): Promise<unknown> =>
  vi.waitFor(
    async () => {
      const left = await db().selectFrom('error_spool').select('id').execute();
      expect(left).toEqual([]);
    },
    { timeout: 20_000, interval: 50 },
  );

const errorsOf = (projectId: number) =>
  db().selectFrom('errors').selectAll().where('project_id', '=', projectId).orderBy('name').execute();

const eventsOf = (projectId: number) =>
  db().selectFrom('error_events').selectAll().where('project_id', '=', projectId).orderBy('id').execute();

/** Stores a report of the events in the spool. */
async function report(projectId: number, ...events: Said[]) {
  await spool(
    projectId,
    events.map((event) => envelopeOf(event)),
  );
  await digested();
  return errorsOf(projectId);
}

describe('the digest', () => {
  test('makes an error of its events, with what is counted of them', async () => {
    const { id } = await makeProject(app);
    const start = Math.floor(now().getTime() / 1_000) - 100;
    const [error, ...others] = await report(
      id,
      thrown('Crack', { timestamp: start, release: 'walls@1', user: { id: 1 }, tags: { yard: 'north' } }),
      thrown('Crack', { timestamp: start + 20, release: 'walls@2', user: { id: 2 }, level: 'fatal' }),
      thrown('Crack', {
        timestamp: start + 10,
        user: { id: 1 },
        tags: [['yard', 'south']],
        environment: 'live',
      }),
    );
    expect(others).toEqual([]);
    expect(error).toMatchObject({
      name: 'Crack',
      description: 'no stone left',
      actor: 'lay (walls)',
      platform: 'python',
      level: 'fatal',
      status: 'unresolved',
      events_count: 3,
      users_count: 2,
      first_release: 'walls@1',
      last_release: 'walls@2',
      first_seen_at: new Date(start * 1_000),
      last_seen_at: new Date((start + 20) * 1_000),
      regressed_at: null,
    });
    const counts = await db()
      .selectFrom('error_counts')
      .selectAll()
      .where('error_id', '=', error?.id ?? 0)
      .execute();
    expect(counts.reduce((sum, { events }) => sum + events, 0)).toBe(3);
    const tags = await db()
      .selectFrom('error_tags')
      .selectAll()
      .where('error_id', '=', error?.id ?? 0)
      .execute();
    expect(tags.map(({ key, value, events }) => `${key}=${value} ${events}`).sort()).toEqual([
      'environment=live 1',
      'level=error 2',
      'level=fatal 1',
      'release=walls@1 1',
      'release=walls@2 1',
      'yard=north 1',
      'yard=south 1',
    ]);
    const [event] = await eventsOf(id);
    expect(await readEvent({ payload: event?.payload ?? Buffer.alloc(0) })).toMatchObject({
      exceptions: [{ type: 'Crack', frames: [{ function: 'lay', module: 'walls', in_app: true }] }],
    });
  });

  test('adds later events to what is there', async () => {
    const { id } = await makeProject(app);
    await report(id, thrown('Crack', { user: { id: 1 } }));
    const [error] = await report(
      id,
      thrown('Crack', { user: { id: 1 } }),
      thrown('Crack', { user: { id: 2 } }),
    );
    expect(error).toMatchObject({ events_count: 3, users_count: 2 });
  });

  test('counts an event once however often it is sent', async () => {
    const { id } = await makeProject(app);
    const event = thrown('Crack');
    await report(id, event, event, thrown('Crack'));
    const [error] = await report(id, event);
    expect(error).toMatchObject({ events_count: 2 });
    expect(await eventsOf(id)).toHaveLength(2);
    // The same event id in another project is another event.
    const other = await makeProject(app);
    expect(await report(other.id, event)).toMatchObject([{ events_count: 1 }]);
  });

  test('takes all the events of an envelope, and leaves out what nobody can read', async () => {
    const { id } = await makeProject(app);
    await spool(id, [
      envelopeOf(thrown('A'), thrown('B')),
      Buffer.from('{}\n{"type":"event"}\n{"broken":\n{"type":"event"}\n{"message":"said"}'),
      Buffer.from('no envelope'),
    ]);
    await spool(
      id,
      [Buffer.from('not packed at all')].map((body) => body),
      { encoding: 'br' },
    );
    await spool(id, [Buffer.from(JSON.stringify(thrown('C')))], { form: 'store' });
    await digested();
    expect((await errorsOf(id)).map(({ name }) => name)).toEqual(['A', 'B', 'C', 'said']);
  });

  test('opens again what was resolved before it happened, and leaves alone what is ignored', async () => {
    const { id } = await makeProject(app);
    const seconds = now().getTime() / 1_000;
    const before = { timestamp: seconds - 60 };
    await report(id, thrown('Ignored', before), thrown('Late', before), thrown('Resolved', before));
    const resolved = new Date((seconds - 30) * 1_000);
    await sql`update errors set status = case name when 'Ignored' then 'ignored' else 'resolved' end,
      resolved_at = case name when 'Ignored' then null else ${resolved}::timestamptz end
      where project_id = ${id}`.execute(db());
    const after = { timestamp: seconds - 10 };
    const errors = await report(
      id,
      thrown('Ignored', after),
      thrown('Late', { timestamp: seconds - 40 }),
      thrown('Resolved', after),
    );
    expect(errors).toMatchObject([
      { name: 'Ignored', status: 'ignored', regressed_at: null, events_count: 2 },
      { name: 'Late', status: 'resolved', regressed_at: null, resolved_at: resolved },
      {
        name: 'Resolved',
        status: 'unresolved',
        regressed_at: new Date(after.timestamp * 1_000),
        resolved_at: null,
      },
    ]);
  });

  test('believes no clock that cannot be right', async () => {
    const { id } = await makeProject(app);
    await report(
      id,
      thrown('Future', { timestamp: '2999-01-01T00:00:00Z' }),
      thrown('Past', { timestamp: 5 }),
    );
    const events = await eventsOf(id);
    expect(events).toHaveLength(2);
    for (const { occurred_at, received_at } of events) expect(occurred_at).toEqual(received_at);
  });

  test('counts so many tags of an error and no more', async () => {
    const { id } = await makeProject(app);
    const tags = (from: number, count: number, value: (n: number) => string) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`key-${from + n}`, value(n)]));
    await report(
      id,
      ...Array.from({ length: 130 }, (_, n) => thrown('Many', { tags: { request: `id-${n}` } })),
      thrown('Many', { tags: tags(0, 45, () => 'x') }),
    );
    await report(id, thrown('Many', { tags: { ...tags(40, 45, () => 'x'), request: 'id-one-more' } }));
    const [error] = await errorsOf(id);
    const { rows } = await sql<{ key: string; values: number; events: number }>`
      select key, count(*) as values, sum(events)::int as events from error_tags
      where error_id = ${error?.id} group by key order by key`.execute(db());
    expect(rows).toHaveLength(50);
    expect(rows.find(({ key }) => key === 'request')).toMatchObject({ values: 100 });
    expect(rows.find(({ key }) => key === 'key-44')).toMatchObject({ values: 1, events: 2 });
  });

  test('keeps addresses only where the project wants them', async () => {
    const named = thrown('Met', { user: { ip_address: '{{auto}}' } });
    for (const keeps of [false, true]) {
      const { id } = await makeProject(app);
      await db()
        .insertInto('error_tracking_settings')
        .values({
          project_id: id,
          active: true,
          integrated: true,
          keep_addresses: keeps,
          created_at: now(),
          updated_at: now(),
        })
        .execute();
      await spool(id, [envelopeOf(named)], { address: '192.0.2.7' });
      await digested();
      const [event] = await eventsOf(id);
      const { user } = await readEvent({ payload: event?.payload ?? Buffer.alloc(0) });
      expect(user?.ip_address ?? null).toBe(keeps ? '192.0.2.7' : null);
      expect(await errorsOf(id)).toMatchObject([{ users_count: keeps ? 1 : 0 }]);
    }
  });

  test('shows what became of the events', async () => {
    const metrics = await app.root('GET /-/metrics', { raw: true });
    expect(metrics.text).toMatch(/^error_events_digested_total\{outcome="kept"\} [1-9]/m);
    expect(metrics.text).toMatch(/^error_events_digested_total\{outcome="unreadable"\} 3$/m);
  });
});
