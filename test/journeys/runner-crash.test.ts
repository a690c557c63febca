/**
 * kill -9 while runners run two hundred jobs, and a runner that dies with jobs in hand: none runs twice at once, none is lost, the
 * traces are whole. What a dead runner had begun is silent for an hour before the service ends it; here somebody runs it again.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import type { Called } from '../support/app.ts';
import { openRunner, type Runner, type TakenJob } from '../support/runner.ts';
import { siteOfRunners } from './runner-site.ts';
import { cleanUp, killNow, makeFolder, type Program, postmaster, startProgram } from './support.ts';

afterAll(() => cleanUp());

const OF_EACH_STAGE = 100;
const JOBS = 2 * OF_EACH_STAGE;
const KILLS = 8;
const WORKERS = 6;
/** Reports that are answered before the runner that dies takes no more. */
const LIFE = 40;
/** Milliseconds between a report and the kill, at most: about what a report takes. */
const MAX_DELAY_MS = 60;
const TIMEOUT_MS = 1_500_000;

const FILE = `
stages: [a, b]
first: { stage: a, script: [make], parallel: ${OF_EACH_STAGE} }
second: { stage: b, script: [make test], parallel: ${OF_EACH_STAGE} }
`;

/** Numbers from 0 up to 1 that look like chance and are always the same. */
function makeChance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const victims = [
  ({ pid }: Program) => [pid],
  ({ pid, data }: Program) => [postmaster(data), pid],
  ({ pid, data }: Program) => [pid, postmaster(data)],
];

const textOf = (id: number): string =>
  Array.from({ length: 40 }, (_, line) => `Job ${id} writes line ${line}.\n`).join('');

/** Of one job by one worker, from the moment at which it began; without an end where the runner died with it. */
type Attempt = { id: number; from: number; to?: number };

/** What the runners know. */
const known = { reports: 0, attempts: [] as Attempt[], unbegun: new Set<number>() };

/** The same request until there is an answer: meanwhile the service is down. */
async function insist(ask: () => Promise<Called>): Promise<Called> {
  for (;;) {
    const reply = await ask().catch(() => undefined);
    if (reply && reply.status < 500) return reply;
    await sleep(20);
  }
}

/** Writes the trace up to a place in it, wherever the service says that it stands. */
async function write(runner: Runner, job: TakenJob, text: string): Promise<void> {
  for (let size = 0; size < text.length; ) {
    const part = text.slice(size, size + 400);
    const reply = await insist(() => runner.trace(job, size, part));
    expect([job.id, reply.status]).toEqual([job.id, expect.toBeOneOf([202, 416])]);
    size = Number(reply.headers.get('range')?.split('-')[1]);
  }
}

/** A worker of a runner; of one that dies, the even ones do so before they begin their last job, the others while they write. */
async function work(runner: Runner, worker: number, dies: boolean, isDone: () => boolean): Promise<void> {
  while (!isDone()) {
    const reply = await runner.request({ features: { two_phase_job_commit: true } }).catch(() => undefined);
    if (reply?.status !== 201) {
      await sleep(50);
      continue;
    }
    const job = reply.body as TakenJob;
    const isLast = dies && known.reports >= LIFE;
    if (isLast && worker % 2 === 0) {
      known.unbegun.add(job.id);
      return;
    }
    const begun = await insist(() => runner.update(job, { state: 'running' }));
    // It was given to another one while nothing was heard of this one.
    if (begun.status === 403) continue;
    expect(begun.status).toBe(200);
    const attempt: Attempt = { id: job.id, from: performance.now() };
    known.attempts.push(attempt);
    const text = textOf(job.id);
    await write(runner, job, isLast ? text.slice(0, text.length / 2) : text);
    if (isLast) return;
    const before = performance.now();
    const ended = await insist(() => runner.update(job, { state: 'success' }));
    // 403: it had been heard, and only its answer was lost.
    expect([200, 403]).toContain(ended.status);
    expect(ended.headers.get('job-status')).toBe('success');
    attempt.to = before;
    known.reports += 1;
  }
}

test(
  'after kill -9 each job has run, once at a time, and its trace is whole',
  async () => {
    const seed = 20_261_128;
    const chance = makeChance(seed);
    const data = join(makeFolder(), 'data');
    let program = await startProgram({ data });
    // biome-ignore lint/suspicious/noExplicitAny: the test says what it expects of a body by reading it.
    const ask = async (request: string, body?: unknown): Promise<any> => {
      const response = await program.root(request, body);
      expect([request, response.ok]).toEqual([request, true]);
      return response.json();
    };
    await ask('PUT /application/settings', {
      throttle_unauthenticated_api_enabled: false,
      throttle_authenticated_api_enabled: false,
    });
    const { id: project } = await ask('POST /projects', { name: 'Storm' });
    await ask(`POST /projects/${project}/repository/commits`, {
      branch: 'main',
      commit_message: 'Begin [skip ci]',
      actions: [{ action: 'create', file_path: '.gitlab-ci.yml', content: FILE }],
    });
    const { token } = await ask('POST /user/runners', { runner_type: 'project_type', project_id: project });
    const pipeline = await ask(`POST /projects/${project}/pipeline`, { ref: 'main' });
    const home = `/projects/${project}/pipelines/${pipeline.id}`;
    const jobsIn = async (query: string): Promise<{ id: number; status: string }[]> => {
      const page = (number: number) => ask(`GET ${home}/jobs?per_page=100&page=${number}&${query}`);
      return [...(await page(1)), ...(await page(2)), ...(await page(3))];
    };

    const site = siteOfRunners(() => program.url);
    const done = { is: false };
    const workers = ['s_one', 's_two'].flatMap((system) =>
      Array.from({ length: WORKERS }, (_, worker) =>
        work(openRunner(site, token, system), worker, system === 's_two', () => done.is),
      ),
    );
    const failed = Promise.all(workers);
    const reached = async (reports: number): Promise<void> => {
      while (known.reports < reports) await Promise.race([sleep(5), failed]);
    };

    for (let kill = 0; kill < KILLS; kill += 1) {
      // The first stage ends without the jobs that the dead runner has.
      await reached(Math.floor(((OF_EACH_STAGE - 2 * WORKERS) * (kill + chance())) / KILLS));
      await sleep(chance() * MAX_DELAY_MS);
      for (const pid of victims[kill % victims.length]?.(program) ?? []) killNow(pid);
      program.kill('SIGKILL');
      await program.ended;
      program = await startProgram({ data });
    }

    // What was not begun is given to the other runner; what was begun is left.
    const left = () => known.attempts.filter(({ to }) => to === undefined).map(({ id }) => id);
    const isQuiet = async (): Promise<boolean> => {
      const going = await jobsIn('scope[]=pending&scope[]=running');
      return known.reports === OF_EACH_STAGE - WORKERS / 2 && going.length === WORKERS / 2;
    };
    await expect.poll(isQuiet, { timeout: 600_000, interval: 500 }).toBe(true);
    expect(known.unbegun.size).toBe(WORKERS / 2);
    expect(left()).toHaveLength(WORKERS / 2);
    const dead = left();
    for (const id of dead) {
      expect(await ask(`POST /projects/${project}/jobs/${id}/cancel`)).toMatchObject({ status: 'canceled' });
      await ask(`POST /projects/${project}/jobs/${id}/retry`);
    }
    await expect
      .poll(async () => (await ask(`GET ${home}`)).status, { timeout: 600_000, interval: 500 })
      .toBe('success');
    done.is = true;
    await failed;

    const jobs = await jobsIn('include_retried=true');
    const statuses = Object.groupBy(jobs, ({ status }) => status);
    expect(statuses.success).toHaveLength(JOBS);
    expect(statuses.canceled?.map(({ id }) => id).sort()).toEqual(dead.sort());
    expect(jobs).toHaveLength(JOBS + dead.length);
    const attempts = Map.groupBy(known.attempts, ({ id }) => id);
    // Each began once: what was lost on the way to its runner had not.
    expect([...attempts.values()].filter((each) => each.length > 1)).toEqual([]);
    expect([...attempts.keys()].sort()).toEqual(jobs.map(({ id }) => id).sort());
    for (const id of known.unbegun) expect(attempts.get(id)).toMatchObject([{ to: expect.any(Number) }]);
    for (const { id, status } of jobs) {
      const text = textOf(id);
      const trace = await program.root(`GET /projects/${project}/jobs/${id}/trace`);
      expect(await trace.text()).toBe(status === 'success' ? text : text.slice(0, text.length / 2));
    }
    expect(await program.stop(), program.output()).toEqual({ code: 0, signal: null });
  },
  TIMEOUT_MS,
);
