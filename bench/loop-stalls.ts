/**
 * The longest that one request occupies the event loop: every operation of the inventory is requested, one at
 * a time, with each of its parameters as hostile as its bounds let it be; endpoints that show the longest
 * texts and the most hostile repositories are requested for those. Each long one is repeated twice: the least
 * of three is the request's own.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TSchema } from 'typebox';
import { type App, createApp } from '../src/app.ts';
import type { Endpoint } from '../src/kernel/api/endpoint.ts';
import { readConfig } from '../src/kernel/config.ts';
import { connect } from '../src/platform/db/database.ts';
import { createLog } from '../src/platform/log.ts';
import { liftLimits } from '../test/journeys/schemathesis-world.ts';
import { callAs, makeFolder, type Program, startProgram } from '../test/journeys/support.ts';
import { makeAccessWorld } from '../test/support/access-world.ts';
import { ROOT_TOKEN, siteAt, type TestApp } from '../test/support/app.ts';
import { type GoodRequest, makeRequests, type NamedRequest } from '../test/support/good-requests.ts';
import { addressOf, titleOf } from '../test/support/inventory.ts';
import { sendRaw } from '../test/support/raw-http.ts';
import { type Undo, watchChanges } from '../test/support/undo.ts';
import { makeWorld, queryInWorld } from '../test/support/world.ts';
import { databaseOf } from './database.ts';
import { settled } from './filled-instance.ts';
import { hostileReads } from './hostile-repositories.ts';
import { hostileBodies, hostileValues } from './hostile-values.ts';
import { metric } from './processes.ts';
import { atMost, type Figure, merely } from './table.ts';

const MEBIBYTE = 1_048_576;
const TARGET_MS = 100;
/** A longer stall is measured again. */
const NOTED_MS = 50;
const TRIES = 3;
const ROWS = 15;
/** Bytes of a body beside the hostile value, and of a request line beside its parameters. */
const AROUND = 2_000;
const MAX_URL = 8_000;
/**
 * Records of a list whose texts are as long as they may be: more would exceed one caller's share of the
 * memory.
 */
const PAGE = 14;

type Stall = { what: string; ms: number; status: number };

/** The running program, and the ways to its database and repositories. */
export type Watched = { program: Program; app: App; site: TestApp; close(): Promise<void> };

const watchedProgram = [join(import.meta.dirname, 'serve-watched.ts')];

/**
 * Starts the program, unless told otherwise with a figure of its stalls; `app` is a second one on the same data, which serves
 * nothing.
 */
export async function openWatched(command = watchedProgram): Promise<Watched> {
  const data = join(makeFolder(), 'data');
  const storages = `default:${join(data, 'repositories')},fast:${join(data, 'fast')}`;
  const program = await startProgram({
    data,
    env: { ASHLAR_ROOT_TOKEN: ROOT_TOKEN, ASHLAR_STORAGES: storages },
    command,
  });
  const app = createApp({
    config: readConfig({ ASHLAR_DATA: data, ASHLAR_STORAGES: storages }),
    target: databaseOf(data),
    secretKey: readFileSync(join(data, 'secret-key'), 'utf8').trim(),
    log: createLog(() => {}),
  });
  const site: TestApp = { ...siteAt(program.url, ROOT_TOKEN), app, log: [] };
  return {
    program,
    app,
    site,
    async close() {
      await app.stop();
      await program.stop();
    },
  };
}

const longestStall = async ({ program }: Watched): Promise<number> =>
  (await metric(program.url, 'bench_longest_turn_seconds')) * 1_000;

export type WalkedRequest = { what: string; request: GoodRequest; writes: boolean };

/** The least of the tries' longest stalls. */
async function stallOf(watched: Watched, undo: Undo | undefined, request: WalkedRequest): Promise<Stall> {
  let [ms, status] = [Number.POSITIVE_INFINITY, 0];
  for (let round = 0; round < TRIES && ms > NOTED_MS; round++) {
    if (round > 0) await longestStall(watched);
    const { line, headers, body } = request.request;
    const response = await sendRaw(watched.program.url, line, {
      headers: { 'private-token': ROOT_TOKEN, ...headers },
      ...(body !== undefined && { body }),
    }).catch((error: Error) => ({ status: 0, text: error.message }));
    status = response.status;
    if (request.writes && status < 400) await settled(watched);
    ms = Math.min(ms, await longestStall(watched));
    if (request.writes && status < 400) {
      await undo?.undo();
      await longestStall(watched);
    }
  }
  return { what: request.what, ms, status };
}

const asJson = (line: string, value: unknown): GoodRequest => ({
  line,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});

type Properties = Record<string, TSchema & { type?: string | readonly string[] }>;

/** The requests to an endpoint, each with one of its parameters hostile. The query is sent as a body, which takes more. */
function* hostileRequests({ spec, title, request }: NamedRequest): Generator<WalkedRequest> {
  const writes = spec.method !== 'GET';
  const ask = (what: string, hostile: GoodRequest): WalkedRequest => ({
    what: `${title}: ${what}`,
    request: hostile,
    writes,
  });
  const { line, headers, body } = request;
  yield ask('as it is', request);
  if (headers['content-type']?.startsWith('multipart/')) {
    yield* hostileFiles(spec, request, ask);
    return;
  }
  const bytes = (spec.bodyLimit ?? MEBIBYTE) - AROUND;
  const base: object = typeof body === 'string' ? JSON.parse(body) : {};
  for (const [name, schema] of Object.entries(spec.input.properties as Properties)) {
    if (spec.path.includes(`:${name}`)) continue;
    for (const [kind, value] of hostileValues(schema, bytes))
      yield ask(`${name} of ${kind}`, asJson(line, { ...base, [name]: value }));
  }
  const names = Object.keys(spec.input.properties).filter((name) => !spec.path.includes(`:${name}`));
  const texts = names.map((name): [string, string] => [name, '9'.repeat(MEBIBYTE / (names.length + 1) - 99)]);
  if (names.length > 0) yield ask('a text for each parameter', asJson(line, Object.fromEntries(texts)));
  for (const [kind, value] of hostileBodies(MEBIBYTE - AROUND))
    yield ask(`unknown parameters of ${kind}`, asJson(line, { ...base, ...(value as object) }));
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  yield ask('a form of many names', { line, headers: form, body: '&a[b][]=1'.repeat(990) });
  yield ask('a form of a long name', { line, headers: form, body: `${'a[b]'.repeat(MEBIBYTE / 4 - 9)}=1` });
  const query = `${line}${line.includes('?') ? '&' : '?'}${'a[]=1&'.repeat((MAX_URL - line.length) / 6)}`;
  yield ask('a long query', { ...request, line: query });
}

function* hostileFiles(
  spec: Endpoint,
  { line, headers, body }: GoodRequest,
  ask: (what: string, hostile: GoodRequest) => WalkedRequest,
): Generator<WalkedRequest> {
  const [head = '', tail = ''] = String(body).split(/(?<=\r\n\r\n)/);
  const bytes = (spec.bodyLimit ?? MEBIBYTE) - AROUND;
  for (const text of ['\0', 'a\n', '<svg>', 'GIF89a'])
    yield ask(`a file of ${JSON.stringify(text)}`, {
      line,
      headers,
      body: head + text.repeat(bytes / text.length) + tail,
    });
  const long = head.replace('stone', 'x'.repeat(10_000));
  yield ask('a file with a long name', { line, headers, body: long + tail });
  const part = `${head.split('\r\n')[0]}\r\ncontent-disposition: form-data; name="a[b][]"\r\n\r\n1\r\n`;
  yield ask('many parts', { line, headers, body: part.repeat(bytes / part.length) + head + tail });
}

/** Requests that change the instance, or remove records that others need, come last. */
const rank = ({ spec }: NamedRequest): number => {
  if (spec.method === 'GET') return 0;
  if (spec.method === 'DELETE') return 2;
  return /application|features|storage_moves|rotate/.test(spec.path) ? 3 : 1;
};

async function walkInventory(watched: Watched, only: RegExp): Promise<Stall[]> {
  const { app, site } = watched;
  const { places } = await makeAccessWorld(site);
  const { sql } = app.services.database;
  // Root owns all records, and must be an administrator again.
  await sql`update users set admin = true where username = 'root'`;
  await settled(watched);
  const requests = await makeRequests(site, places, app.endpoints);
  // A second process would have every change of settings wait for it.
  await app.services.presence.stop();
  const undo = await watchChanges(site);
  const stalls: Stall[] = [];
  const requested = requests.filter(({ spec, title }) => title === `${spec.method} ${spec.path}`);
  for (const named of requested.toSorted((one, other) => rank(one) - rank(other))) {
    if (!only.test(named.title)) continue;
    for (const each of hostileRequests(named)) {
      const stall = await stallOf(watched, undo, each);
      stalls.push(stall);
      note(stall);
    }
  }
  return stalls;
}

function note({ what, ms, status }: Stall): void {
  if (ms > NOTED_MS || status >= 500) process.stderr.write(`${ms.toFixed(0)} ms, ${status}: ${what}\n`);
}

/** The longest texts that are taken, by table and column. */
const longest: readonly [table: string, column: string, length: number][] = [
  ['issues', 'description', MEBIBYTE],
  ['epics', 'description', MEBIBYTE],
  ['notes', 'body', 1_000_000],
  ['milestones', 'description', MEBIBYTE],
  ['snippets', 'description', MEBIBYTE],
  ['labels', 'description', 524_288],
  ['projects', 'description', 2_000],
  ['namespaces', 'description', 500],
  ['topics', 'description', 1_024],
  ['project_feature_flags', 'description', 10_000],
  ['custom_attributes', 'value', 10_000],
  ['incident_timeline_events', 'note', 10_000],
  ['alerts', 'description', 1_000],
  ['gpg_keys', 'key', 500_000],
];

/** Reads of each list and record of a world whose texts are all as long as they may be. */
async function* pageReads({ app, site, program }: Watched): AsyncGenerator<WalkedRequest> {
  const places = await makeWorld(site, PAGE);
  const sql = connect(databaseOf(program.data), { max: 1, statementTimeout: 0, name: 'bench' });
  const reads = app.endpoints.filter(({ method, path }) => method === 'GET' && !/archive|keys$/.test(path));
  for (const [kind, text] of [
    ['short lines', 'a\n'],
    ['quotes', '"'],
    ['mentions', '@person-1 '],
    ['task items', '- [ ] a\n'],
  ] as const) {
    for (const [table, column, length] of longest)
      await sql`update ${sql(table)} set ${sql(column)} = left(repeat(${text}, ${length}), ${length})`;
    await sql`update projects set settings = settings || jsonb_build_object('issues_template', repeat(${text}, 100000))`;
    await sql`update alerts set payload = jsonb_build_object('title', repeat(${text}, 200000))`;
    for (const spec of reads) {
      const line = `GET /api/v4${addressOf(spec.path, places)}?${queryInWorld(titleOf(spec))}per_page=100`;
      const properties = Object.entries(spec.input.properties as Properties);
      const requested = properties.filter(([, { type }]) => [type].flat().includes('boolean'));
      const flags = requested.map(([name]) => `&${name}=true`).join('');
      for (const query of new Set(['', flags]))
        yield {
          what: `${titleOf(spec)}${query.replace('&', '?')} of texts of ${kind}`,
          request: { line: line + query, headers: {} },
          writes: false,
        };
    }
  }
}

async function walkReads(
  watched: Watched,
  reads: AsyncGenerator<WalkedRequest>,
  only: RegExp,
): Promise<Stall[]> {
  const stalls: Stall[] = [];
  for await (const request of reads) {
    if (!only.test(request.what)) continue;
    const stall = await stallOf(watched, undefined, request);
    stalls.push(stall);
    note(stall);
  }
  return stalls;
}

async function inOwnProgram(work: (watched: Watched) => Promise<Stall[]>): Promise<Stall[]> {
  const watched = await openWatched();
  try {
    await liftLimits({
      root: (request, body) => callAs(watched.program.url, ROOT_TOKEN, request, body),
    });
    return await work(watched);
  } catch (error) {
    const lines = watched.program.output().split('\n');
    const faults = lines.filter((line) => /"level":"error"|^Ashlar stops/.test(line));
    throw new Error(`the walk ended early; the program's faults: ${faults.join('\n').slice(0, 4_000)}`, {
      cause: error,
    });
  } finally {
    await watched.close();
  }
}

const quietReads: readonly WalkedRequest[] = Array.from({ length: 500 }, () => ({
  what: 'GET /user of a quiet program',
  request: { line: 'GET /api/v4/user', headers: {} },
  writes: false,
}));

/** The walks, by name; only one when its name is given. */
const walks: Record<string, (watched: Watched, only: RegExp) => Promise<Stall[]>> = {
  quiet: (watched, only) =>
    walkReads(
      watched,
      (async function* () {
        yield* quietReads;
      })(),
      only,
    ),
  bodies: walkInventory,
  pages: (watched, only) => walkReads(watched, pageReads(watched), only),
  repositories: (watched, only) => walkReads(watched, hostileReads(watched, ROOT_TOKEN), only),
};

/** `BENCH_LOOP=pages:issues` selects the requests of one walk with a word in their names. */
export async function measureLoop(): Promise<Figure[]> {
  const [walk, word = ''] = (process.env.BENCH_LOOP ?? '').split(':');
  const only = new RegExp(word);
  const chosen = Object.entries(walks).filter(([name]) => !walk || name === walk);
  const stalls: Record<string, Stall[]> = {};
  for (const [name, run] of chosen) stalls[name] = await inOwnProgram((watched) => run(watched, only));
  const { quiet = [], ...others } = stalls;
  const worst = Object.values(others)
    .flat()
    .toSorted((one, other) => other.ms - one.ms);
  return [
    merely('requests asked, one after the other', worst.length, ''),
    merely(
      'longest stall of the event loop, GET /user 500 times',
      Math.max(0, ...quiet.map(({ ms }) => ms)),
      'ms',
    ),
    ...worst
      .slice(0, ROWS)
      .map(({ what, ms, status }) =>
        atMost(`${what.replaceAll('|', '\\|')} (${status})`, ms, TARGET_MS, 'ms'),
      ),
  ];
}
