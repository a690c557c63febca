/** Says what a statement or a transaction leaves in the memory of a process that does nothing else: bytes, as JSON. */
import { sql as raw } from 'kysely';
import { openDatabase } from '../../src/platform/db/database.ts';

const collect = globalThis.gc;
if (!collect) throw new Error('to be run with --expose-gc');

const [, , target = '', way = ''] = process.argv;
const database = openDatabase(JSON.parse(target), { requests: 1, background: 1 });

const ways: Record<string, () => Promise<unknown>> = {
  'a statement without Kysely': () =>
    database.sql.unsafe('select $1::text as text', ['a'], { prepare: true }),
  'a statement': () => raw`select 1 as one`.execute(database.db),
  'a transaction': () => database.db.transaction().execute((tx) => raw`select 1 as one`.execute(tx)),
  'a transaction without Kysely': () => database.sql.begin((tx) => tx`select 1 as one`),
};
const ask = ways[way];
if (!ask) throw new Error(`unknown: ${way}`);

const TIMES = 3_000;

for (let requested = 0; requested < 1_000; requested++) await ask();
collect();
for (let requested = 0; requested < TIMES; requested++) await ask();
for (let times = 0; times < 3; times++) collect({ type: 'minor' });
const used = process.memoryUsage().heapUsed;
collect();
process.stdout.write(JSON.stringify((used - process.memoryUsage().heapUsed) / TIMES));
await database.close();
