/** Runners that wait for jobs, over HTTP and in the queue itself. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';
import { fillProject } from '../../../../test/support/repositories.ts';
import { startPipeline } from '../../../../test/support/runner.ts';
import { until } from '../../../../test/support/waiting.ts';
import { Reply } from '../../../kernel/api/endpoint.ts';
import { moveClock } from '../../../platform/clock.ts';
import { authenticateRunner } from '../runners/authenticate.ts';
import type { AuthenticRunner } from '../runners/authenticate-queries.ts';
import { createJobQueue } from './job-queue.ts';
import { executionEndpoints } from './routes.ts';

const ashlar = useApp();
let project: MadeProject;
let user: MadeUser;
let runner: { id: number; token: string };

beforeAll(async () => {
  project = await makeProject(ashlar);
  await fillProject(ashlar, project.id);
  user = await makeUser(ashlar);
  bodyOf(
    await ashlar.root(`POST /projects/${project.id}/members`, {
      body: { user_id: user.id, access_level: 40 },
    }),
    201,
  );
  const body = { runner_type: 'project_type', project_id: project.id, tag_list: 'stone' };
  runner = bodyOf(await ashlar.root('POST /user/runners', { body }), 201);
  // The queue looks once: what it told before is another value then.
  await told(await told());
});

const ask = (last_update?: string) =>
  ashlar.call('POST /jobs/request', {
    body: {
      token: runner.token,
      system_id: 's_1',
      info: { name: 'runner' },
      ...(last_update && { last_update }),
    },
  });
const told = async (known?: string) => {
  const { status, headers } = await ask(known);
  expect(status).toBe(204);
  return headers.get('x-gitlab-last-update') ?? '';
};
const file = 'lay: {script: make, tags: [stone]}\n';

describe('over HTTP', () => {
  test('a runner that knows of nothing new waits, and gets the job that comes', async () => {
    const value = await told();
    expect(value).toMatch(/^[0-9a-f]{32}$/);
    expect(await told()).toBe(value);
    const waiting = ask(value);
    const id = await startPipeline(ashlar, project, user, file);
    const { status, body } = await waiting;
    expect(status).toBe(201);
    expect(body.job_info.pipeline_id ?? id).toBe(id);
    bodyOf(await ashlar.root(`POST /projects/${project.id}/pipelines/${id}/cancel`), 200);
  });

  test('of many that wait one gets the job, and the others another value', async () => {
    const value = await told();
    const waiting = Array.from({ length: 5 }, () => ask(value));
    const id = await startPipeline(ashlar, project, user, file);
    const answers = await Promise.all(waiting);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 204, 204, 204, 204]);
    for (const { status, headers } of answers)
      if (status === 204) expect(headers.get('x-gitlab-last-update')).not.toBe(value);
    bodyOf(await ashlar.root(`POST /projects/${project.id}/pipelines/${id}/cancel`), 200);
  });

  test('a runner that changed, and one whose value is old, do not wait', async () => {
    const value = await told();
    bodyOf(await ashlar.root(`PUT /runners/${runner.id}`, { body: { tag_list: ['stone', 'lime'] } }), 200);
    expect((await ask(value)).headers.get('x-gitlab-last-update')).not.toBe(value);
    const next = await told();
    const back = moveClock(60_000);
    try {
      expect((await ask(next)).headers.get('x-gitlab-last-update')).not.toBe(next);
    } finally {
      back();
    }
  });

  test('a paused one gets neither a job nor a value', async () => {
    const value = await told();
    bodyOf(await ashlar.root(`PUT /runners/${runner.id}`, { body: { paused: true } }), 200);
    const { status, headers } = await ask(value);
    expect([status, headers.get('x-gitlab-last-update')]).toEqual([204, null]);
    bodyOf(await ashlar.root(`PUT /runners/${runner.id}`, { body: { paused: false } }), 200);
  });
});

describe('a runner for which nothing of what waits is', () => {
  let others: number;
  let other: MadeProject;
  let claims = 0;

  beforeAll(async () => {
    others = await startPipeline(ashlar, project, user, 'lay: {script: make, tags: [wood]}');
    other = await makeProject(ashlar);
    await fillProject(ashlar, other.id);
    ashlar.app.services.database.sql.watch((text) => {
      if (text.includes('update ci_jobs j set status')) claims++;
    });
    await known();
  });
  afterAll(async () => {
    bodyOf(await ashlar.root(`POST /projects/${project.id}/pipelines/${others}/cancel`), 200);
  });
  const claimsOf = async (work: () => Promise<unknown>) => {
    const before = claims;
    await work();
    return claims - before;
  };
  /** What has come is known when nothing is looked for any more; on a busy machine it is heard of late. */
  const known = () =>
    until(async () => (await claimsOf(told)) === 0, 'what waits is looked for again and again');
  const taken = async (of: MadeProject, id: number) => {
    const { status, body } = await ask();
    expect([status, body.job_info?.project_id]).toEqual([201, of.id]);
    bodyOf(await ashlar.root(`POST /projects/${of.id}/pipelines/${id}/cancel`), 200);
    await known();
  };

  test('is not looked for again, for half a minute', async () => {
    expect(await claimsOf(told)).toBe(0);
    const back = moveClock(31_000);
    try {
      expect(await claimsOf(told)).toBe(1);
    } finally {
      back();
    }
    expect(await claimsOf(told)).toBe(1);
  });

  test('gets the job that comes', async () => {
    expect(await claimsOf(told)).toBe(0);
    await taken(project, await startPipeline(ashlar, project, user, file));
  });

  test('gets what waits for it once it is another one, or of another project', async () => {
    const tags = (tag_list: string[]) => ashlar.root(`PUT /runners/${runner.id}`, { body: { tag_list } });
    bodyOf(await tags(['lime']), 200);
    const id = await startPipeline(ashlar, project, user, file);
    await known();
    expect(await claimsOf(told)).toBe(0);
    bodyOf(await tags(['stone']), 200);
    await taken(project, id);
    const foreign = await startPipeline(ashlar, other, { token: ROOT_TOKEN }, file);
    await known();
    expect(await claimsOf(told)).toBe(0);
    const body = { runner_id: runner.id };
    bodyOf(await ashlar.root(`POST /projects/${other.id}/runners`, { body }), 201);
    await taken(other, foreign);
    bodyOf(await ashlar.root(`DELETE /projects/${other.id}/runners/${runner.id}`), 204);
  });
});

describe('the queue', () => {
  const parked: Promise<unknown>[] = [];
  const stop = new AbortController();
  const never = new AbortController().signal;
  const open = (longest?: number) =>
    createJobQueue(
      {
        database: ashlar.app.services.database,
        park: (wait) => {
          const done = wait(stop.signal);
          parked.push(done);
          return done;
        },
      },
      longest,
    );
  const some = { id: 7, updated_at: new Date(0) } as AuthenticRunner;

  test('gives up after its time, and when the client is gone', async () => {
    const queue = open(50);
    await expect.poll(() => queue.wait(some, never), { timeout: 10_000 }).toBe(false);
    expect(await queue.wait(some, AbortSignal.abort())).toBe(false);
  });

  test('tells once of more jobs than it tells apart', async () => {
    const jobs = Array.from(
      { length: 6 },
      (_, n) => `lay-${n}: {script: make, tags: [stone], parallel: 200}`,
    );
    const id = await startPipeline(ashlar, project, user, jobs.join('\n'));
    // A value is another one with each minute.
    const back = moveClock(60_000 - (Date.now() % 60_000));
    try {
      const queue = open(1_000);
      expect(await queue.wait(some, never)).toBe(true);
      const value = queue.valueFor(some);
      expect([await queue.wait(some, never), queue.valueFor(some)]).toEqual([false, value]);
    } finally {
      back();
    }
    bodyOf(await ashlar.root(`POST /projects/${project.id}/pipelines/${id}/cancel`), 200);
  });

  test('holds twenty requests of a runner, until the program stops', async () => {
    const queue = open();
    expect(await queue.wait(some, never)).toBe(true);
    parked.splice(0);
    const waiting = Array.from({ length: 20 }, () => queue.wait(some, never));
    await expect.poll(() => parked.length).toBe(20);
    expect(await queue.wait(some, never)).toBe(false);
    stop.abort();
    expect(await Promise.all(waiting)).toEqual(Array(20).fill(false));
  });
});

describe('after it waited', () => {
  const pause = async (paused: boolean) =>
    bodyOf(await ashlar.root(`PUT /runners/${runner.id}`, { body: { paused } }), 200);
  const none = new Reply(204, undefined, undefined);

  test.each<[string, (client: AbortController) => unknown, unknown]>([
    ['one that is paused', () => pause(true), none],
    ['one whose client is gone', (client) => client.abort(), none],
    ['one that is no more', () => ashlar.root(`DELETE /runners/${runner.id}`), 'forbidden'],
  ])('%s gets no job', async (_, meanwhile, expected) => {
    await pause(false);
    const client = new AbortController();
    const { services } = ashlar.app;
    const queue = createJobQueue({
      database: services.database,
      park: async (wait) => {
        const woken = await wait(new AbortController().signal);
        await meanwhile(client);
        return woken;
      },
    });
    const [endpoint] = executionEndpoints(queue);
    const presented = { token: runner.token, system_id: 's_1' };
    const request = { headers: {}, address: '127.0.0.1', signal: client.signal };
    const id = await startPipeline(ashlar, project, user, file);
    const { runner: known } = await authenticateRunner(services, presented, request);
    const context = { services, input: { ...presented, last_update: queue.valueFor(known) }, request };
    const answer = await Promise.resolve(
      endpoint?.handle(context as unknown as Parameters<typeof endpoint.handle>[0]),
    ).catch((fault) => fault.kind);
    expect(answer).toEqual(expected);
    const jobs = bodyOf(await ashlar.root(`GET /projects/${project.id}/pipelines/${id}/jobs`), 200);
    expect(jobs).toMatchObject([{ status: 'pending', runner: null }]);
    bodyOf(await ashlar.root(`POST /projects/${project.id}/pipelines/${id}/cancel`), 200);
  });
});
