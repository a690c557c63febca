/** Connections that are cut off, at any moment and by whatever means: nothing is half done, and nobody waits for ever. */
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql as raw } from 'kysely';
import { afterAll, expect, inject, test } from 'vitest';
import { Failure } from '../failure.ts';
import { connect, inTransaction, openDatabase } from './database.ts';
import { startEmbedded } from './embedded/embedded.ts';
import { translateDatabaseError } from './errors.ts';

const server = inject('postgres');
const target = { ...server, database: `faults_${process.pid}` };
const admin = connect({ ...server, database: 'postgres' }, { max: 1, statementTimeout: 0, name: 'tests' });
await admin.unsafe(`create database ${target.database}`);
const other = connect(target, { max: 2, statementTimeout: 0, name: 'beside' });
afterAll(async () => {
  await other.end();
  await admin.unsafe(`drop database ${target.database} with (force)`);
  await admin.end();
});

/** A way to a server that can be cut anywhere, and led to another server. */
async function openWay(path: string) {
  let to = path;
  const open = new Set<Socket>();
  const clients = new Set<Socket>();
  const entrance = createServer((client) => {
    const there = dial(to);
    clients.add(client);
    client.on('close', () => clients.delete(client));
    for (const [socket, peer] of [
      [client, there],
      [there, client],
    ] as const) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        open.delete(socket);
        peer.destroy();
      });
    }
    client.pipe(there);
    there.pipe(client);
  });
  await new Promise<void>((resolve) => entrance.listen(0, '127.0.0.1', resolve));
  return {
    port: (entrance.address() as AddressInfo).port,
    lead(path: string) {
      to = path;
    },
    /** One of them with a reset or an end, in the middle of whatever is on its way. */
    cut(reset: boolean) {
      const all = [...(reset ? clients : open)];
      const one = all[Math.floor(Math.random() * all.length)];
      if (reset) one?.resetAndDestroy();
      else one?.destroy();
    },
    /** Says to all clients what the server did not say. */
    inject(bytes: Buffer) {
      for (const client of clients) client.write(bytes);
    },
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => entrance.close(resolve));
    },
  };
}

const socketOf = (host: string) => join(host, '.s.PGSQL.5432');

/** What a client is told where the connection goes: that the database is not there, and never that we are at fault. */
function expectUnavailable(error: unknown): void {
  const failure = translateDatabaseError(error);
  if (!(failure instanceof Failure) || failure.kind !== 'unavailable') throw error;
}

/** Of requests under load, so that cuts met some of each kind. */
const MIN_REQUESTED = 100;
const MIN_FAILED = 10;

test.each(['by the server', 'with a reset', 'with an end'])(
  'under load, connections are cut off %s: no half of a transaction, no answer of another, nobody forgotten',
  async (how) => {
    const name = `faults ${how}`;
    const way = await openWay(socketOf(target.host));
    const database = openDatabase(
      { ...target, host: '127.0.0.1', port: way.port },
      { requests: 4, background: 2 },
    );
    const { db, sql, points } = database;
    await other.unsafe(
      'drop table if exists halves; create table halves (n integer not null, side text not null)',
    );
    const acknowledged: number[] = [];
    let failed = 0;
    let requested = 0;
    let working = true;
    let next = 0;
    const attempt = async (work: () => Promise<void>) => {
      requested += 1;
      try {
        await work();
      } catch (error) {
        failed += 1;
        expectUnavailable(error);
      }
    };
    const write = () =>
      attempt(async () => {
        const n = next++;
        await inTransaction(db, async (tx) => {
          await raw`insert into halves values (${n}::integer, 'left')`.execute(tx);
          // Elsewhere, between two statements.
          await Promise.all([raw`select 1`.execute(db), sleep(1)]);
          await raw`insert into halves values (${n}::integer, 'right')`.execute(tx);
        });
        acknowledged.push(n);
      });
    const begin = () =>
      attempt(async () => {
        const n = next++;
        await sql.begin(async (tx) => {
          await tx`insert into halves values (${n}::integer, 'left')`;
          await tx`insert into halves values (${n}::integer, 'right')`;
        });
        acknowledged.push(n);
      });
    const read = (from: typeof sql) => () =>
      attempt(async () => {
        const n = next++;
        const [row] = await from<{ n: number; text: string }[]>`
          select ${n}::integer as n, repeat('x', ${n % 20_000}::integer) as text`;
        expect([row?.n, row?.text.length]).toEqual([n, n % 20_000]);
      });
    const workers = [
      write,
      write,
      write,
      begin,
      begin,
      read(sql),
      read(sql),
      read(points),
      read(points),
      read(points),
    ];
    const running = Promise.all(
      workers.map(async (work) => {
        while (working) await work();
      }),
    );
    // On a busy machine 60 cuts may be over before there was much to cut off.
    for (let round = 0; round < 60 || requested <= MIN_REQUESTED || failed <= MIN_FAILED; round++) {
      await Promise.race([sleep(Math.random() * 30), running]);
      if (how === 'by the server') {
        await other`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name in ('ashlar requests', 'ashlar points')
          order by random() limit 1`;
      } else way.cut(how === 'with a reset');
    }
    working = false;
    // Everybody has an answer.
    await running;
    for (let times = 0; times < 10; times++)
      await Promise.all([write(), begin(), read(sql)(), read(points)()]);
    const halves = await other`select n from halves group by n having count(*) <> 2`;
    expect(halves, name).toEqual([]);
    const kept = new Set((await other<{ n: number }[]>`select n from halves`).map(({ n }) => n));
    expect(acknowledged.filter((n) => !kept.has(n))).toEqual([]);
    await database.close();
    await way.close();
  },
);

test('a message that cannot be read costs its connection alone', async () => {
  const way = await openWay(socketOf(target.host));
  const pool = connect(
    { ...target, host: '127.0.0.1', port: way.port },
    { max: 2, statementTimeout: 0, name: 'faults' },
  );
  await pool`select ${1}::integer`;
  const pending = Promise.allSettled([pool`select pg_sleep(60)`, pool`select pg_sleep(60), ${1}::integer`]);
  await sleep(50);
  // The types of 65,535 parameters, which pg reads as a negative number of them.
  way.inject(Buffer.from([0x74, 0, 0, 0, 6, 0xff, 0xff]));
  for (const { status } of await pending) expect(status).toBe('rejected');
  expect(await pool`select ${2}::integer as two`).toEqual([{ two: 2 }]);
  await pool.end();
  await way.close();
});

test('on fail-over, requests are refused while no server is there, and served by the one that comes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-fail-over-'));
  const servers = [];
  try {
    const first = await startEmbedded(folder);
    servers.push(first);
    const way = await openWay(socketOf(first.connection.host));
    const database = openDatabase({ ...first.connection, host: '127.0.0.1', port: way.port });
    const { db, points } = database;
    await raw`create table counted (n integer)`.execute(db);
    const ask = () =>
      Promise.allSettled([
        inTransaction(db, (tx) => raw`insert into counted values (1)`.execute(tx)),
        raw`select count(*) from counted`.execute(db),
        points`select ${1}::integer as one`,
      ]);
    expect((await ask()).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
    const load = Array.from({ length: 20 }, ask);
    await first.stop();
    for (const response of (await Promise.all([...load, ask(), ask()])).flat())
      if (response.status === 'rejected') expectUnavailable(response.reason);
    expect((await ask()).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    const again = await startEmbedded(folder);
    servers.push(again);
    way.lead(socketOf(again.connection.host));
    await expect.poll(async () => (await ask()).every(({ status }) => status === 'fulfilled')).toBe(true);
    await database.close();
    await way.close();
  } finally {
    for (const server of servers) await server.stop();
    rmSync(folder, { recursive: true });
  }
});
