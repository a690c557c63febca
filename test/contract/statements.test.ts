/**
 * Requests wait for few statements: a record for at most four, a page of records for six, a write for six. What costs no
 * round trip is not counted: a BEGIN, which is sent with the statement behind it, and what ahead() sends, such as an
 * announcement, whose answer nobody waits for. Endpoints that take more are listed with what they may take, in statements.golden.txt:
 * what copies, moves, promotes or restores, is sorted among others, or is of two records; what writes to a repository, and says before
 * which refs it will move; archives, which ask for large files; and, which they should not, reads and
 * writes of approval rules, and some of merge requests.
 * `UPDATE_GOLDEN=1` writes the list anew.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Endpoint } from '../../src/kernel/api/endpoint.ts';
import { makeAccessWorld } from '../support/access-world.ts';
import { ROOT_TOKEN, useApp } from '../support/app.ts';
import { makeRequests, type NamedRequest } from '../support/good-requests.ts';
import { titleOf } from '../support/inventory.ts';
import { sendRaw } from '../support/raw-http.ts';
import { byTheClock } from '../support/sent-statements.ts';
import { type Undo, watchChanges } from '../support/undo.ts';

const golden = join(import.meta.dirname, 'statements.golden.txt');
/** The first fills caches; of the others the least counts. */
const ROUNDS = 3;

const ashlar = useApp({ still: true });
let requests: readonly NamedRequest[];
let undo: Undo;
let statements = 0;

const budgetOf = ({ method, page }: Endpoint): number => (method === 'GET' && page === undefined ? 4 : 6);

beforeAll(async () => {
  const { places } = await makeAccessWorld(ashlar);
  const { sql, points, intake } = ashlar.app.services.database;
  // Root owns all records, and must be an administrator again.
  await sql`update users set admin = true where username = 'root'`;
  requests = await makeRequests(ashlar, places, ashlar.app.endpoints);
  undo = await watchChanges(ashlar);
  for (const pool of [sql, points, intake])
    pool.watch((text, _values, isAwaited) => {
      if (isAwaited && !byTheClock.test(text)) statements += 1;
    });
});

async function countStatements({ spec, request }: NamedRequest): Promise<number> {
  const counts: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    statements = 0;
    const { status } = await sendRaw(ashlar.url, request.line, {
      headers: { 'private-token': ROOT_TOKEN, ...request.headers },
      ...(request.body !== undefined && { body: request.body }),
    });
    if (status >= 500) throw new Error(`${request.line}: ${status}`);
    counts.push(statements);
    if (spec.method !== 'GET') await undo.undo();
  }
  return Math.min(...counts.slice(1));
}

test('no request takes more statements than its budget, or than is known of it', async () => {
  const over = new Map<string, number>();
  for (const named of requests) {
    if (named.title !== titleOf(named.spec)) continue;
    const count = await countStatements(named);
    if (count > budgetOf(named.spec)) over.set(named.title, count);
  }
  if (process.env.UPDATE_GOLDEN) {
    const lines = [...over].map(([title, count]) => `${String(count).padStart(2)} ${title}`);
    writeFileSync(golden, `${lines.toSorted().reverse().join('\n')}\n`);
  }
  const known = new Map(
    readFileSync(golden, 'utf8')
      .split('\n')
      .map((line): [string, number] => [line.slice(3), Number(line.slice(0, 2))]),
  );
  const worse = [...over].filter(([title, count]) => count > (known.get(title) ?? 0));
  expect(worse.map(([title, count]) => `${title}: ${count}, known are ${known.get(title) ?? 0}`)).toEqual([]);
});
