/**
 * Runners of PyPI that nobody here wrote, unchanged, run what is pushed: gitlab-python-runner, and gitlab-runner-api by a
 * script in published-runner.py.
 *
 * What the program cannot do, and is not asked here: it knows no timeout but that which it reads in the file itself, masks
 * nothing, caches nothing, sends no reports, says of no failure why, and hangs when a script goes on writing to a job that was
 * canceled. A file in the project is read by the program too, and it refuses one with `parallel`; where it finds none, it runs
 * what the service tells it.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addressOf, commitFiles, mustGit } from '../support/git.ts';
import { refusal, useGitbeaker } from './gitbeaker-client.ts';
import { registerRunner, startOneJob } from './published-runner.ts';
import { mustEnd, startPython } from './python.ts';
import { makeFolder, ROOT_TOKEN } from './support.ts';

const gitbeaker = useGitbeaker();

/** For what another process does. */
const eventually = { timeout: 120_000, interval: 100 };

/** Of a file that the client may take for text. */
const textOf = (file: Blob | string) => (typeof file === 'string' ? file : file.text());

/** A project with a clone of it and a runner of its own. */
async function makeTeam(path: string, tags: readonly string[] = ['other', 'shell']) {
  const { root, url } = gitbeaker;
  const { id } = await root.Projects.create({ name: path, path });
  const home = makeFolder();
  const work = join(home, 'work');
  await mustGit(home, ['clone', '-q', addressOf(url, `root/${path}`, ROOT_TOKEN), work]);
  await mustGit(work, ['checkout', '-q', '-B', 'main']);
  const { token } = (await root.requester
    .post(`projects/${id}/runners/reset_registration_token`)
    .then(({ body }) => body)) as unknown as { token: string };
  if (tags.length > 0) await registerRunner(home, url, token, tags);
  return {
    id,
    home,
    token,
    /** Pushes the files, and finds the pipeline that the push makes; its id. */
    async push(files: Record<string, string>): Promise<number> {
      await commitFiles(work, files);
      await mustGit(work, ['push', '-q', 'origin', 'main']);
      const sha = (await mustGit(work, ['rev-parse', 'HEAD'])).trim();
      const found = async () => (await root.Pipelines.all(id, { sha })).map((each) => each.id);
      await expect.poll(found, eventually).toHaveLength(1);
      return Number((await found())[0]);
    },
    /** The statuses of the jobs, by their names. */
    async statuses(pipelineId: number): Promise<Record<string, string>> {
      const jobs = await root.Jobs.all(id, { pipelineId });
      return Object.fromEntries(jobs.map(({ name, status }) => [name, status]));
    },
    /** Runs jobs until none waits; how often it ran one. */
    async runAll(pipelineId: number): Promise<number> {
      for (let ran = 0; ; ran += 1) {
        const jobs = await root.Jobs.all(id, { pipelineId });
        if (!jobs.some(({ status }) => status === 'pending')) return ran;
        await startOneJob(home).ended;
      }
    },
    jobOf: async (pipelineId: number, name: string) => {
      const job = (await root.Jobs.all(id, { pipelineId })).find((each) => each.name === name);
      if (!job) throw new Error(`no job ${name}`);
      return job;
    },
    logOf: async (pipelineId: number, name: string): Promise<string> => {
      const job = (await root.Jobs.all(id, { pipelineId })).find((each) => each.name === name);
      return root.Jobs.showLog(id, Number(job?.id));
    },
  };
}

const file = `
stages: [build, test, deploy]
default:
  tags: [shell]
variables:
  COLOUR: blue
  SENTENCE: "the sky is $COLOUR"
build:
  stage: build
  script:
    - mkdir -p out/deep
    - echo "built at $CI_COMMIT_SHORT_SHA by job $CI_JOB_ID of $CI_PROJECT_PATH" > out/deep/built.txt
    - echo skipped > out/skipped.log
    - cat README.md
  artifacts:
    paths: [out/*]
    exclude: [out/*.log]
    expire_in: 1 week
test:
  stage: test
  needs: [build]
  variables:
    OWN: "job $CI_JOB_NAME in $CI_JOB_STAGE"
  before_script:
    - SHELL_KEEPS=granite
  script:
    - echo "before it was $SHELL_KEEPS"
    - cat out/deep/built.txt
    - test ! -e out/skipped.log
    - echo "SENTENCE is $SENTENCE"
    - echo "KEPT is $KEPT"
    - echo "OWN is $OWN"
    - cat "$NOTE" && echo
    - echo "covered 87.5% of lines"
  after_script:
    - echo "it was $CI_PIPELINE_SOURCE of $CI_COMMIT_BRANCH"
  coverage: '/covered \\d+\\.\\d+%/'
early:
  stage: test
  needs: []
  script: ["test ! -e out", "echo needs nothing"]
matrix:
  stage: test
  script: ['echo "[$SHAPE $SIZE] $CI_NODE_INDEX/$CI_NODE_TOTAL"']
  parallel:
    matrix:
      - SHAPE: [round, square]
        SIZE: ["1", "2"]
flaky:
  stage: test
  retry: 1
  script: ['test -e "$MARK" || { touch "$MARK"; exit 1; }']
allowed:
  stage: test
  allow_failure: true
  script: ["echo it fails", "exit 3"]
deploy:
  stage: deploy
  when: manual
  dependencies: [build]
  environment:
    name: production
    url: https://house.example.com
  script: ['echo "deploys with $PLAYED to $CI_ENVIRONMENT_NAME"', "cat out/deep/built.txt"]
  allow_failure: false
`;

test('what is pushed is built, tested and deployed by the runner', async () => {
  const { root } = gitbeaker;
  const { id, home, push, runAll, statuses, jobOf, logOf } = await makeTeam('house');
  const [registered] = await root.Runners.all({ projectId: id });
  expect(registered).toMatchObject({
    description: 'A runner of PyPI',
    runner_type: 'project_type',
    paused: false,
  });
  // It sends a form with `tag_list` twice, of which the last counts.
  expect(await root.Runners.show(Number(registered?.id))).toMatchObject({
    tag_list: ['shell'],
    run_untagged: false,
  });
  await root.ProjectVariables.create(id, 'KEPT', 'for the project');
  await root.ProjectVariables.create(id, 'NOTE', 'text of a file', { variableType: 'file' });
  await root.ProjectVariables.create(id, 'MARK', join(home, 'mark'));
  const { id: elsewhere } = await root.Projects.create({ name: 'plans', path: 'plans' });
  await root.RepositoryFiles.create(elsewhere, 'house.yml', 'main', file, 'Plan');
  await root.Projects.edit(id, { ciConfigPath: 'house.yml@root/plans' });
  const pipeline = await push({ 'README.md': 'Hello, it is read.\n' });
  expect(await root.Pipelines.show(id, pipeline)).toMatchObject({ status: 'pending', source: 'push' });
  // Each job once, and one twice.
  expect(await runAll(pipeline)).toBe(10);
  expect(await statuses(pipeline)).toEqual({
    build: 'success',
    test: 'success',
    early: 'success',
    'matrix: [round, 1]': 'success',
    'matrix: [round, 2]': 'success',
    'matrix: [square, 1]': 'success',
    'matrix: [square, 2]': 'success',
    flaky: 'success',
    allowed: 'failed',
    deploy: 'manual',
  });
  expect(await root.Pipelines.show(id, pipeline)).toMatchObject({ status: 'manual', coverage: '87.50' });

  const build = await jobOf(pipeline, 'build');
  const sha = build.commit.short_id;
  const built = `built at ${sha} by job ${build.id} of root/house`;
  expect(await logOf(pipeline, 'build')).toContain('Hello, it is read.');
  const log = await logOf(pipeline, 'test');
  for (const line of [
    built,
    'SENTENCE is the sky is blue',
    'KEPT is for the project',
    'OWN is job test in test',
    'before it was granite',
    'text of a file',
    'it was push of main',
    'Job complete success=True',
  ])
    expect(log).toContain(`${line}\n`);
  expect(log).toMatch(/section_start:\d+:job\r/);
  expect(await logOf(pipeline, 'matrix: [square, 2]')).toContain('[square 2] 4/4');
  const all = await root.Jobs.all(id, { pipelineId: pipeline, includeRetried: true });
  expect(all.filter(({ name }) => name === 'flaky').map(({ status }) => status)).toEqual([
    'success',
    'failed',
  ]);
  expect(build.runner).toMatchObject({ description: 'A runner of PyPI' });
  expect(build.artifacts_file?.filename).toBe('archive.zip');
  const one = await root.JobArtifacts.downloadArchive(id, {
    jobId: build.id,
    artifactPath: 'out/deep/built.txt',
  });
  expect(await textOf(one)).toBe(`${built}\n`);
  const archive = await root.JobArtifacts.downloadArchive(id, { jobId: build.id });
  const bytes = Buffer.from(await archive.arrayBuffer());
  expect(bytes.subarray(0, 2).toString()).toBe('PK');
  expect(bytes.includes('out/deep/built.txt')).toBe(true);
  expect(bytes.includes('skipped.log')).toBe(false);

  const deploy = await jobOf(pipeline, 'deploy');
  await root.Jobs.play(id, deploy.id, { jobVariablesAttributes: [{ key: 'PLAYED', value: 'care' }] });
  expect(await runAll(pipeline)).toBe(1);
  expect(await root.Pipelines.show(id, pipeline)).toMatchObject({
    status: 'success',
    detailed_status: { text: 'Warning' },
  });
  const deployed = await logOf(pipeline, 'deploy');
  expect(deployed).toContain('deploys with care to production');
  expect(deployed).toContain(built);
  const [production] = await root.Environments.all(id);
  expect(production).toMatchObject({ name: 'production', external_url: 'https://house.example.com' });
  expect(await root.Deployments.all(id)).toMatchObject([
    { status: 'success', environment: { name: 'production' } },
  ]);
});

test('a script that fails, one that takes too long, and one that is canceled', async () => {
  const { root } = gitbeaker;
  const { id, home, push, runAll, statuses, jobOf, logOf } = await makeTeam('faults');
  const failing = await push({
    '.gitlab-ci.yml': `
default: {tags: [shell]}
fails: {stage: build, script: ["echo before", "false", "echo never"], artifacts: {when: on_failure, paths: [left.txt]}, before_script: ["echo left > left.txt"]}
slow: {stage: build, script: ["exec sleep 200"], timeout: 0.05m}
follows: {stage: test, script: ["true"]}
tidies: {stage: deploy, when: always, script: ["echo tidy"]}
helps: {stage: deploy, when: on_failure, script: ["echo help"]}
`,
  });
  expect(await runAll(failing)).toBe(4);
  expect(await statuses(failing)).toEqual({
    fails: 'failed',
    slow: 'failed',
    follows: 'skipped',
    tidies: 'success',
    helps: 'success',
  });
  expect(await root.Pipelines.show(id, failing)).toMatchObject({ status: 'failed' });
  const fails = await jobOf(failing, 'fails');
  expect(fails).toMatchObject({ failure_reason: 'unknown_failure' });
  const log = await logOf(failing, 'fails');
  expect(log).toContain('before\n');
  expect(log).not.toContain('never\n');
  const left = await root.JobArtifacts.downloadArchive(id, { jobId: fails.id, artifactPath: 'left.txt' });
  expect(await textOf(left)).toBe('left\n');

  const canceled = await push({
    '.gitlab-ci.yml': `
default: {tags: [shell]}
long: {script: ["touch ${home}/begun", "while ! test -e ${home}/canceled; do sleep 0.1; done"]}
`,
  });
  const running = startOneJob(home);
  await expect.poll(() => existsSync(join(home, 'begun')), eventually).toBe(true);
  expect(await statuses(canceled)).toEqual({ long: 'running' });
  const long = await jobOf(canceled, 'long');
  expect(await root.Jobs.cancel(id, long.id)).toMatchObject({ status: 'canceled' });
  writeFileSync(join(home, 'canceled'), '');
  expect((await running.ended).output).toContain(`Job ${long.id} was cancelled`);
  expect(await root.Pipelines.show(id, canceled)).toMatchObject({ status: 'canceled' });
  expect(await statuses(canceled)).toEqual({ long: 'canceled' });
});

test('a runner takes what its tags allow, and is forgotten when it goes', async () => {
  const { root } = gitbeaker;
  const { id, home, push, statuses } = await makeTeam('tags', ['shell']);
  const pipeline = await push({
    '.gitlab-ci.yml': `
untagged: {script: ["true"]}
elsewhere: {tags: [elsewhere], script: ["true"]}
here: {tags: [shell], script: ["true"]}
`,
  });
  expect((await startOneJob(home).ended).code).toBe(0);
  const after = { untagged: 'pending', elsewhere: 'pending', here: 'success' };
  expect(await statuses(pipeline)).toEqual(after);
  await mustEnd(startPython(home, ['-m', 'GitlabPyRunner', '--unregister']));
  expect(await root.Runners.all({ projectId: id })).toEqual([]);
  const none = startPython(makeFolder(), [
    ...['-m', 'GitlabPyRunner', '--register', gitbeaker.url, '--regtoken', 'wrong', '--tag', 'shell'],
  ]);
  expect(await none.ended).toMatchObject({ code: 1, output: expect.stringContaining('403 Client Error') });
});

test('gitlab-runner-api speaks the protocol', async () => {
  const { root } = gitbeaker;
  const { id, home, token, push, statuses, logOf, jobOf } = await makeTeam('library', []);
  const pipeline = await push({
    '.gitlab-ci.yml': `
default: {tags: [library]}
good: {stage: build, script: [make], after_script: [make clean]}
bad: {stage: build, script: [make bad]}
long: {stage: build, script: [make long]}
`,
  });
  writeFileSync(
    join(home, 'settings.json'),
    JSON.stringify({ url: gitbeaker.url, token, root: ROOT_TOKEN, project: id }),
  );
  const script = join(import.meta.dirname, 'published-runner.py');
  await mustEnd(startPython(home, ['-W', 'ignore', script]));
  expect(await statuses(pipeline)).toEqual({ good: 'success', bad: 'failed', long: 'canceled' });
  expect(await jobOf(pipeline, 'bad')).toMatchObject({ failure_reason: 'script_failure' });
  expect(await logOf(pipeline, 'good')).toBe(
    'Running with gitlab_runner_api 1.0.4\nIt begins.\nIt goes on.\nIt is done.\n',
  );
  expect(await root.Pipelines.show(id, pipeline)).toMatchObject({ status: 'failed' });
  expect((await refusal(root.Runners.verify({ token: 'wrong' } as object)))[0]).toBe(403);
});
