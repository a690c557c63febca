/** Pipelines and jobs, as hooks are told of them: one request for each change of a status, in their order. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeGroup,
  makeMembers,
  makeProject,
} from '../../../../test/support/factories.ts';
import { type Payload, useHookReceiver } from '../../../../test/support/hooks.ts';
import { openRunner, type Runner } from '../../../../test/support/runner.ts';
import type { Status } from '../processing/status.ts';
import { asOf } from './hook-payloads.ts';

const app = useApp();
const receiver = useHookReceiver(app);
let project: MadeProject;
let maintainer: MadeUser;
let runner: Runner;
let hook: { id: number };

const pipelines = () => receiver.payloads('Pipeline Hook');
const jobs = () => receiver.payloads('Job Hook');
const statuses = () => pipelines().map(({ object_attributes }) => object_attributes.status);
const jobStatuses = () => jobs().map(({ build_name, build_status }) => `${build_name} ${build_status}`);
const reach = (of: () => unknown, expected: unknown) =>
  expect.poll(of, { timeout: 10_000 }).toEqual(expected);

async function configure(content: string): Promise<void> {
  const path = `/projects/${project.id}/repository`;
  const there = (await app.root(`GET ${path}/files/.gitlab-ci.yml?ref=main`)).status === 200;
  const actions = [{ action: there ? 'update' : 'create', file_path: '.gitlab-ci.yml', content }];
  const body = { branch: 'main', commit_message: 'Lay it\n\n[skip ci]', actions };
  bodyOf(await app.root(`POST ${path}/commits`, { body }), 201);
}
const start = async (variables: object[] = []): Promise<number> =>
  bodyOf(
    await app.as(maintainer.token)(`POST /projects/${project.id}/pipeline`, {
      body: { ref: 'main', variables },
    }),
    201,
  ).id;

beforeAll(async () => {
  const group = await makeGroup(app);
  project = await makeProject(app, { namespace_id: group.id });
  ({ maintainer } = await makeMembers(app, `projects/${project.id}`, 'maintainer'));
  await app.root(`PUT /projects/${project.id}`, { body: { auto_cancel_pending_pipelines: 'disabled' } });
  const runnerBody = { runner_type: 'project_type', project_id: project.id, description: 'The winch' };
  runner = openRunner(app, bodyOf(await app.root('POST /user/runners', { body: runnerBody }), 201).token);
  hook = await receiver.listen(app, `/projects/${project.id}`, { pipeline_events: true, job_events: true });
});

test('there is nothing to be tested with before there is a pipeline', async () => {
  const sample = (flag: string) => app.root(`POST /projects/${project.id}/hooks/${hook.id}/test/${flag}`);
  expect(bodyOf(await sample('pipeline_events'), 422).message).toBe('Ensure the project has CI pipelines.');
  expect(bodyOf(await sample('job_events'), 422).message).toBe('Ensure the project has CI jobs.');
});

describe('a pipeline from its beginning to its end', () => {
  let pipeline: number;

  test('a push that asks for none is told as skipped', async () => {
    const file =
      'stages: [a, b]\nlay:\n  stage: a\n  script: make\nroof:\n  stage: b\n  script: make\n  environment: staging/roof\n';
    await configure(`variables: {KEPT: in-the-file}\n${file}`);
    await reach(statuses, ['skipped']);
  });

  test('each change of its status is told, and each of its jobs', async () => {
    receiver.clear();
    bodyOf(
      await app.root(`POST /projects/${project.id}/variables`, {
        body: { key: 'HIDDEN', value: 'of-the-project', masked: true },
      }),
      201,
    );
    pipeline = await start([{ key: 'COLOUR', value: 'ochre' }]);
    await reach(statuses, ['pending']);
    const lay = await runner.take();
    await reach(statuses, ['pending', 'running']);
    bodyOf(await runner.update(lay, { state: 'success' }), 200);
    const roof = await runner.take();
    bodyOf(await runner.update(roof, { state: 'failed', failure_reason: 'script_failure' }), 200);
    await reach(statuses, ['pending', 'running', 'failed']);
    await reach(jobStatuses, [
      'lay created',
      'roof created',
      'lay pending',
      'lay running',
      'lay success',
      'roof pending',
      'roof running',
      'roof failed',
    ]);
  });

  test('a pipeline is told with what it was started with, and its jobs', () => {
    const [first] = pipelines();
    const last = pipelines().at(-1);
    expect(Object.keys(last)).toEqual([
      ...['object_kind', 'object_attributes', 'merge_request', 'user', 'project', 'commit', 'builds'],
    ]);
    expect(last).toMatchObject({
      object_kind: 'pipeline',
      object_attributes: {
        id: pipeline,
        ref: 'main',
        tag: false,
        source: 'api',
        status: 'failed',
        detailed_status: 'failed',
        stages: ['a', 'b'],
        protected_ref: true,
        variables: [{ key: 'COLOUR', value: 'ochre' }],
        url: `${app.url}/${project.path_with_namespace}/-/pipelines/${pipeline}`,
      },
      merge_request: null,
      user: { id: maintainer.id },
      project: { id: project.id },
      commit: { title: 'Lay it' },
      builds: [
        {
          name: 'roof',
          status: 'failed',
          failure_reason: 'script_failure',
          runner: { description: 'The winch' },
          environment: { name: 'staging/roof', action: 'start', deployment_tier: 'staging' },
          artifacts_file: { filename: null, size: null },
        },
        {
          name: 'lay',
          status: 'success',
          failure_reason: null,
          manual: false,
          when: 'on_success',
          environment: null,
        },
      ],
    });
    expect(last.object_attributes.finished_at).toMatch(/ UTC$/);
    expect(last.project).not.toHaveProperty('homepage');
    expect(first.object_attributes).toMatchObject({ status: 'pending', finished_at: null, duration: null });
    // Those of the project and of the file are nobody's business.
    expect(JSON.stringify(receiver.payloads())).not.toMatch(/of-the-project|in-the-file|glcbt-|glrt-/);
  });

  test('a job is told as it was when it changed', () => {
    const of = (status: string): Payload =>
      jobs().find((job) => job.build_name === 'roof' && job.build_status === status);
    expect(of('created')).toMatchObject({ build_started_at: null, runner: null, build_failure_reason: null });
    expect(of('running')).toMatchObject({
      build_finished_at: null,
      runner: { is_shared: false, active: true },
    });
    expect(of('failed')).toMatchObject({
      object_kind: 'build',
      retries_count: 0,
      build_stage: 'b',
      build_failure_reason: 'script_failure',
      pipeline_id: pipeline,
      project_id: project.id,
      user: { id: maintainer.id },
      commit: { id: pipeline, message: 'Lay it\n\n[skip ci]', author_url: expect.stringMatching(/^mailto:/) },
      repository: { homepage: `${app.url}/${project.path_with_namespace}` },
      environment: { name: 'staging/roof', action: 'start', deployment_tier: 'staging' },
    });
    expect(of('failed').project_name).toMatch(/ \/ /);
  });

  test('what runs again, is started by hand or canceled is told', async () => {
    receiver.clear();
    const path = `/projects/${project.id}/pipelines/${pipeline}`;
    bodyOf(await app.root(`POST ${path}/retry`), 201);
    await reach(statuses, ['running']);
    await reach(jobStatuses, ['roof created', 'roof pending']);
    expect(jobs().at(-1).retries_count).toBe(1);
    bodyOf(await app.root(`POST ${path}/cancel`), 200);
    await reach(statuses, ['running', 'canceled']);
    await reach(jobStatuses, ['roof created', 'roof pending', 'roof canceled']);
  });

  test('a hook is tested with the newest', async () => {
    receiver.clear();
    const sample = (flag: string) => app.root(`POST /projects/${project.id}/hooks/${hook.id}/test/${flag}`);
    bodyOf(await sample('pipeline_events'), 201);
    bodyOf(await sample('job_events'), 201);
    expect(statuses()).toEqual(['canceled']);
    expect(jobStatuses()).toEqual(['roof canceled']);
  });

  test('a job that was prepared is told as it begins, by what it writes', async () => {
    receiver.clear();
    const id = await start();
    const lay = await runner.take({ features: { two_phase_job_commit: true } });
    await reach(jobStatuses, ['lay created', 'roof created', 'lay pending']);
    expect((await runner.trace(lay, 0, 'One\n')).status).toBe(202);
    await reach(() => [statuses().at(-1), jobStatuses().at(-1)], ['running', 'lay running']);
    bodyOf(await app.root(`POST /projects/${project.id}/pipelines/${id}/cancel`), 200);
    await reach(() => statuses().at(-1), 'canceled');
  });
});

test('a hook of a group is told too; a file that is wrong and statuses of other programs are pipelines', async () => {
  receiver.clear();
  const { body } = await app.root(`GET /projects/${project.id}`);
  await receiver.listen(app, `/groups/${body.namespace.id}`, { pipeline_events: true });
  const path = `/projects/${project.id}`;
  const commit = {
    branch: 'wrong',
    start_branch: 'main',
    commit_message: 'Spoil it',
    actions: [{ action: 'update', file_path: '.gitlab-ci.yml', content: 'lay: {stage: nowhere, script: x}' }],
  };
  const { id: sha } = bodyOf(await app.root(`POST ${path}/repository/commits`, { body: commit }), 201);
  await reach(() => statuses().toSorted(), ['failed', 'failed']);
  receiver.clear();
  bodyOf(
    await app.root(`POST ${path}/statuses/${sha}`, { body: { state: 'running', name: 'outside' } }),
    201,
  );
  await reach(statuses, ['running', 'running']);
  expect(jobs()).toEqual([]);
});

test.each<[Status, boolean, boolean]>([
  ['created', false, false],
  ['pending', false, false],
  ['manual', false, false],
  ['running', true, false],
  ['canceling', true, false],
  ['success', true, true],
  ['canceled', true, true],
])('what is told of %s knows nothing that came later', (status, started, finished) => {
  const time = new Date(0);
  const was = asOf({ status: 'failed', started_at: time, finished_at: time }, status);
  expect(was).toEqual({ status, started_at: started ? time : null, finished_at: finished ? time : null });
});
