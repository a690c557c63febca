/**
 * What each GET of the inventory and each common write costs: statements, CPU time of program and database, and the share of
 * a bare route's requests a second that sends the same bytes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import { ROOT_TOKEN } from '../test/support/app.ts';
import type { NamedRequest } from '../test/support/good-requests.ts';
import { titleOf } from '../test/support/inventory.ts';
import { sendRaw } from '../test/support/raw-http.ts';
import { commonWrites, fillInstance, headers, settled, write } from './filled-instance.ts';
import { openWatched, type Watched } from './loop-stalls.ts';
import { type CpuTime, cpuTimeOf, metric, startScript } from './processes.ts';

const CONNECTIONS = 16;
/**
 * Seconds of load: hundreds of requests, unless each takes long; the tick of the kernel's clock is 10 ms. What was never asked
 * for is compiled and planned first, by each connection; the bare route is the same for all, and warm after the first.
 */
const SECONDS = { warming: 1, subject: 0.8, bare: 0.4 };

const budgets = { record: 4, page: 6, write: 6, afterwards: 8 };
const SHARE = 0.4;
const SHARE_OF_MOST_USED = 0.6;
const mostUsed: ReadonlySet<string> = new Set([
  'GET /version',
  'GET /user',
  'GET /projects',
  'GET /projects/:id',
  'GET /projects/:id/issues',
  'GET /projects/:id/issues/:issue_iid',
  'GET /projects/:id/issues/:noteable_id/notes',
  'GET /projects/:id/repository/branches',
  'GET /projects/:id/repository/commits',
  'GET /projects/:id/repository/files/:file_path/raw',
]);

type Load = { url: string; line: string; body?: unknown };
type Loaded = { perSecond: number; cpu: CpuTime };

/** Requests under load that were refused: their rate says nothing. */
class Refused extends Error {}

/** Requests a second, and what the program and the database computed for each. */
async function load(pid: number, { url, line, body }: Load, seconds: number): Promise<Loaded> {
  const [method = 'GET', path = '/'] = line.split(' ');
  const before = cpuTimeOf(pid);
  const { requests, duration, errors, non2xx } = await autocannon({
    url: url + path,
    method: method as 'GET',
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body), idReplacement: true }),
    connections: CONNECTIONS,
    duration: seconds,
    sampleInt: 100,
  });
  if (errors + non2xx > 0) throw new Refused(`${line}: ${errors} errors, ${non2xx} refusals`);
  const after = cpuTimeOf(pid);
  const each = (part: keyof CpuTime) => (after[part] - before[part]) / requests.total;
  return {
    perSecond: requests.total / duration,
    cpu: { program: each('program'), database: each('database') },
  };
}

/** The program, and how many statements it takes to read how many there were. */
type Counted = Watched & { reading: number };

const statementsOf = ({ program }: Watched): Promise<number> => metric(program.url, 'bench_statements_total');

/** Statements of `work`. */
async function countStatements(counted: Counted, work: () => Promise<unknown>): Promise<number> {
  const before = await statementsOf(counted);
  await work();
  return (await statementsOf(counted)) - before - counted.reading;
}

/** The least of several: others have what the clock brings. */
async function countReading(watched: Watched): Promise<number> {
  const counts: number[] = [];
  for (let round = 0; round < 4 * ROUNDS; round++)
    counts.push(await countStatements({ ...watched, reading: 0 }, async () => {}));
  return Math.min(...counts);
}

/** Rounds of counting: the first fills caches, and of the others the least is without what the clock brings. */
const ROUNDS = 4;

/** Status and statements of a request. */
async function statementsIn(watched: Counted, send: () => Promise<number>): Promise<[number, number]> {
  const counts: number[] = [];
  let status = 0;
  for (let round = 0; round < ROUNDS; round++) {
    await settled(watched);
    counts.push(
      await countStatements(watched, async () => {
        status = await send();
      }),
    );
  }
  return [status, Math.min(...counts.slice(1))];
}

type Read = Loaded & { title: string; statements: number; budget: number; bare: number; target: number };

async function measureRead(
  watched: Counted,
  bare: string,
  { spec, title, request }: NamedRequest,
): Promise<Read> {
  const { program } = watched;
  const [status, statements] = await statementsIn(
    watched,
    async () => (await sendRaw(program.url, request.line, { headers })).status,
  );
  if (status !== 200) throw new Refused(`${request.line}: ${status}`);
  const { line } = request;
  await load(program.pid, { url: program.url, line }, SECONDS.warming);
  const loaded = await load(program.pid, { url: program.url, line }, SECONDS.subject);
  await sendRaw(bare, line);
  const other = await load(program.pid, { url: bare, line }, SECONDS.bare);
  return {
    ...loaded,
    title,
    statements,
    budget: spec.page === undefined ? budgets.record : budgets.page,
    bare: other.perSecond,
    target: mostUsed.has(title) ? SHARE_OF_MOST_USED : SHARE,
  };
}

type Write = {
  title: string;
  statements: number;
  afterwards: number;
  perSecond: number | undefined;
  cpu: CpuTime;
};

const BURST = 50;
/** Milliseconds for which the idle program is watched. */
const IDLE_MS = 3_000;

/** Statements that the idle program sends in a millisecond. */
async function idleRate(watched: Counted): Promise<number> {
  return (await countStatements(watched, () => sleep(IDLE_MS))) / IDLE_MS;
}

/** Repeats a write until it is taken: of a branch, while requests of the load that just ended still write to it. */
async function untilTaken(send: () => Promise<unknown>): Promise<void> {
  for (let left = 100; ; left--) {
    try {
      await send();
      return;
    } catch (error) {
      if (left === 0) throw error;
      await sleep(100);
    }
  }
}

async function measureWrite(
  watched: Counted,
  rate: number,
  { title, request: { line } }: NamedRequest,
  body: unknown,
): Promise<Write> {
  const { program } = watched;
  const send = () => write(program.url, line, body);
  const [, statements] = await statementsIn(watched, send);
  await settled(watched);
  const start = performance.now();
  const all = await countStatements(watched, async () => {
    for (let count = 0; count < BURST; count++) await send();
    await settled(watched);
  });
  const idle = rate * (performance.now() - start);
  const request = { url: program.url, line, body };
  // Writes of one branch at the same time are refused, as they must be.
  const loaded = await load(program.pid, request, SECONDS.subject).catch((error: unknown) => {
    if (error instanceof Refused) return undefined;
    throw error;
  });
  await untilTaken(send);
  await settled(watched);
  const cpuBefore = cpuTimeOf(program.pid);
  for (let count = 0; count < BURST; count++) await send();
  await settled(watched);
  const cpuAfter = cpuTimeOf(program.pid);
  const each = (part: keyof CpuTime) => (cpuAfter[part] - cpuBefore[part]) / BURST;
  return {
    title,
    statements,
    afterwards: Math.max(0, (all - idle) / BURST - statements),
    perSecond: loaded?.perSecond,
    cpu: { program: each('program'), database: each('database') },
  };
}

const yesOrNo = (met: boolean): string => (met ? 'yes' : '**no**');

/** It takes a quarter of an hour: each row is said as soon as it is there. */
const say = (row: string) => process.stderr.write(`${row}\n`);

const readRow = ({ title, statements, budget, cpu, perSecond, bare, target }: Read): string =>
  [
    title.replace('GET ', ''),
    `${statements} (≤ ${budget})`,
    `${cpu.program.toFixed(2)} ms`,
    `${cpu.database.toFixed(2)} ms`,
    `${perSecond.toFixed(0)}/s`,
    `${bare.toFixed(0)}/s`,
    `${((perSecond / bare) * 100).toFixed(0)} %`,
    `≥ ${target * 100} %`,
    yesOrNo(statements <= budget && perSecond / bare >= target),
  ].join(' | ');

function renderReads(reads: readonly Read[]): string {
  const rows = reads
    .toSorted((one, other) => one.perSecond / one.bare - other.perSecond / other.bare)
    .map(readRow);
  return [
    '| GET | statements | program | database | Ashlar | bare route | ratio | target | met |',
    '|---|--:|--:|--:|--:|--:|--:|--:|---|',
    ...rows.map((row) => `| ${row} |`),
  ].join('\n');
}

const writeRow = ({ title, statements, afterwards, cpu, perSecond }: Write): string =>
  [
    title,
    `${statements} (≤ ${budgets.write})`,
    `${afterwards.toFixed(1)} (≤ ${budgets.afterwards})`,
    `${cpu.program.toFixed(2)} ms`,
    `${cpu.database.toFixed(2)} ms`,
    perSecond === undefined ? '' : `${perSecond.toFixed(0)}/s`,
    yesOrNo(statements <= budgets.write && afterwards <= budgets.afterwards),
  ].join(' | ');

function renderWrites(made: readonly Write[]): string {
  const costOf = ({ cpu }: Write): number => cpu.program + cpu.database;
  const rows = made.toSorted((one, other) => costOf(other) - costOf(one)).map(writeRow);
  return [
    '| write | statements | afterwards | program | database | Ashlar | met |',
    '|---|--:|--:|--:|--:|--:|---|',
    ...rows.map((row) => `| ${row} |`),
  ].join('\n');
}

/** Milliseconds for one row. A load, or work left behind, that never ends is no reason to go without the others. */
const ROW_TIMEOUT_MS = 60_000;

/**
 * `BENCH_INVENTORY=issues` measures the requests with this in their names. `keep` gets the tables after each row: a run that
 * is broken off leaves what it has.
 */
export async function measureInventory(keep: (tables: string) => void): Promise<string> {
  const word = process.env.BENCH_INVENTORY ?? '';
  const opened = await openWatched();
  try {
    const { program } = opened;
    let isRunning = true;
    void program.ended.then(() => {
      isRunning = false;
    });
    const all = await fillInstance(opened);
    const watched = { ...opened, reading: await countReading(opened) };
    const chosen = all.filter(({ spec, title }) => title === titleOf(spec) && title.includes(word));
    const reads: Read[] = [];
    const made: Write[] = [];
    const leftOut: string[] = [];
    const tables = () => renderTables(reads, made, leftOut);

    /** One row, or the reason why there is none. */
    async function row<T>(title: string, measured: Promise<T>, add: (row: T) => string): Promise<void> {
      const late = sleep(ROW_TIMEOUT_MS, undefined, { ref: false }).then(() => {
        throw new Error(`not measured in ${ROW_TIMEOUT_MS / 1_000} s`);
      });
      try {
        say(add(await Promise.race([measured, late])));
      } catch (error) {
        if (!isRunning) throw new Error(`the program ended: ${program.output()}`, { cause: error });
        leftOut.push(title);
        say(`left out: ${title}: ${error instanceof Error ? error.message : error}`);
      }
      keep(tables());
    }

    const bare = await startScript('bare-route.ts', [program.data, program.url, ROOT_TOKEN]);
    for (const named of chosen.filter(({ spec }) => spec.method === 'GET'))
      await row(named.title, measureRead(watched, bare.line, named), (read) => {
        reads.push(read);
        return readRow(read);
      });
    await bare.stop();
    const rate = await idleRate(watched);
    for (const [title, body] of commonWrites) {
      const named = chosen.find((each) => each.title === title);
      if (!named) continue;
      await row(title, measureWrite(watched, rate, named, body), (write) => {
        made.push(write);
        return writeRow(write);
      });
    }
    return tables();
  } finally {
    await opened.close();
  }
}

const renderTables = (reads: readonly Read[], made: readonly Write[], leftOut: readonly string[]): string =>
  [
    `Requests by ${CONNECTIONS} connections, on full pages of what is written most; CPU time is that of one request. What is refused once or under load is left out: ${leftOut.join(', ') || 'none'}. The bare route finds one row by its key and sends the same bytes.`,
    '',
    renderReads(reads),
    '',
    `Of writes, statements afterwards and CPU time are a ${BURST}th of those of ${BURST} in a row, with their jobs.`,
    '',
    renderWrites(made),
  ].join('\n');
