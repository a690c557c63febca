/**
 * Applications report errors while the program, its database or both are killed: each report that got 200 is
 * stored, once.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import {
  cleanUp,
  killNow,
  makeFolder,
  type Program,
  postmaster,
  ROOT_TOKEN,
  startProgram,
} from './support.ts';

afterAll(() => cleanUp());

const victims: Record<string, (program: Program) => number[]> = {
  'the program': (program) => [program.pid],
  'the database': (program) => [postmaster(program.data)],
  both: (program) => [postmaster(program.data), program.pid],
};
const ROUNDS_EACH = 3;
const CLIENTS = 8;
/** The errors of a round: an error keeps only its newest events, and each gets fewer reports than that. */
const KINDS = 4;

type Tracked = { id: number; key: string };

async function bodyOf<T>(response: Response, status: number): Promise<T> {
  expect(response.status).toBe(status);
  // The caller knows the type of the response.
  return (await response.json()) as T;
}

async function track(program: Program): Promise<Tracked> {
  const { id } = await bodyOf<{ id: number }>(
    await program.root('POST /projects', { name: 'app', path: 'app' }),
    201,
  );
  const path = `/projects/${id}/error_tracking`;
  await bodyOf(await program.root(`PUT ${path}/settings`, { active: true, integrated: true }), 200);
  const { public_key } = await bodyOf<{ public_key: string }>(
    await program.root(`POST ${path}/client_keys`),
    201,
  );
  return { id, key: public_key };
}

const reportOf = (id: string, kind: string): Buffer => {
  const value = 'x'.repeat(2_000);
  const event = JSON.stringify({ event_id: id, exception: { values: [{ type: kind, value }] } });
  return gzipSync(`${JSON.stringify({ event_id: id })}\n{"type":"event"}\n${event}\n`);
};

/** Applications report at once until `enough` is acknowledged; then `strike` comes down while others are under way. */
async function reportUntilStruck(
  { url }: Program,
  { id, key }: Tracked,
  round: string,
  enough: number,
  strike: () => void,
): Promise<string[]> {
  const acknowledged: string[] = [];
  let struck = false;
  const report = async (number: number): Promise<void> => {
    for (let sent = 0; !struck; sent++) {
      const event = randomUUID().replaceAll('-', '');
      const response = await fetch(`${url}/api/v4/error_tracking/collector/api/${id}/envelope/`, {
        method: 'POST',
        headers: { 'x-sentry-auth': `Sentry sentry_version=7, sentry_key=${key}` },
        body: Uint8Array.from(reportOf(event, `Round${round}Kind${(number + sent) % KINDS}`)),
      }).catch(() => undefined);
      if (response?.status === 200) acknowledged.push(event);
      await response?.text().catch(() => undefined);
      if (response && acknowledged.length < enough) continue;
      if (!struck) strike();
      struck = true;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => report(number)));
  return acknowledged;
}

type Listed = { id: number; events_count: number; event_id: string };

/** Every record of a list, of errors or of events, read by keyset to its end. */
async function readAll(program: Program, path: string): Promise<Listed[]> {
  const all: Listed[] = [];
  let link: string | undefined = `${program.url}/api/v4${path}?pagination=keyset&per_page=100`;
  for (let page = 0; link !== undefined && page < 1_000; page++) {
    const response: Response = await fetch(link, { headers: { 'private-token': ROOT_TOKEN } });
    all.push(...(await bodyOf<Listed[]>(response, 200)));
    link = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
  }
  return all;
}

/** The number of reports that are not digested yet. */
async function waiting({ url }: Program): Promise<number> {
  const metrics = await (await fetch(`${url}/-/metrics`)).text();
  return Number(/^error_spool_rows (\d+)$/m.exec(metrics)?.[1] ?? Number.NaN);
}

/** Each acknowledged report is there once it is digested, and every error counts its events. */
async function check(program: Program, { id }: Tracked, acknowledged: readonly string[]): Promise<void> {
  await expect.poll(() => waiting(program), { timeout: 30_000 }).toBe(0);
  const path = `/projects/${id}/error_tracking/errors`;
  const kept: string[] = [];
  for (const error of await readAll(program, path)) {
    const events = await readAll(program, `${path}/${error.id}/events`);
    expect(events).toHaveLength(error.events_count);
    kept.push(...events.map(({ event_id }) => event_id));
  }
  const present = new Set(kept);
  expect(present.size).toBe(kept.length);
  expect(acknowledged.filter((event) => !present.has(event))).toEqual([]);
}

test('after kill -9 every report that was acknowledged is there, once', async () => {
  const data = join(makeFolder(), 'data');
  const acknowledged: string[] = [];
  let tracked: Tracked | undefined;
  for (let round = 0; round < ROUNDS_EACH; round++) {
    for (const [victim, pick] of Object.entries(victims)) {
      const program = await startProgram({ data });
      tracked ??= await track(program);
      const name = `${round}${victim.length}`;
      const reported = await reportUntilStruck(program, tracked, name, 40 + 100 * round, () => {
        for (const pid of pick(program)) killNow(pid);
      });
      acknowledged.push(...reported);
      if (victim === 'the database') expect(await program.ended).toEqual({ code: 1, signal: null });
      else program.kill('SIGKILL');
      await program.ended;
    }
    const program = await startProgram({ data });
    if (tracked) await check(program, tracked, acknowledged);
    expect(await program.stop()).toEqual({ code: 0, signal: null });
  }
  expect(acknowledged.length).toBeGreaterThan(ROUNDS_EACH * 3 * 40);
});
