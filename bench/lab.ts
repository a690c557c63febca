/** How soon a test has an instance, and has it anew: the library `ashlar/lab`, as a test uses it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ashlar } from '../src/lab/lab.cjs';
import { startAshlar } from '../src/lab/library.ts';
import { median } from './measure.ts';
import { memoryOf, ownMemory } from './processes.ts';
import { atMost, type Figure, merely } from './table.ts';

const TARGETS = { cold: 1.5, warm: 0.3, reset: 0.2, memory: 800 };
const PROJECTS = 1_000;
const TURNS = 20;
const AT_ONCE = 8;
/** As long as a short test: the next clone is made meanwhile. */
const TEST_MS = 1_000;

async function timed<T>(work: () => Promise<T>): Promise<{ seconds: number; result: T }> {
  const begin = performance.now();
  const result = await work();
  return { seconds: (performance.now() - begin) / 1_000, result };
}

async function makeProjects(lab: Ashlar): Promise<void> {
  const headers = { 'private-token': lab.token, 'content-type': 'application/json' };
  const limits = await fetch(`${lab.url}/api/v4/application/settings`, {
    method: 'PUT',
    headers,
    body: JSON.stringify({ projects_api_limit: 0 }),
  });
  if (!limits.ok) throw new Error(`settings: ${limits.status}`);
  const names = Array.from({ length: PROJECTS }, (_, index) => `project-${index}`).values();
  const make = async (): Promise<void> => {
    for (const name of names) {
      const body = JSON.stringify({ name, initialize_with_readme: true });
      const { status } = await fetch(`${lab.url}/api/v4/projects`, { method: 'POST', headers, body });
      if (status !== 201) throw new Error(`${name}: ${status}`);
    }
  };
  await Promise.all(Array.from({ length: 4 }, make));
}

async function timeRestores(lab: Ashlar, pause: number): Promise<number> {
  const all: number[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    await sleep(pause);
    all.push((await timed(() => lab.restore('many'))).seconds);
  }
  return median(all);
}

export async function measureLab(): Promise<Figure[]> {
  const colds: number[] = [];
  for (let turn = 0; turn < 3; turn++) {
    const { seconds, result } = await timed(() => startAshlar());
    colds.push(seconds);
    await result.stop();
    // The lab ends when it has had no instance for five seconds.
    await sleep(8_000);
  }
  const first = await startAshlar();
  const warms: number[] = [];
  const others: Ashlar[] = [];
  for (let count = 1; count < AT_ONCE; count++) {
    await sleep(TEST_MS);
    const { seconds, result } = await timed(() => startAshlar());
    warms.push(seconds);
    others.push(result);
  }
  await sleep(TEST_MS * 3);
  const memory = memoryOf(process.pid) - ownMemory(process.pid);
  await Promise.all(others.map((each) => each.stop()));
  await makeProjects(first);
  await first.snapshot('many');
  const figures = [
    atMost('startAshlar(), the first of a process', median(colds), TARGETS.cold, 's', 2),
    atMost('startAshlar(), another one', median(warms), TARGETS.warm, 's', 2),
    atMost(
      `back to ${PROJECTS} projects with repositories, tests of a second between, median of ${TURNS}`,
      await timeRestores(first, TEST_MS),
      TARGETS.reset,
      's',
      2,
    ),
    merely('the same, one right after the other', (await timeRestores(first, 0)) * 1_000, 'ms'),
    atMost(
      `memory (PSS) of ${AT_ONCE} instances, the next one that waits, and the database`,
      memory,
      TARGETS.memory,
      'MB',
    ),
  ];
  await first.stop();
  return figures;
}
