/** Databases named by URLs, at a Unix socket too, for our pools and for the job library. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, expect, inject, test } from 'vitest';
import { migrateJobs, startWorkers } from '../jobs/jobs.ts';
import { createLog } from '../log.ts';
import { connect, connectionTo } from './database.ts';

const server = inject('postgres');
const database = `socket_${process.pid}`;
const admin = connect({ ...server, database: 'postgres' }, { max: 1, statementTimeout: 0, name: 'tests' });
afterAll(async () => {
  await admin.unsafe(`drop database if exists ${database} with (force)`);
  await admin.end();
});

test.each([
  ['without a host', ''],
  ['with one that does not count', 'db.example:1'],
])('a URL that names the folder of the socket, %s', async (_, host) => {
  await admin.unsafe(`drop database if exists ${database} with (force)`);
  await admin.unsafe(`create database ${database}`);
  const credentials = `${server.user}:${encodeURIComponent(server.password)}`;
  const port = host === '' ? '' : '&port=5432';
  const url = `postgres://${credentials}@${host}/${database}?host=${encodeURIComponent(server.host)}${port}`;
  const sql = connect(url, { max: 1, statementTimeout: 0, name: 'tests' });
  expect(await sql`select current_database() as name`).toEqual([{ name: database }]);
  await sql.end();
  await migrateJobs(url);
  const log = createLog(() => undefined);
  await (await startWorkers(url, {}, [], log)).stop();
});

test.each(['postgres://u:p@db.example/name', 'postgres://u:p@a:1,b:2/name', 'postgres:///name'])(
  '%s is left to the driver',
  (url) => {
    expect(connectionTo(url)).toBe(url);
  },
);

test('what a socket URL leaves out has defaults, and what is encoded is decoded', () => {
  expect(connectionTo('postgres://a%40b:p%3A@/?host=/run')).toEqual({
    host: '/run',
    port: 5432,
    user: 'a@b',
    password: 'p:',
    database: 'a@b',
  });
});

test.each([
  ['postgres://u@h/d?ssl=require', 'postgres://u@h/d?sslmode=require'],
  ['postgres://u@h/d?a=1&ssl=verify-full&b=2', 'postgres://u@h/d?a=1&sslmode=verify-full&b=2'],
  ['postgres://u@h/d?ssl=true', 'postgres://u@h/d?ssl=true'],
  ['postgres://u@h/d?nossl=require', 'postgres://u@h/d?nossl=require'],
])('%s names the mode of encryption as pg does', (url, named) => {
  expect(connectionTo(url)).toBe(named);
});

test.each(['ssl=require', 'sslmode=require', 'sslmode=prefer', 'sslmode=verify-full'])(
  'a server without encryption is refused by ?%s, and nothing else goes wrong',
  async (mode) => {
    const listener = createServer((socket) =>
      socket.on('error', () => undefined).once('data', () => socket.end('N')),
    );
    await once(listener.listen(0, '127.0.0.1'), 'listening');
    const { port } = listener.address() as AddressInfo;
    const sql = connect(`postgres://u:p@127.0.0.1:${port}/d?${mode}`, {
      max: 1,
      statementTimeout: 0,
      name: 'tests',
    });
    await expect(sql`select 1`).rejects.toThrow('does not support SSL');
    await sql.end();
    listener.close();
  },
);
