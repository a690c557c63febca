/** Databases at a Unix socket, named by URLs, with both drivers. */
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
