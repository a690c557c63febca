/** A program that reports its errors by @sentry/node, with nothing of ours but the DSN in it. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeReportedTo } from './error-reports.ts';
import { cleanUp, type Program, startProgram } from './support.ts';

const walls = join(import.meta.dirname, 'sentry-walls.ts');
const lines = readFileSync(walls, 'utf8').split('\n');
const lineOf = (part: string): number => lines.findIndex((line) => line.includes(part)) + 1;

let program: Program;
beforeAll(async () => {
  program = await startProgram();
});
afterAll(() => cleanUp());

/** Runs it to its end: its exit, and the statuses of its reports, null for those that it did not send. */
function runWalls(
  dsn: string,
  ...args: string[]
): Promise<{ code: number; statuses: (number | null)[]; said: string }> {
  const env = { PATH: process.env.PATH, SENTRY_DSN: dsn };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [walls, ...args], { env }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, statuses: JSON.parse(stdout || '[]'), said: stderr }),
    );
  });
}

test('what it throws arrives whole, grouped by where it was thrown', async () => {
  const project = await makeReportedTo(program, 'walls');
  const run = await runWalls(project.dsn);
  expect([run.code, run.statuses]).toEqual([1, [200, 200, 200, 200, 200]]);
  expect(run.said).toContain('no stone left for course 1');
  const errors = await project.errors(6);
  const counts = errors.map(({ name, events_count }) => [name, events_count]);
  // The last one was thrown elsewhere: out of the program itself.
  expect(counts).toEqual(
    expect.arrayContaining([
      ['RangeError', 3],
      ['TypeError', 1],
      ['RangeError', 1],
    ]),
  );
  expect(errors).toHaveLength(4);

  const thrice = await project.error(errors.find(({ events_count }) => events_count === 3)?.id ?? 0);
  const event = thrice.latest_event;
  expect(thrice).toMatchObject({
    platform: 'node',
    level: 'error',
    status: 'unresolved',
    users_count: 1,
    first_release: 'walls@1.2.0',
    counts: [{ events: 3 }],
  });
  expect(event).toMatchObject({
    environment: 'quarry',
    release: 'walls@1.2.0',
    user: { id: '7', username: 'ada' },
    exceptions: [{ type: 'RangeError', value: expect.stringMatching(/^no stone left for course [123]$/) }],
    sdk: { name: 'sentry.javascript.node' },
  });
  expect(event.tags).toContainEqual({ key: 'weather', value: 'rain' });
  expect(thrice.tags).toContainEqual({ key: 'weather', values: [{ value: 'rain', events: 3 }] });
  expect(event.breadcrumbs).toContainEqual(expect.objectContaining({ message: 'the cart is empty' }));
  expect(event.extra.stones).toBe(0);
  expect(JSON.stringify(thrice)).not.toContain('hunter2');

  type Frame = { function: string; lineno: number; in_app: boolean; filename: string; context_line: string };
  const frames: Frame[] = event.exceptions[0].frames.slice(-3);
  const called = [
    ['report', 'layCourses(stones, 5)'],
    ['layCourses', 'takeStone(stones, course)'],
    ['takeStone', 'throw new RangeError'],
  ];
  expect(frames.map((frame) => [frame.function, frame.lineno])).toEqual(
    called.map(([name, part = '']) => [name, lineOf(part)]),
  );
  for (const [at, frame] of frames.entries()) {
    expect(frame.context_line).toBe(lines[frame.lineno - 1]);
    expect([at, frame.in_app, frame.filename.endsWith('sentry-walls.ts')]).toEqual([at, true, true]);
  }

  const chained = await project.error(errors.find(({ name }) => name === 'TypeError')?.id ?? 0);
  expect(chained.latest_event.exceptions.map(({ type }: { type: string }) => type)).toEqual([
    'RangeError',
    'TypeError',
  ]);
  const uncaught = errors.find(({ name, events_count }) => name === 'RangeError' && events_count === 1);
  const { latest_event: last } = await project.error(uncaught?.id ?? 0);
  expect(last).toMatchObject({ level: 'fatal', exceptions: [{ handled: false }] });
});

test('once there are too many, it is told to wait, and does', async () => {
  const limited = { error_tracking_events_per_minute: 3 };
  expect((await program.root('PUT /application/settings', limited)).status).toBe(200);
  const project = await makeReportedTo(program, 'cracks');
  const { statuses } = await runWalls(project.dsn, 'crack', '20');
  const of = (wanted: number | null) => statuses.filter((status) => status === wanted).length;
  expect(statuses).toHaveLength(20);
  // Had the minute just ended, three more would have been taken.
  expect(of(200)).toBeGreaterThanOrEqual(3);
  expect(of(200)).toBeLessThanOrEqual(6);
  expect([1, 2]).toContain(of(429));
  // Reports after the refusal never left the program.
  expect(of(null)).toBe(20 - of(200) - of(429));
  expect(statuses[statuses.indexOf(429) + 1]).toBeNull();
  await project.errors(of(200));
});

test('a key that was taken away is refused at once', async () => {
  const unlimited = { error_tracking_events_per_minute: 0 };
  expect((await program.root('PUT /application/settings', unlimited)).status).toBe(200);
  const project = await makeReportedTo(program, 'gates');
  expect((await runWalls(project.dsn, 'crack', '1')).statuses).toEqual([200]);
  const keys = `/projects/${project.id}/error_tracking/client_keys`;
  const [key] = (await (await program.root(`GET ${keys}`)).json()) as { id: number }[];
  expect((await program.root(`DELETE ${keys}/${key?.id}`)).status).toBe(200);
  expect((await runWalls(project.dsn, 'crack', '1')).statuses).toEqual([404]);
  await project.errors(1);
});
