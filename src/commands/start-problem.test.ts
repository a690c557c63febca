/** What is said of the errors that a start meets, by real sockets where that is possible. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { connect } from '../platform/db/database.ts';
import { describeProblem } from './start-problem.ts';

test('a port in use is named, with what to do', async () => {
  const first = createServer().listen(0, '127.0.0.1');
  await once(first, 'listening');
  const address = first.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const [error] = await once(createServer().listen(port, '127.0.0.1'), 'error').catch((thrown) => [thrown]);
  first.close();
  expect(describeProblem(error)).toBe(
    `127.0.0.1:${port} is in use: stop what listens there, or choose another port with ASHLAR_PORT`,
  );
});

test.each([
  ['postgres://nobody:secret@127.0.0.1:1/none', '127.0.0.1:1'],
  ['postgres://nobody:secret@localhost:1/none', ':1'],
  ['postgres://nobody:secret@localhost/none?host=/nonexistent', '/nonexistent/.s.PGSQL.5432'],
])('a database that is not there is named, its password is not: %s', async (url, place) => {
  const sql = connect(url, { max: 1, statementTimeout: 0, name: 'test' });
  const error = await sql`select 1`.catch((thrown: unknown) => thrown);
  await sql.end({ timeout: 1 });
  const text = describeProblem(error);
  expect(text).toMatch(/^no database listens at .*: start it, or correct DATABASE_URL$/);
  expect(text).toContain(place);
  expect(text).not.toContain('secret');
});

test.each([
  [Object.assign(new Error('no such file'), { code: 'ENOENT', syscall: 'open' }), 'no such file'],
  [
    Object.assign(new Error('getaddrinfo'), {
      code: 'ENOTFOUND',
      syscall: 'getaddrinfo',
      hostname: 'db.test',
    }),
    "the database's host db.test is not known: correct DATABASE_URL",
  ],
  [new Error('something else'), 'something else'],
  ['a text', 'a text'],
])('%s', (error, text) => {
  expect(describeProblem(error)).toBe(text);
});
