/** The memory of program and database right after ten minutes of mixed load at full speed, and a minute later. */
import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import { launcher } from '../test/journeys/support.ts';
import type { NamedRequest } from '../test/support/good-requests.ts';
import { titleOf } from '../test/support/inventory.ts';
import { sendRaw } from '../test/support/raw-http.ts';
import { commonWrites, fillInstance, headers } from './filled-instance.ts';
import { openWatched, type Watched } from './loop-stalls.ts';
import { databaseMemoryOf, memoryOf } from './processes.ts';
import { atMost, type Figure, merely } from './table.ts';

const CONNECTIONS = 16;
const MINUTES = 10;
const REST_MS = 60_000;
/** A write follows so many reads. */
const READS = 4;
const TARGETS = { loaded: 250, rested: 150 };

type Mixed = { method: 'GET' | 'POST' | 'PUT'; path: string; headers: Record<string, string>; body?: string };

/** Every GET that answers, and a common write after every few of them. */
async function mixedRequests({ program }: Watched, all: readonly NamedRequest[]): Promise<Mixed[]> {
  const reads: Mixed[] = [];
  for (const { spec, title, request } of all) {
    if (spec.method !== 'GET' || title !== titleOf(spec)) continue;
    const { status } = await sendRaw(program.url, request.line, { headers });
    if (status === 200) reads.push({ method: 'GET', path: request.line.slice('GET '.length), headers });
  }
  const writes = commonWrites.map(([title, body]): Mixed => {
    const [method = '', path = ''] = all.find((each) => each.title === title)?.request.line.split(' ') ?? [];
    return {
      method: method as Mixed['method'],
      path,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    };
  });
  return reads.flatMap((read, place) => {
    const write = place % READS === 0 ? writes[(place / READS) % writes.length] : undefined;
    return write ? [read, write] : [read];
  });
}

/** `BENCH_MEMORY=2` loads for two minutes in the place of ten. */
export async function measureMemory(): Promise<Figure[]> {
  const minutes = Number(process.env.BENCH_MEMORY || MINUTES);
  const opened = await openWatched([launcher, 'serve']);
  try {
    const { program } = opened;
    const requests = await mixedRequests(opened, await fillInstance(opened));
    let clients = 0;
    const { requests: sent } = await autocannon({
      url: program.url,
      connections: CONNECTIONS,
      duration: minutes * 60,
      idReplacement: true,
      requests,
      // Each starts at another place: in step, all would ask the same.
      setupClient(client) {
        const start = Math.floor((clients++ * requests.length) / CONNECTIONS);
        client.setRequests([...requests.slice(start), ...requests.slice(0, start)]);
      },
    });
    const loaded = memoryOf(program.pid);
    const loadedDatabase = databaseMemoryOf(program.pid);
    await sleep(REST_MS);
    const rested = memoryOf(program.pid);
    const restedDatabase = databaseMemoryOf(program.pid);
    return [
      merely(
        'requests in each second of the load, each GET and the common writes by turns',
        sent.average,
        '',
      ),
      atMost(
        `memory (PSS) of program and database right after ${minutes} minutes of load`,
        loaded,
        TARGETS.loaded,
        'MB',
      ),
      merely('of it the database', loadedDatabase, 'MB'),
      atMost('the same a minute later', rested, TARGETS.rested, 'MB'),
      merely('of it the database', restedDatabase, 'MB'),
    ];
  } finally {
    await opened.close();
  }
}
