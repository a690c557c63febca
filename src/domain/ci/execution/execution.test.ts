/** Jobs as runners run them: handed out once, reported of, with their traces and their clones. */

import { mkdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql as raw } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Called, type TestApp, useApp } from '../../../../test/support/app.ts';
import { isStored } from '../../../../test/support/blobs.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
} from '../../../../test/support/factories.ts';
import { makeHome, runGit } from '../../../../test/support/git.ts';
import { openRunner, type Runner, type TakenJob } from '../../../../test/support/runner.ts';
import { until } from '../../../../test/support/waiting.ts';
import { moveClock } from '../../../platform/clock.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { archiveTraces } from '../traces/archive-actions.ts';
import { liveFolders, liveIn } from '../traces/live-traces.ts';
import { readTraceEnd } from '../traces/traces.ts';
import { takeBack } from './begin-actions.ts';
import { failStuck, startDelayed } from './sweep-actions.ts';

const app: TestApp = useApp();
const homeFolder = makeHome();
let project: MadeProject;
let maintainer: MadeUser;
let runner: Runner;

/** A runner of the project, or of what the fields say. */
async function makeRunner(fields: Record<string, unknown> = {}, system?: string): Promise<Runner> {
  const body = { runner_type: 'project_type', project_id: project.id, ...fields };
  return openRunner(app, bodyOf(await app.root('POST /user/runners', { body }), 201).token, system);
}

/** Commits the file without a pipeline of the push, and starts one. */
async function start(file: string, of: MadeProject = project): Promise<number> {
  const path = `/projects/${of.id}`;
  const there = (await app.root(`GET ${path}/repository/files/.gitlab-ci.yml?ref=main`)).status === 200;
  const body = {
    branch: 'main',
    commit_message: 'Change [skip ci]',
    actions: [{ action: there ? 'update' : 'create', file_path: '.gitlab-ci.yml', content: file }],
  };
  bodyOf(await app.root(`POST ${path}/repository/commits`, { body }), 201);
  return bodyOf(await app.as(maintainer.token)(`POST ${path}/pipeline`, { body: { ref: 'main' } }), 201).id;
}

const statusOf = async (pipeline: number): Promise<string> =>
  bodyOf(await app.root(`GET /projects/${project.id}/pipelines/${pipeline}`), 200).status;
const jobsOf = async (pipeline: number, query = ''): Promise<Record<string, string>> => {
  const { body } = await app.root(`GET /projects/${project.id}/pipelines/${pipeline}/jobs`, { query });
  return Object.fromEntries(
    body.toReversed().map((job: { name: string; status: string }) => [job.name, job.status]),
  );
};
const variableOf = (job: TakenJob, key: string): string | undefined =>
  job.variables.findLast((variable) => variable.key === key)?.value;

beforeAll(async () => {
  project = await makeProject(app);
  ({ maintainer } = await makeMembers(app, `projects/${project.id}`, 'maintainer'));
  // The pipelines of this file are the only ones, and each is looked at by itself.
  await app.root(`PUT /projects/${project.id}`, { body: { auto_cancel_pending_pipelines: 'disabled' } });
  runner = await makeRunner();
});
afterAll(() => rmSync(homeFolder, { recursive: true, force: true }));

test('a pipeline runs from stage to stage', async () => {
  const pipeline = await start(
    'stages: [a, b]\nbuild:\n  stage: a\n  script: make\ntest:\n  stage: b\n  script: [make test, ls]\n',
  );
  const build = await runner.take();
  expect(build).toMatchObject({
    job_info: { name: 'build', stage: 'a', pipeline_id: pipeline, project_id: project.id },
    git_info: { ref: 'main', ref_type: 'branch', protected: true, depth: 20 },
    steps: [{ name: 'script', script: ['make'] }],
  });
  expect(variableOf(build, 'CI_JOB_NAME')).toBe('build');
  expect(variableOf(build, 'CI_PIPELINE_ID')).toBe(String(pipeline));
  expect(variableOf(build, 'CI_COMMIT_SHA')).toBe(build.git_info.sha);
  expect(variableOf(build, 'GITLAB_USER_LOGIN')).toBe(maintainer.username);
  expect(build.variables.find(({ key }) => key === 'CI_JOB_TOKEN')).toMatchObject({
    value: build.token,
    masked: true,
  });
  expect(await jobsOf(pipeline)).toEqual({ build: 'running', test: 'created' });
  expect(await statusOf(pipeline)).toBe('running');
  expect((await runner.request()).status).toBe(204);
  const updated = await runner.update(build, { state: 'success' });
  expect([updated.status, updated.text, updated.headers.get('job-status')]).toEqual([
    200,
    '"200"',
    'success',
  ]);
  const next = await runner.take();
  expect(next.steps[0]?.script).toEqual(['make test', 'ls']);
  await runner.update(next, { state: 'failed', failure_reason: 'script_failure', exit_code: 2 });
  expect(await jobsOf(pipeline)).toEqual({ build: 'success', test: 'failed' });
  expect(await statusOf(pipeline)).toBe('failed');
  const job = bodyOf(await app.root(`GET /projects/${project.id}/jobs/${next.id}`), 200);
  expect(job).toMatchObject({ failure_reason: 'script_failure', status: 'failed' });
  expect(job.started_at).not.toBeNull();
});

test('a record says which runner and process ran the job, and what its trace says of coverage', async () => {
  const pipeline = await start('build:\n  script: make\n  coverage: "/Lines: (\\\\d+\\\\.\\\\d+)%/"\n');
  const build = await runner.take();
  const show = async () => bodyOf(await app.root(`GET /projects/${project.id}/jobs/${build.id}`), 200);
  const running = await show();
  expect(running.runner).toMatchObject({ job_execution_status: 'active', runner_type: 'project_type' });
  expect(running.runner_manager).toMatchObject({ system_id: 's_test', job_execution_status: 'active' });
  expect(running.coverage).toBeNull();
  await runner.trace(build, 0, 'Lines: 1.0%\nmake\nLines: 81.25%\nend\n');
  bodyOf(await runner.update(build, { state: 'success' }), 200);
  const ended = await show();
  expect([ended.coverage, ended.runner.job_execution_status]).toEqual([81.25, 'idle']);
  const whole = bodyOf(await app.root(`GET /projects/${project.id}/pipelines/${pipeline}`), 200);
  expect(whole.coverage).toBe('81.25');
});

test('a job is handed out once, however many ask', async () => {
  const pipeline = await start('build:\n  script: make\n  parallel: 5\n');
  const runners = await Promise.all(Array.from({ length: 8 }, (_, at) => makeRunner({}, `s_${at}`)));
  const answers = await Promise.all(runners.map((each) => each.request()));
  const taken = answers.filter(({ status }) => status === 201).map(({ body }) => body.id as number);
  expect(new Set(taken).size).toBe(taken.length);
  expect(taken).toHaveLength(5);
  expect(new Set(Object.values(await jobsOf(pipeline)))).toEqual(new Set(['running']));
  for (const [at, { status, body }] of answers.entries())
    if (status === 201) await runners[at]?.update(body, { state: 'success' });
  expect(await statusOf(pipeline)).toBe('success');
});

describe('a runner', () => {
  test('takes what its tags and its kind are for', async () => {
    const file = 'tagged:\n  script: make\n  tags: [stone, lime]\nplain:\n  script: make\n';
    const pipeline = await start(file);
    const stone = await makeRunner({ tag_list: ['stone', 'lime', 'sand'], run_untagged: false });
    const other = await makeRunner({ tag_list: ['stone'], run_untagged: false });
    expect((await other.request()).status).toBe(204);
    const tagged = await stone.take();
    expect(variableOf(tagged, 'CI_JOB_NAME')).toBe('tagged');
    expect((await stone.request()).status).toBe(204);
    const elsewhere = await makeProject(app);
    const foreign = await makeRunner({ project_id: elsewhere.id });
    expect((await foreign.request()).status).toBe(204);
    const shared = await makeRunner({ runner_type: 'instance_type', project_id: undefined });
    await app.root(`PUT /projects/${project.id}`, { body: { shared_runners_enabled: false } });
    expect((await shared.request()).status).toBe(204);
    await app.root(`PUT /projects/${project.id}`, { body: { shared_runners_enabled: true } });
    const plain = await shared.take();
    expect(variableOf(plain, 'CI_JOB_NAME')).toBe('plain');
    await Promise.all([
      stone.update(tagged, { state: 'success' }),
      shared.update(plain, { state: 'success' }),
    ]);
    expect(await statusOf(pipeline)).toBe('success');
  });

  test('of protected refs takes no others, and gets what is protected', async () => {
    const guarded = await makeRunner({ access_level: 'ref_protected' });
    const value = { key: 'VAULT', value: 'granite-door', protected: true, masked: true };
    bodyOf(await app.root(`POST /projects/${project.id}/variables`, { body: value }), 201);
    await start('build:\n  script: make\n');
    const job = await guarded.take();
    expect(job.variables.find(({ key }) => key === 'VAULT')).toMatchObject({
      value: 'granite-door',
      masked: true,
    });
    await guarded.update(job, { state: 'success' });
    bodyOf(
      await app.root(`POST /projects/${project.id}/repository/branches`, {
        body: { branch: 'side', ref: 'main' },
      }),
      201,
    );
    const made = await app.as(maintainer.token)(`POST /projects/${project.id}/pipeline`, {
      body: { ref: 'side' },
    });
    expect(made.status).toBe(201);
    expect((await guarded.request()).status).toBe(204);
    const open = await runner.take();
    expect(variableOf(open, 'VAULT')).toBeUndefined();
    await runner.update(open, { state: 'success' });
  });

  test('that is unknown gets nothing, and none speaks of another’s job', async () => {
    expect((await openRunner(app, 'glrt-nobody').request()).status).toBe(403);
    await start('build:\n  script: make\n');
    const job = await runner.take();
    const forged = { ...job, token: 'glcbt-wrong' };
    for (const answer of [
      await runner.update(forged, { state: 'success' }),
      await runner.trace(forged, 0, 'x'),
      await runner.update({ ...job, id: job.id + 1_000 }, { state: 'success' }),
      await app.call(`PUT /jobs/${job.id}`, { body: { state: 'success' } }),
    ])
      expect(answer.status).toBe(403);
    expect((await runner.update(job, { state: 'success' })).status).toBe(200);
    const again = await runner.update(job, { state: 'failed' });
    expect([again.status, again.headers.get('job-status')]).toEqual([403, 'success']);
  });
});

test('a job makes its release between its scripts, by a runner that has more than one step', async () => {
  const file = `
release:
  script: make
  after_script: [make clean]
  release: { tag_name: $CI_PIPELINE_ID, description: It is "there"., milestones: [One] }
`;
  await start(file);
  const job = await runner.take({ features: { multi_build_steps: true } });
  expect(job.steps.map(({ name }) => name)).toEqual(['script', 'release', 'after_script']);
  expect(job.steps[1]).toMatchObject({ timeout: 3_600, when: 'on_success', allow_failure: false });
  expect(job.steps[1]?.script).toEqual([
    expect.stringContaining(
      'release-cli create --description "It is \\"there\\"." --tag-name "$CI_PIPELINE_ID" --milestone "One"\n',
    ),
  ]);
  await runner.update(job, { state: 'success' });
  const unsupported = await start(file);
  expect((await runner.request({ features: { multi_build_steps: false } })).status).toBe(204);
  const [failed] = bodyOf(await app.root(`GET /projects/${project.id}/pipelines/${unsupported}/jobs`), 200);
  expect(failed).toMatchObject({ status: 'failed', failure_reason: 'runner_unsupported' });
});

test('jobs of a tag know its message, and the release that is there', async () => {
  const path = `/projects/${project.id}`;
  await start('build:\n  script: make\n');
  await runner.update(await runner.take(), { state: 'success' });
  const release = { name: 'Spring', description: `${'It has $CI_JOB_ID. '.repeat(60)}` };
  const makes: [tag: string, told: Record<string, unknown>][] = [
    ['light', { CI_COMMIT_TAG_MESSAGE: '', CI_RELEASE_NAME: undefined, CI_RELEASE_DESCRIPTION: undefined }],
    ['annotated', { CI_COMMIT_TAG_MESSAGE: 'Spring\n\nIt is here', CI_RELEASE_NAME: undefined }],
    ['released', { CI_RELEASE_NAME: 'Spring', CI_RELEASE_DESCRIPTION: release.description.slice(0, 1_000) }],
    ['nameless', { CI_RELEASE_NAME: 'nameless', CI_RELEASE_DESCRIPTION: undefined }],
  ];
  for (const [tag, told] of makes) {
    const message = tag === 'annotated' ? 'Spring\n\nIt is here' : undefined;
    const body = { tag_name: tag, ref: 'main', message };
    bodyOf(await app.root(`POST ${path}/repository/tags`, { body }), 201);
    if (tag === 'released' || tag === 'nameless')
      bodyOf(
        await app.root(`POST ${path}/releases`, {
          body: { tag_name: tag, ...(tag === 'released' && release) },
        }),
        201,
      );
    const made = await app.as(maintainer.token)(`POST ${path}/pipeline`, { body: { ref: tag } });
    const { id } = bodyOf(made, 201);
    // That of the push of the tag may be there too.
    for (let taken = await runner.request(); taken.status === 201; taken = await runner.request()) {
      const job = taken.body as TakenJob;
      if ((job.job_info as { pipeline_id: number }).pipeline_id === id)
        expect([
          tag,
          Object.fromEntries(Object.keys(told).map((key) => [key, variableOf(job, key)])),
        ]).toEqual([tag, told]);
      await runner.update(job, { state: 'success' });
    }
    expect(await statusOf(id)).toBe('success');
  }
});

test('a trace grows by parts that follow one another', async () => {
  await start('build:\n  script: make\n');
  const job = await runner.take();
  const path = `/projects/${project.id}/jobs/${job.id}/trace`;
  expect((await app.root(`GET ${path}`)).text).toBe('');
  const first = await runner.trace(job, 0, 'Gränit\n');
  expect([first.status, first.headers.get('range'), first.headers.get('job-status')]).toEqual([
    202,
    '0-8',
    'running',
  ]);
  const gap = await runner.trace(job, 20, 'x');
  expect([gap.status, gap.headers.get('range')]).toEqual([416, '0-8']);
  expect((await runner.trace(job, 0, 'Gränit\n')).status).toBe(202);
  expect((await runner.trace(job, 0, 'other text')).status).toBe(416);
  const twice = await Promise.all([runner.trace(job, 8, 'Marble\n'), runner.trace(job, 8, 'Marble\n')]);
  expect(twice.map(({ status }) => status)).toEqual([202, 202]);
  const headers = { 'job-token': job.token, 'content-type': 'text/plain' };
  const bare = await app.call(`PATCH /jobs/${job.id}/trace`, { headers, form: 'x' });
  expect([bare.status, bare.body.error]).toEqual([400, '400 Missing header Content-Range']);
  expect(await readTraceEnd(app.app.services, job.id, 7)).toEqual({
    text: 'Marble\n',
    cut: true,
  });
  const shown = await app.root(`GET ${path}`);
  expect([shown.status, shown.text, shown.headers.get('content-type')]).toEqual([
    200,
    'Gränit\nMarble\n',
    'text/plain; charset=utf-8',
  ]);
  await runner.update(job, { state: 'success' });
  expect((await runner.trace(job, 15, 'late')).status).toBe(403);
});

test.each<[how: string, file: string, query: string, statuses: number[]]>([
  ['is for all who see the job', 'build:\n  script: make\n', '', [200, 200]],
  ['is for Developers where its runner debugs', 'build:\n  script: make\n', '?debug_trace=true', [403, 200]],
  [
    'is for Developers where the job is debugged',
    'build:\n  script: make\n  variables: { CI_DEBUG_TRACE: "true" }\n',
    '',
    [403, 200],
  ],
  [
    'is for all where debugging is off',
    'build:\n  script: make\n  variables: { CI_DEBUG_TRACE: "false" }\n',
    '',
    [200, 200],
  ],
])('a trace %s', async (_how, file, query, statuses) => {
  const { reporter, developer } = await makeMembers(app, `projects/${project.id}`, 'reporter', 'developer');
  await start(file);
  const job = await runner.take();
  const headers = { 'job-token': job.token, 'content-type': 'text/plain', 'content-range': '0-5' };
  expect((await app.call(`PATCH /jobs/${job.id}/trace${query}`, { headers, form: 'secret' })).status).toBe(
    202,
  );
  const path = `/projects/${project.id}/jobs/${job.id}/trace`;
  const seen = [];
  for (const { token } of [reporter, developer]) seen.push((await app.as(token)(`GET ${path}`)).status);
  expect(seen).toEqual(statuses);
  await runner.update(job, { state: 'success' });
});

test('a trace that is too long ends its job', async () => {
  await start('build:\n  script: make\n');
  const job = await runner.take();
  expect((await runner.trace(job, 100 * 1_048_576, 'x')).status).toBe(403);
  const shown = bodyOf(await app.root(`GET /projects/${project.id}/jobs/${job.id}`), 200);
  expect(shown).toMatchObject({ status: 'failed', failure_reason: 'trace_size_exceeded' });
});

test('a job that failed runs again as often as its file says', async () => {
  const pipeline = await start(
    'build:\n  script: make\n  retry:\n    max: 1\n    when: runner_system_failure\n',
  );
  const one = await runner.take();
  await runner.update(one, { state: 'failed', failure_reason: 'runner_system_failure' });
  expect(await jobsOf(pipeline)).toEqual({ build: 'pending' });
  const two = await runner.take();
  expect(two.id).not.toBe(one.id);
  await runner.update(two, { state: 'failed', failure_reason: 'runner_system_failure' });
  expect(await jobsOf(pipeline)).toEqual({ build: 'failed' });
  const once = await start('build:\n  script: make\n  allow_failure:\n    exit_codes: 3\n');
  const job = await runner.take();
  await runner.update(job, { state: 'failed', failure_reason: 'script_failure', exit_code: 3 });
  expect(await statusOf(once)).toBe('success');
});

test('a canceled job is told so: at once, or to end by itself', async () => {
  const cancel = (job: TakenJob) =>
    app.as(maintainer.token)(`POST /projects/${project.id}/jobs/${job.id}/cancel`);
  await start('build:\n  script: make\n');
  const hard = await runner.take();
  expect(bodyOf(await cancel(hard), 201).status).toBe('canceled');
  const told = await runner.update(hard, { state: 'running' });
  expect([told.status, told.headers.get('job-status')]).toEqual([403, 'canceled']);
  const pipeline = await start('build:\n  script: make\n');
  const soft = await runner.take({ features: { cancel_gracefully: true } });
  expect(bodyOf(await cancel(soft), 201).status).toBe('canceling');
  const asked = await runner.update(soft, { state: 'running' });
  expect([asked.status, asked.headers.get('job-status')]).toEqual([200, 'canceling']);
  await runner.update(soft, { state: 'success' });
  expect(await jobsOf(pipeline)).toEqual({ build: 'canceled' });
});

test('who starts a job by hand may give it variables, which it keeps when it runs again', async () => {
  const pipeline = await start(
    'build:\n  script: make\n  when: manual\n  variables: { STONE: slate }\nother:\n  script: make\n',
  );
  const other = await runner.take();
  await runner.update(other, { state: 'success' });
  const [{ id: job }] = bodyOf(
    await app.root(`GET /projects/${project.id}/pipelines/${pipeline}/jobs?scope=manual`),
    200,
  );
  const path = `/projects/${project.id}`;
  const play = (key: string) =>
    app.as(maintainer.token)(`POST ${path}/jobs/${job}/play`, {
      body: { job_variables_attributes: [{ key, value: 'granite' }] },
    });
  expect((await play('ST ONE')).status).toBe(400);
  const nobody = { ci_pipeline_variables_minimum_override_role: 'no_one_allowed' };
  bodyOf(await app.root(`PUT ${path}`, { body: nobody }), 200);
  expect((await play('STONE')).status).toBe(403);
  const anybody = { ci_pipeline_variables_minimum_override_role: 'developer' };
  bodyOf(await app.root(`PUT ${path}`, { body: anybody }), 200);
  bodyOf(await play('STONE'), 200);
  const taken = await runner.take();
  expect([variableOf(other, 'STONE'), variableOf(taken, 'STONE')]).toEqual([undefined, 'granite']);
  await runner.update(taken, { state: 'failed' });
  bodyOf(await app.as(maintainer.token)(`POST ${path}/jobs/${job}/retry`), 201);
  const again = await runner.take();
  expect(variableOf(again, 'STONE')).toBe('granite');
  await runner.update(again, { state: 'success' });
});

test('a job ends with an exit code of Windows, which its file may allow', async () => {
  const pipeline = await start(
    'lay:\n  script: make\n  allow_failure: {exit_codes: [3221225786]}\nother:\n  script: make\n',
  );
  for (const code of [3_221_225_786, 4_294_967_295]) {
    const job = await runner.take();
    const report = { state: 'failed', failure_reason: 'script_failure', exit_code: code };
    expect((await runner.update(job, report)).status).toBe(200);
  }
  const jobs = bodyOf(await app.root(`GET /projects/${project.id}/pipelines/${pipeline}/jobs`), 200);
  expect(jobs.map((job: Record<string, unknown>) => [job.name, job.status, job.allow_failure])).toEqual([
    ['other', 'failed', false],
    ['lay', 'failed', true],
  ]);
});

describe('what not every runner does', () => {
  const file = `lay:
  script: 'lay \${{ job.inputs.count }}'
  when: manual
  inputs:
    stone: {default: slate, options: [slate, granite]}
    count: {default: 3, type: number}
`;
  const features = { job_inputs: true, native_steps_integration: true, vault_secrets: true };
  const sent = ({ inputs }: TakenJob) =>
    Object.fromEntries(
      (inputs as { key: string; value: { content: unknown } }[]).map(({ key, value }) => [
        key,
        value.content,
      ]),
    );

  test('a job has the inputs of its file and of who starts it, which it keeps when it runs again', async () => {
    const pipeline = await start(file);
    const path = `/projects/${project.id}/jobs`;
    const [{ id }] = bodyOf(
      await app.root(`GET /projects/${project.id}/pipelines/${pipeline}/jobs?scope=manual`),
      200,
    );
    const call = (action: string, job_inputs: unknown, job = id) =>
      app.as(maintainer.token)(`POST ${path}/${job}/${action}`, { body: { job_inputs } });
    for (const [inputs, message] of [
      [{ clay: 1 }, 'Unknown input: clay'],
      [{ count: 'many' }, '`count` input: provided value is not a number'],
      [{ stone: 'marble' }, '`stone` input: `marble` cannot be used'],
    ] as const)
      expect(await call('play', inputs)).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining(message) },
      });
    expect((await call('play', 'count')).status).toBe(400);
    bodyOf(await call('play', { count: 7 }), 200);
    const first = await runner.take({ features });
    expect(sent(first)).toEqual({ stone: 'slate', count: 7 });
    await runner.update(first, { state: 'failed' });
    expect((await call('retry', { clay: 1 })).status).toBe(400);
    const { id: next } = bodyOf(await call('retry', { stone: 'granite' }), 201);
    const second = await runner.take({ features });
    expect([second.id, sent(second)]).toEqual([next, { stone: 'granite', count: 7 }]);
    await runner.update(second, { state: 'success' });
  });

  test('secrets are given as the place in a vault and the token that opens it', async () => {
    const secret = (more: string) =>
      `lay:\n  script: make\n  variables: {VAULT_SERVER_URL: 'https://vault.example.com'}\n${more}`;
    const pipeline = await start(secret('  secrets: {P: {vault: a/b/c}}\n'));
    expect((await runner.request({ features })).status).toBe(204);
    const [lost] = bodyOf(await app.root(`GET /projects/${project.id}/pipelines/${pipeline}/jobs`), 200);
    expect(lost).toMatchObject({ status: 'failed', failure_reason: 'secrets_provider_not_found' });
    await start(secret('  id_tokens: {ID: {aud: vault}}\n  secrets: {P: {vault: a/b/c@ops}}\n'));
    const job = await runner.take({ features });
    const jwt = variableOf(job, 'ID');
    expect(jwt).toMatch(/^ey/);
    expect(job.secrets).toMatchObject({
      P: { file: true, vault: { path: 'a/b', field: 'c', engine: { path: 'ops' } } },
    });
    expect(job).toHaveProperty('secrets.P.vault.server.url', 'https://vault.example.com');
    expect(job).toHaveProperty('secrets.P.vault.server.auth.data.jwt', jwt);
    await runner.update(job, { state: 'success' });
  });

  test('steps are given as a text, without a script', async () => {
    await start('lay:\n  run: [{name: one, script: make}]\n');
    const job = await runner.take({ features });
    expect([job.run, job.steps]).toEqual(['[{"name":"one","script":"make"}]', []]);
    await runner.update(job, { state: 'success' });
  });

  test.each([
    ['inputs', file.replace('  when: manual\n', '')],
    ['steps', 'lay:\n  run: [{name: one, script: make}]\n'],
    ['secrets', 'lay:\n  script: make\n  secrets: {P: {vault: a/b/c}}\n'],
  ])('a job with %s fails where its runner would run it without', async (_what, text) => {
    const pipeline = await start(text);
    expect((await runner.request({ features: {} })).status).toBe(204);
    const [job] = bodyOf(await app.root(`GET /projects/${project.id}/pipelines/${pipeline}/jobs`), 200);
    expect(job).toMatchObject({ status: 'failed', failure_reason: 'runner_unsupported' });
  });
});

test('a delayed job waits for a runner from its time on, and not too long after', async () => {
  const { background } = app.app.services.database;
  const pipeline = await start('build:\n  script: make\n  when: delayed\n  start_in: 10 minutes\n');
  expect(await jobsOf(pipeline)).toEqual({ build: 'scheduled' });
  await startDelayed(background);
  expect(await jobsOf(pipeline)).toEqual({ build: 'scheduled' });
  const late = async (minutes: number) => {
    await app.app.services.database.sql`
      update ci_jobs set scheduled_at = now() - make_interval(mins => ${minutes}) where status = 'scheduled'`;
    await startDelayed(background);
  };
  await late(1);
  expect(await jobsOf(pipeline)).toEqual({ build: 'pending' });
  const job = await runner.take();
  await runner.update(job, { state: 'success' });
  const stale = await start('build:\n  script: make\n  when: delayed\n  start_in: 10 minutes\n');
  await late(61);
  expect(await jobsOf(stale)).toEqual({ build: 'failed' });
});

test('a job whose runner is silent fails, and its token ends', async () => {
  const { sql, background } = app.app.services.database;
  const pipeline = await start('build:\n  script: make\n');
  const job = await runner.take();
  await failStuck(background);
  expect(await jobsOf(pipeline)).toEqual({ build: 'running' });
  await sql`update ci_jobs set updated_at = now() - interval '20 minutes' where id = ${job.id}`;
  await runner.update(job, { state: 'running' });
  await failStuck(background);
  expect(await jobsOf(pipeline)).toEqual({ build: 'running' });
  await sql`update ci_jobs set updated_at = now() - interval '61 minutes' where id = ${job.id}`;
  await failStuck(background);
  const shown = bodyOf(await app.root(`GET /projects/${project.id}/jobs/${job.id}`), 200);
  expect(shown).toMatchObject({ status: 'failed', failure_reason: 'stuck_or_timeout_failure' });
  expect((await runner.update(job, { state: 'success' })).status).toBe(403);
  expect(await sql`select id from access_tokens where kind = 'job'`).toEqual([]);
});

test('a job that cannot be handed out fails, and the next one is', async () => {
  const { sql } = app.app.services.database;
  const pipeline = await start('one:\n  script: make\ntwo:\n  script: make\n');
  await sql`update pipelines set sha = repeat('0', 40) where id = ${pipeline}`;
  const next = await start('three:\n  script: make\n');
  const job = await runner.take();
  expect([await jobsOf(pipeline), await jobsOf(next)]).toEqual([
    { one: 'failed', two: 'failed' },
    { three: 'running' },
  ]);
  await runner.update(job, { state: 'success' });
});

test('a job whose variables would grow without end fails, and the next one is handed out', async () => {
  await start('build:\n  script: make\n');
  const before = await runner.take();
  await runner.update(before, { state: 'success' });
  const values = {
    P3: 'x'.repeat(10_000),
    P2: '$P3'.repeat(3_333),
    ...Object.fromEntries(Array.from('ABCDEFGHIJ', (key) => [key, '$P2'.repeat(15)])),
  };
  const variables = Object.entries(values).map(([key, value]) => ({ key, value }));
  const body = { ref: 'main', variables };
  const path = `/projects/${project.id}`;
  const { id } = bodyOf(await app.as(maintainer.token)(`POST ${path}/pipeline`, { body }), 201);
  const next = await start('next:\n  script: make\n');
  const job = await runner.take();
  expect(job.job_info).toMatchObject({ name: 'next', pipeline_id: next });
  const [failed] = bodyOf(await app.root(`GET ${path}/pipelines/${id}/jobs`), 200);
  expect(failed).toMatchObject({ status: 'failed', failure_reason: 'data_integrity_failure' });
  await runner.update(job, { state: 'success' });
});

test('a runner asks again at once where none of twenty jobs could be handed out', async () => {
  const { sql } = app.app.services.database;
  const pipeline = await start('one:\n  script: make\n  parallel: 21\n');
  await sql`update pipelines set sha = repeat('0', 40) where id = ${pipeline}`;
  const ask = async () => {
    const { status, headers } = await runner.request();
    return [status, headers.has('x-gitlab-last-update')];
  };
  expect([await ask(), await ask()]).toEqual([
    [204, false],
    [204, true],
  ]);
});

test('a job that a fault of ours keeps back is tried three times', async () => {
  const { sql } = app.app.services.database;
  const pipeline = await start('one:\n  script: make\n');
  await sql`update ci_jobs set played_sealed = 'not sealed' where pipeline_id = ${pipeline}`;
  for (const status of [500, 500, 500, 204]) expect((await runner.request()).status).toBe(status);
  const [last] = bodyOf(await app.root(`GET /projects/${project.id}/pipelines/${pipeline}/jobs`), 200);
  expect(last).toMatchObject({ status: 'failed', failure_reason: 'scheduler_failure' });
});

describe('a runner that prepares its jobs first', () => {
  const prepares = { features: { two_phase_job_commit: true } };
  let runner: Runner;
  beforeAll(async () => {
    runner = await makeRunner();
  });
  const keep = () => takeBack(app.app.services.database.background);
  const silent = (seconds: number) => app.app.services.database.sql`
    update ci_jobs set updated_at = now() - make_interval(secs => ${seconds}) where status = 'pending'`;

  test('says when one begins', async () => {
    const pipeline = await start('build:\n  script: make\n');
    const job = await runner.take(prepares);
    expect(variableOf(job, 'CI_JOB_STARTED_AT')).toBeDefined();
    expect((await runner.request()).status).toBe(204);
    const preparing = await runner.update(job, { state: 'pending' });
    expect([preparing.status, preparing.headers.get('job-status')]).toEqual([200, 'pending']);
    expect([await jobsOf(pipeline), await statusOf(pipeline)]).toEqual([{ build: 'pending' }, 'pending']);
    const begun = await runner.update(job, { state: 'running' });
    expect([begun.status, begun.headers.get('job-status')]).toEqual([200, 'running']);
    expect([await jobsOf(pipeline), await statusOf(pipeline)]).toEqual([{ build: 'running' }, 'running']);
    expect((await runner.update(job, { state: 'pending' })).status).toBe(200);
    await silent(180);
    await keep();
    expect((await runner.update(job, { state: 'success' })).status).toBe(200);
    expect(await statusOf(pipeline)).toBe('success');
  });

  test('begins with what it writes, and ends one that it cannot run', async () => {
    const pipeline = await start('build:\n  script: make\n  parallel: 2\n');
    const writes = await runner.take(prepares);
    expect((await runner.trace(writes, 0, 'One\n')).status).toBe(202);
    const ends = await runner.take(prepares);
    expect(
      (await runner.update(ends, { state: 'failed', failure_reason: 'runner_system_failure' })).status,
    ).toBe(200);
    expect(await jobsOf(pipeline)).toEqual({ 'build 1/2': 'running', 'build 2/2': 'failed' });
    await runner.update(writes, { state: 'success' });
  });

  test('loses one of which it says nothing for two minutes', async () => {
    const pipeline = await start('build:\n  script: make\n');
    const lost = await runner.take(prepares);
    await silent(90);
    await keep();
    expect((await runner.request(prepares)).status).toBe(204);
    await silent(130);
    await runner.update(lost, { state: 'pending' });
    await keep();
    expect((await runner.request(prepares)).status).toBe(204);
    await silent(130);
    await keep();
    expect(await app.app.services.database.sql`select id from access_tokens where kind = 'job'`).toEqual([]);
    const job = await runner.take();
    expect(job.id).toBe(lost.id);
    expect((await runner.update(lost, { state: 'running' })).status).toBe(403);
    expect((await runner.update(job, { state: 'success' })).status).toBe(200);
    expect(await jobsOf(pipeline)).toEqual({ build: 'success' });
  });

  test('is told that one was canceled meanwhile', async () => {
    const pipeline = await start('build:\n  script: make\n');
    const job = await runner.take(prepares);
    bodyOf(await app.root(`POST /projects/${project.id}/pipelines/${pipeline}/cancel`), 200);
    for (const state of ['pending', 'running']) {
      const told = await runner.update(job, { state });
      expect([told.status, told.headers.get('job-status')]).toEqual([403, 'canceled']);
    }
  });
});

test('runners are not throttled by their address, but those without a good token are', async () => {
  const limits = {
    throttle_unauthenticated_api_enabled: true,
    throttle_unauthenticated_api_requests_per_period: 2,
  };
  const pipeline = await start('build:\n  script: make\n');
  bodyOf(await app.root('PUT /application/settings', { body: limits }), 200);
  const job = await runner.take();
  for (let n = 0; n < 5; n++) expect((await runner.request()).status).toBe(204);
  expect((await runner.trace(job, 0, 'One\n')).status).toBe(202);
  const stranger = openRunner(app, 'glrt-nobody');
  const refused = [];
  for (let n = 0; n < 4; n++) refused.push((await stranger.request()).status);
  expect(refused).toEqual([403, 403, 429, 429]);
  expect((await runner.update({ ...job, token: 'glcbt-other' }, { state: 'success' })).status).toBe(429);
  expect((await runner.update(job, { state: 'success' })).status).toBe(200);
  bodyOf(
    await app.root('PUT /application/settings', { body: { throttle_unauthenticated_api_enabled: false } }),
    200,
  );
  expect(await statusOf(pipeline)).toBe('success');
});

test('a job that is claimed while it is canceled is had by one of both', async () => {
  const { db, sql } = app.app.services.database;
  const pipeline = await start('build:\n  script: make\n');
  const waiting =
    "select from pg_stat_activity where wait_event_type = 'Lock' and query like '%recursive waiting%'";
  let request: Promise<Called> | undefined;
  await inTransaction(db, async (tx) => {
    // The request is who finds the deadlock.
    await raw`set local deadlock_timeout = '30s'`.execute(tx);
    await raw`select from pipelines where id = ${pipeline} for update`.execute(tx);
    if (!request) {
      request = runner.request();
      await until(async () => (await sql.unsafe(waiting)).length > 0, 'the request does not wait');
    }
    await raw`update ci_jobs set status = 'canceled' where pipeline_id = ${pipeline}`.execute(tx);
  });
  // 201 where the machine was so slow that it had found none yet.
  expect([201, 204]).toContain((await request)?.status);
});

test('jobs of one pipeline that end at the same time go together, each once', async () => {
  const pipeline = await start(
    'build:\n  script: make\n  parallel: 6\nagain:\n  script: make\n  retry: 1\nlast:\n  stage: deploy\n  script: make\n',
  );
  const nameOf = ({ job_info }: TakenJob) => (job_info as { name: string }).name;
  const jobs: TakenJob[] = [];
  for (let n = 0; n < 7; n++) jobs.push(await runner.take());
  const reports = jobs.map((job) =>
    runner.update(job, { state: nameOf(job) === 'again' ? 'failed' : 'success' }),
  );
  const twice = runner.update(jobs[0] as TakenJob, { state: 'success' });
  const codes = (await Promise.all(reports)).map(({ status }) => status);
  expect([...codes, (await twice).status].sort()).toEqual([...Array(7).fill(200), 403]);
  const again = await runner.take();
  expect(nameOf(again)).toBe('again');
  expect((await runner.update(again, { state: 'success' })).status).toBe(200);
  const last = await runner.take();
  expect([nameOf(last), (await runner.update(last, { state: 'success' })).status]).toEqual(['last', 200]);
  expect(await statusOf(pipeline)).toBe('success');
});

test('a job that goes on long after its time fails, though its runner is heard of', async () => {
  const { sql, background } = app.app.services.database;
  const pipeline = await start('build:\n  script: make\n  timeout: 20 minutes\n');
  const job = await runner.take();
  const began = async (minutes: number) => {
    await sql`update ci_jobs set started_at = now() - make_interval(mins => ${minutes}) where id = ${job.id}`;
    await failStuck(background);
  };
  await began(34);
  expect(await jobsOf(pipeline)).toEqual({ build: 'running' });
  await began(36);
  const shown = bodyOf(await app.root(`GET /projects/${project.id}/jobs/${job.id}`), 200);
  expect(shown).toMatchObject({ status: 'failed', failure_reason: 'job_execution_server_timeout' });
  const told = await runner.update(job, { state: 'running' });
  expect([told.status, told.headers.get('job-status')]).toEqual([403, 'failed']);
});

/** The jobs whose traces are files. */
async function live(): Promise<number[]> {
  const folders = await liveFolders(app.app.services.config.data);
  return (await Promise.all(folders.map(liveIn))).flat();
}

test('traces go with their jobs', async () => {
  const pipeline = await start('build:\n  script: make\n  parallel: 2\n');
  const [one, two] = [await runner.take(), await runner.take()];
  await runner.trace(one, 0, 'one');
  await runner.trace(two, 0, 'two');
  const { services } = app.app;
  await archiveTraces(services);
  expect(await live()).toEqual(expect.arrayContaining([one.id, two.id]));
  expect((await app.root(`DELETE /projects/${project.id}/pipelines/${pipeline}`)).status).toBe(204);
  expect((await runner.update(one, { state: 'success' })).status).toBe(403);
  await archiveTraces(services);
  expect(await live()).not.toContain(one.id);
});

test('the trace of a job that has ended is a blob, and goes when the job is erased', async () => {
  await start('build:\n  script: make\n');
  const job = await runner.take();
  const written = `Gränit ${job.token}\n`;
  await runner.trace(job, 0, written);
  await runner.update(job, { state: 'success' });
  const path = `/projects/${project.id}/jobs/${job.id}`;
  const { services } = app.app;
  // Not at once: a part may be on its way.
  await archiveTraces(services);
  expect([(await live()).includes(job.id), isStored(app, written)]).toEqual([true, false]);
  const back = moveClock(120_000);
  try {
    await archiveTraces(services);
    await archiveTraces(services);
  } finally {
    back();
  }
  expect([(await live()).includes(job.id), isStored(app, written)]).toEqual([false, true]);
  expect((await app.root(`GET ${path}/trace`)).text).toBe(written);
  const sizeOfAll = async () => {
    const shown = await app.root(`GET /projects/${project.id}`, { query: 'statistics=true' });
    return bodyOf(shown, 200).statistics.job_artifacts_size;
  };
  // Traces of other jobs came to rest, too.
  const withIt = await sizeOfAll();
  expect(await readTraceEnd(services, job.id, 3)).toEqual({ text: written.slice(-3), cut: true });
  bodyOf(await app.root(`POST ${path}/erase`), 201);
  expect(await sizeOfAll()).toBe(withIt - Buffer.byteLength(written));
  expect((await app.root(`GET ${path}/trace`)).text).toBe('');
  expect(isStored(app, written)).toBe(false);
});

test('a trace that cannot be archived holds up no other, and a turn that is over leaves the rest to a job', async () => {
  await start('one:\n  script: make\ntwo:\n  script: make\n');
  const [one, two] = [await runner.take(), await runner.take()];
  for (const job of [one, two]) {
    await runner.trace(job, 0, `of ${job.token}`);
    await runner.update(job, { state: 'success' });
  }
  const { services } = app.app;
  const fileOf = ({ id }: TakenJob) =>
    join(services.config.data, 'ci', 'traces', String(id % 1_000), `${id}.log`);
  // No trace can be read that is a folder.
  rmSync(fileOf(one));
  mkdirSync(fileOf(one));
  const back = moveClock(120_000);
  try {
    await archiveTraces(services, {}, 0);
    await until(async () => !(await live()).includes(two.id), 'the trace was not archived');
    expect(await live()).toContain(one.id);
    rmdirSync(fileOf(one));
    writeFileSync(fileOf(one), `of ${one.token}`);
    await archiveTraces(services);
  } finally {
    back();
  }
  expect([one, two].map(({ token }) => isStored(app, `of ${token}`))).toEqual([true, true]);
});

test('keys of caches change with the files that they name', async () => {
  const file = `build:
  script: make
  cache:
    - {key: {files: [deps.lock, none.lock], prefix: deps}, paths: [deps]}
    - {key: {files_commits: [deps.lock]}, paths: [deps], fallback_keys: [other], unprotect: true}
    - {key: plain, paths: [deps]}
    - {key: {files_commits: [none.lock, ../deps.lock], prefix: none}, paths: [deps]}
`;
  const write = async (action: string, content: string): Promise<void> => {
    const actions = [{ action, file_path: 'deps.lock', content }];
    const body = { branch: 'main', commit_message: 'Lock [skip ci]', actions };
    bodyOf(await app.root(`POST /projects/${project.id}/repository/commits`, { body }), 201);
  };
  const keys = async (): Promise<string[]> => {
    await start(file);
    const { cache, ...build } = (await runner.take()) as TakenJob & { cache: { key: string }[] };
    await runner.update(build, { state: 'success' });
    return cache.map(({ key }) => key);
  };
  await write('create', 'one');
  const first = await keys();
  expect(first).toEqual([
    expect.stringMatching(/^deps-[0-9a-f]{40}-protected$/),
    expect.stringMatching(/^1_deps-[0-9a-f]{40}-non_protected$/),
    'plain-protected',
    'none-default-protected',
  ]);
  expect(await keys()).toEqual(first);
  await write('update', 'two');
  const second = await keys();
  expect(second.map((key, at) => key === first[at])).toEqual([false, false, true, true]);
  await write('update', 'one');
  const third = await keys();
  expect(third.map((key, at) => key === first[at])).toEqual([true, false, true, true]);
});

test('the token of a job clones its project while it runs, and opens nothing else', async () => {
  const hidden = await makeProject(app);
  await app.root(`POST /projects/${hidden.id}/repository/commits`, {
    body: {
      branch: 'main',
      commit_message: 'x',
      actions: [{ action: 'create', file_path: 'x', content: 'x' }],
    },
  });
  await app.root(`POST /projects/${hidden.id}/members`, {
    body: { user_id: maintainer.id, access_level: 40 },
  });
  await start('build:\n  script: make\n');
  const job = await runner.take();
  const git = (...args: string[]) => runGit(homeFolder, args);
  const fetch = async (url: string) => {
    await git('init', '-q', '.');
    return (await git('fetch', '-q', '--depth', '20', url, ...job.git_info.refspecs)).code;
  };
  expect(await fetch(job.git_info.repo_url)).toBe(0);
  expect((await git('rev-parse', `refs/pipelines/${variableOf(job, 'CI_PIPELINE_ID')}`)).output.trim()).toBe(
    job.git_info.sha,
  );
  const other = job.git_info.repo_url.replace(project.path_with_namespace, hidden.path_with_namespace);
  expect((await git('ls-remote', other)).code).not.toBe(0);
  const headers = { 'job-token': job.token };
  expect((await app.call(`GET /projects/${project.id}`, { headers })).status).toBe(401);
  expect((await app.call('GET /user', { headers: { 'private-token': job.token } })).status).toBe(401);
  await runner.update(job, { state: 'success' });
  expect((await git('ls-remote', job.git_info.repo_url)).code).not.toBe(0);
});
