/** kill -9 in a storm of events: each that was acknowledged reaches each hook, under one key, in order; none is invented. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanUp, killNow, makeFolder, type Program, postmaster, startProgram } from './support.ts';

const EVENTS = 10_000;
const KILLS = 6;
const CLIENTS = 16;
const HOOKS = ['/one', '/two'];

type Arrived = { iid: number; title: string; key: string };

/** Per hook, in the order of arrival. */
const arrived = new Map<string, Arrived[]>(HOOKS.map((path) => [path, []]));
const receiver = createServer(async (request, reply) => {
  const { iid, title } = JSON.parse(await text(request)).object_attributes;
  const key = String(request.headers['idempotency-key']);
  arrived.get(request.url ?? '')?.push({ iid, title, key });
  reply.end();
});
let address = '';

beforeAll(async () => {
  await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening));
  address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});
afterAll(() => cleanUp(() => receiver.close()));

const victims = [
  (program: Program) => [program.pid],
  (program: Program) => [postmaster(program.data)],
  (program: Program) => [postmaster(program.data), program.pid],
];

/** Clients open issues until so many are acknowledged in all; then the strike comes down while others are under way. */
async function openUntil(
  program: Program,
  project: number,
  { sent, acknowledged }: { sent: Set<string>; acknowledged: Set<string> },
  enough: number,
  strike: () => void,
): Promise<void> {
  let isStruck = false;
  const client = async (): Promise<void> => {
    while (!isStruck) {
      const title = `Issue ${sent.size}`;
      sent.add(title);
      const response = await program
        .root(`POST /projects/${project}/issues`, { title })
        .catch(() => undefined);
      const isTaken = response?.status === 201 && (await response.json().catch(() => undefined));
      if (isTaken) acknowledged.add(title);
      if (!isStruck && (!response || acknowledged.size >= enough)) {
        isStruck = true;
        strike();
      }
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

test('after kill -9 each hook has been told of all', async () => {
  const data = join(makeFolder(), 'data');
  let program = await startProgram({ data });
  const ask = async (request: string, body: object): Promise<number> => {
    const response = await program.root(request, body);
    expect([request, response.ok]).toEqual([request, true]);
    return ((await response.json()) as { id: number }).id;
  };
  await ask('PUT /application/settings', {
    issues_create_limit: 0,
    throttle_authenticated_api_enabled: false,
    outbound_local_requests_allowlist: ['127.0.0.1'],
  });
  const project = await ask('POST /projects', { name: 'Storm' });
  for (const path of HOOKS)
    await ask(`POST /projects/${project}/hooks`, {
      url: address + path,
      push_events: false,
      issues_events: true,
    });
  const storm = { sent: new Set<string>(), acknowledged: new Set<string>() };
  for (let kill = 1; kill <= KILLS; kill++) {
    await openUntil(program, project, storm, (EVENTS * kill) / KILLS, () => {
      for (const pid of victims[kill % victims.length]?.(program) ?? []) killNow(pid);
    });
    program.kill('SIGKILL');
    await program.ended;
    program = await startProgram({ data });
  }
  expect(storm.acknowledged.size).toBeGreaterThanOrEqual(EVENTS);
  const missing = (told: readonly Arrived[]): number => {
    const titles = new Set(told.map(({ title }) => title));
    return [...storm.acknowledged].filter((title) => !titles.has(title)).length;
  };
  for (const told of arrived.values()) await expect.poll(() => missing(told), { timeout: 500_000 }).toBe(0);
  // What is sent again comes with them, not after.
  await sleep(1_000);
  for (const told of arrived.values()) {
    expect(told.filter(({ title }) => !storm.sent.has(title))).toEqual([]);
    const keys = Map.groupBy(told, ({ title }) => title);
    expect([...keys.values()].filter((each) => new Set(each.map(({ key }) => key)).size > 1)).toEqual([]);
    expect(new Set(told.map(({ key }) => key)).size).toBe(keys.size);
    const iids = [...new Set(told.map(({ iid }) => iid))];
    expect(iids).toEqual(iids.toSorted((one, other) => one - other));
  }
  await program.stop();
});
