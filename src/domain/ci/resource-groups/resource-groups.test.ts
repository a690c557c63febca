/** Resource groups: one job at a time, in the order of the mode. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
} from '../../../../test/support/factories.ts';
import { openRunner, type Runner, type TakenJob } from '../../../../test/support/runner.ts';
import { assignFree } from './actions.ts';

const app: TestApp = useApp();
let project: MadeProject;
let members: Record<'maintainer' | 'developer' | 'reporter', MadeUser>;
let runner: Runner;

beforeAll(async () => {
  project = await makeProject(app);
  members = await makeMembers(app, `projects/${project.id}`, 'maintainer', 'developer', 'reporter');
  await app.root(`PUT ${home()}`, { body: { auto_cancel_pending_pipelines: 'disabled' } });
  const body = { runner_type: 'project_type', project_id: project.id };
  runner = openRunner(app, bodyOf(await app.root('POST /user/runners', { body }), 201).token);
});

const as = (who: keyof typeof members) => app.as(members[who].token);
const home = () => `/projects/${project.id}`;
const group = (key: string, below = '') => `${home()}/resource_groups/${encodeURIComponent(key)}${below}`;

let written: string | undefined;
/** A pipeline of the file, which is committed where it is another one. */
async function start(content: string): Promise<number> {
  const body = {
    branch: 'main',
    commit_message: 'Change [skip ci]',
    actions: [{ action: written === undefined ? 'create' : 'update', file_path: '.gitlab-ci.yml', content }],
  };
  if (content !== written) bodyOf(await app.root(`POST ${home()}/repository/commits`, { body }), 201);
  written = content;
  return bodyOf(await as('maintainer')(`POST ${home()}/pipeline`, { body: { ref: 'main' } }), 201).id;
}
const statusOf = async (pipeline: number): Promise<string> =>
  bodyOf(await as('reporter')(`GET ${home()}/pipelines/${pipeline}`), 200).status;
const jobsOf = async (pipeline: number): Promise<Record<string, string>> => {
  const { body } = await as('developer')(`GET ${home()}/pipelines/${pipeline}/jobs`);
  return Object.fromEntries(
    body.toReversed().map((job: { name: string; status: string }) => [job.name, job.status]),
  );
};
const jobId = async (pipeline: number, name: string): Promise<number> => {
  const { body } = await as('developer')(`GET ${home()}/pipelines/${pipeline}/jobs`);
  return body.find((job: { name: string }) => job.name === name).id;
};
const pipelineOf = (job: TakenJob): number => (job.job_info as { pipeline_id: number }).pipeline_id;
const setMode = async (key: string, process_mode: string) =>
  bodyOf(await as('developer')(`PUT ${group(key)}`, { body: { process_mode } }), 200);
/** The pipelines of the jobs, in the order in which a runner gets them, each ended before the next. */
async function order(count: number): Promise<number[]> {
  const taken: number[] = [];
  for (let at = 0; at < count; at++) {
    const job = await runner.take();
    expect((await runner.request()).status).toBe(204);
    taken.push(pipelineOf(job));
    await runner.update(job, { state: 'success' });
  }
  return taken;
}
const one = (key: string) => `deploy:\n  script: deploy\n  resource_group: ${key}\n`;

test('one job has the resource, others wait and are listed', async () => {
  const first = await start(one('quarry/$CI_COMMIT_REF_NAME'));
  const second = await start(one('quarry/$CI_COMMIT_REF_NAME'));
  expect([await jobsOf(first), await jobsOf(second)]).toEqual([
    { deploy: 'pending' },
    { deploy: 'waiting_for_resource' },
  ]);
  expect(await statusOf(second)).toBe('waiting_for_resource');
  const key = 'quarry/main';
  const row = { id: expect.any(Number), key, process_mode: 'unordered' };
  expect(bodyOf(await as('developer')(`GET ${home()}/resource_groups`), 200)).toMatchObject([row]);
  expect(bodyOf(await as('developer')(`GET ${group(key)}`), 200)).toMatchObject(row);
  const current = async () => as('developer')(`GET ${group(key, '/current_job')}`);
  expect(bodyOf(await current(), 200)).toMatchObject({ pipeline: { id: first }, status: 'pending' });
  expect(bodyOf(await as('developer')(`GET ${group(key, '/upcoming_jobs')}`), 200)).toMatchObject([
    { pipeline: { id: second } },
  ]);
  const job = await runner.take();
  expect((await runner.request()).status).toBe(204);
  await runner.update(job, { state: 'failed' });
  expect([await jobsOf(second), await statusOf(second)]).toEqual([{ deploy: 'pending' }, 'pending']);
  expect((await as('developer')(`POST ${home()}/pipelines/${second}/cancel`)).status).toBe(200);
  expect((await current()).status).toBe(404);
});

test('is for developers, and there is no other', async () => {
  expect((await as('reporter')(`GET ${group('quarry/main')}`)).status).toBe(403);
  expect((await as('developer')(`GET ${group('nothing')}`)).status).toBe(404);
  const wrong = await as('developer')(`PUT ${group('quarry/main')}`, { body: { process_mode: 'random' } });
  expect(wrong.status).toBe(400);
  const other = await makeProject(app);
  const path = `GET /projects/${other.id}/resource_groups/${encodeURIComponent('quarry/main')}` as const;
  expect((await app.root(path)).status).toBe(404);
});

describe('the order', () => {
  test('is the oldest pipeline first, though a newer one is ready', async () => {
    const file =
      'stages: [a, b]\nbuild:\n  stage: a\n  script: b\ndeploy:\n  stage: b\n  script: d\n  resource_group: old\n';
    const [first, second] = [await start(file), await start(file)];
    await setMode('old', 'oldest_first');
    const [build, other] = [await runner.take(), await runner.take()];
    expect([pipelineOf(build), pipelineOf(other)]).toEqual([first, second]);
    await runner.update(other, { state: 'success' });
    expect(await jobsOf(second)).toMatchObject({ deploy: 'waiting_for_resource' });
    expect((await runner.request()).status).toBe(204);
    await runner.update(build, { state: 'success' });
    expect(await order(2)).toEqual([first, second]);
    expect([await statusOf(first), await statusOf(second)]).toEqual(['success', 'success']);
  });

  test('is the newest first, among those that are ready', async () => {
    const pipelines = [await start(one('new')), await start(one('new')), await start(one('new'))];
    await setMode('new', 'newest_ready_first');
    const [first, second, third] = pipelines;
    expect(await order(3)).toEqual([first, third, second]);
  });

  test('is changed while a job waits for one that is not ready, which goes on then', async () => {
    const file =
      'stages: [a, b]\nbuild:\n  stage: a\n  script: b\n  rules: [{ if: "$WITH" }]\ndeploy:\n  stage: b\n  script: d\n  resource_group: mode\n';
    await start(file).then((id) => as('developer')(`POST ${home()}/pipelines/${id}/cancel`));
    await setMode('mode', 'newest_first');
    const body = { ref: 'main', variables: [{ key: 'WITH', value: 'yes' }] };
    const waiting = bodyOf(await as('maintainer')(`POST ${home()}/pipeline`, { body }), 201).id;
    const ready = await start(file);
    expect(await jobsOf(ready)).toEqual({ deploy: 'pending' });
    const job = await runner.take();
    const build = pipelineOf(job) === waiting ? job : await runner.take();
    const deploy = build === job ? await runner.take() : job;
    await runner.update(build, { state: 'success' });
    await runner.update(deploy, { state: 'success' });
    expect(await order(1)).toEqual([waiting]);
  });
});

test('a job is played, retried and repeated within its group', async () => {
  const file =
    'deploy:\n  script: d\n  resource_group: hand\n  when: manual\nauto:\n  script: a\n  resource_group: hand\n  retry: 1\n';
  const pipeline = await start(file);
  expect(await jobsOf(pipeline)).toEqual({ deploy: 'manual', auto: 'pending' });
  const play = await as('maintainer')(`POST ${home()}/jobs/${await jobId(pipeline, 'deploy')}/play`);
  expect(bodyOf(play, 200).status).toBe('waiting_for_resource');
  const auto = await runner.take();
  await runner.update(auto, { state: 'failed' });
  expect(await jobsOf(pipeline)).toEqual({ deploy: 'pending', auto: 'waiting_for_resource' });
  const deploy = await runner.take();
  await runner.update(deploy, { state: 'success' });
  await runner.update(await runner.take(), { state: 'success' });
  const retry = await as('maintainer')(`POST ${home()}/jobs/${deploy.id}/retry`);
  expect(bodyOf(retry, 201).status).toBe('pending');
  await runner.update(await runner.take(), { state: 'success' });
  expect(await statusOf(pipeline)).toBe('success');
});

test('what was deleted while it had the resource leaves it to the next, by the clock', async () => {
  const first = await start(one('gone'));
  const second = await start(one('gone'));
  expect((await app.root(`DELETE ${home()}/pipelines/${first}`)).status).toBe(204);
  await assignFree(app.app.services.database.background);
  expect(await order(1)).toEqual([second]);
});

test('many that end and begin at the same time have it one after the other', async () => {
  const pipelines: number[] = [];
  for (let at = 0; at < 4; at++) pipelines.push(await start(one('crowd')));
  const file = `${one('crowd')}other:\n  script: o\n  resource_group: crowd\n`;
  for (let at = 0; at < 2; at++) pipelines.push(await start(file));
  const seen: TakenJob[] = [];
  for (;;) {
    const answers = await Promise.all([runner.request(), runner.request(), runner.request()]);
    const taken = answers.filter(({ status }) => status === 201).map(({ body }) => body as TakenJob);
    const [job] = taken;
    if (!job) break;
    expect(taken).toHaveLength(1);
    seen.push(job);
    await Promise.all([
      runner.update(job, { state: 'success' }),
      seen.length === 3 && as('developer')(`POST ${home()}/pipelines/${pipelines[5]}/cancel`),
    ]);
    await assignFree(app.app.services.database.background);
  }
  expect(seen).toHaveLength(6);
  const { sql } = app.app.services.database;
  const rows = await sql<{ count: number }[]>`
    select count(*)::integer as count from ci_jobs where status in ('waiting_for_resource', 'pending', 'running')`;
  expect(rows[0]?.count).toBe(0);
});
