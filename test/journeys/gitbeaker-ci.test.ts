/** An independent JavaScript client, @gitbeaker/rest, over pipelines and all around them. */
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openRunner, type Runner } from '../support/runner.ts';
import { zipOf } from '../support/zip.ts';
import { ids, refusal, soon, useGitbeaker } from './gitbeaker-client.ts';
import { siteOfRunners } from './runner-site.ts';

const gitbeaker = useGitbeaker();

const textOf = async (file: Blob | string): Promise<string> =>
  typeof file === 'string' ? file : file.text();

/** A project with the file, and a runner of its own. */
async function makeTeam(path: string, file: string): Promise<{ id: number; sha: string; runner: Runner }> {
  const { root } = gitbeaker;
  const { id } = await root.Projects.create({ name: path, path });
  const action = { action: 'create' as const, filePath: '.gitlab-ci.yml', content: file };
  const { id: sha } = await root.Commits.create(id, 'main', 'Begin [skip ci]', [action]);
  const { token } = await root.Users.createCIRunner('project_type', { projectId: id, description: 'Kiln' });
  return {
    id,
    sha: String(sha),
    runner: openRunner(
      siteOfRunners(() => gitbeaker.url),
      String(token),
    ),
  };
}

const FILE = `
stages: [build, deploy]
build:
  stage: build
  script: [make]
  artifacts: { paths: [out] }
deploy:
  stage: deploy
  script: [make deploy]
  when: manual
  resource_group: ground
  environment: { name: production, url: https://example.com }
`;

test('pipelines, their jobs, artifacts and reports', async () => {
  const { root } = gitbeaker;
  const { id, sha, runner } = await makeTeam('built', FILE);
  const made = await root.Pipelines.create(id, 'main', { variables: [{ key: 'STONE', value: 'granite' }] });
  expect(made).toMatchObject({
    sha,
    ref: 'main',
    source: 'api',
    status: 'pending',
    user: { username: 'root' },
  });
  expect(await root.Pipelines.allVariables(id, made.id)).toMatchObject([{ key: 'STONE', value: 'granite' }]);
  const job = await runner.take();
  expect(job.variables.findLast(({ key }) => key === 'STONE')?.value).toBe('granite');
  await runner.trace(job, 0, 'It is made.\n');
  await runner.upload(job, zipOf({ name: 'out/a.txt', content: 'A\n' }), {
    artifact_type: 'archive',
    artifact_format: 'zip',
  });
  const junit =
    '<testsuite name="s"><testcase name="one"/><testcase name="two"><failure>No</failure></testcase></testsuite>';
  const report = { artifact_type: 'junit', artifact_format: 'gzip' };
  expect((await runner.upload(job, gzipSync(junit), report, 'junit.xml.gz')).status).toBe(201);
  await runner.update(job, { state: 'success' });
  expect(await root.Pipelines.show(id, made.id)).toMatchObject({ status: 'success' });
  expect(ids(await root.Pipelines.all(id, { status: 'success', ref: 'main' }))).toEqual([made.id]);
  expect(await root.Pipelines.showLatest(id)).toMatchObject({ id: made.id });
  expect(await root.Pipelines.showTestReport(id, made.id)).toMatchObject({ total_count: 2, failed_count: 1 });
  expect(await root.Pipelines.showTestReportSummary(id, made.id)).toMatchObject({
    total: { count: 2, failed: 1 },
  });

  const jobs = await root.Jobs.all(id, { pipelineId: made.id });
  expect(jobs.map(({ name, status }) => [name, status])).toEqual([
    ['deploy', 'manual'],
    ['build', 'success'],
  ]);
  expect(ids(await root.Jobs.all(id, { scope: 'success' }))).toEqual([job.id]);
  expect(await root.Jobs.show(id, job.id)).toMatchObject({ name: 'build', runner: { description: 'Kiln' } });
  expect(await root.Jobs.showLog(id, job.id)).toBe('It is made.\n');
  expect(await root.Jobs.allPipelineBridges(id, made.id)).toEqual([]);

  const file = await root.JobArtifacts.downloadArchive(id, { jobId: job.id, artifactPath: 'out/a.txt' });
  expect(await textOf(file)).toBe('A\n');
  const latest = await root.JobArtifacts.downloadArchive(id, { ref: 'main', job: 'build' });
  expect(Buffer.from(await latest.arrayBuffer()).includes('out/a.txt')).toBe(true);
  const ofLatest = { ref: 'main', job: 'build', artifactPath: 'out/a.txt' };
  expect(await textOf(await root.JobArtifacts.downloadArchive(id, ofLatest))).toBe('A\n');
  await root.JobArtifacts.keep(id, job.id);
  expect(await root.Jobs.show(id, job.id)).toMatchObject({ artifacts_expire_at: null });
  await root.JobArtifacts.remove(id, { jobId: job.id });
  expect((await refusal(root.JobArtifacts.downloadArchive(id, { jobId: job.id })))[0]).toBe(404);
  await root.Jobs.erase(id, job.id);
  expect(await root.Jobs.showLog(id, job.id)).toBe('');

  const again = await root.Jobs.retry(id, job.id);
  expect(again).toMatchObject({ name: 'build', status: 'pending' });
  expect(await root.Jobs.cancel(id, again.id)).toMatchObject({ status: 'canceled' });
  expect(await root.Pipelines.show(id, made.id)).toMatchObject({ status: 'canceled' });
  expect(await root.Pipelines.retry(id, made.id)).toMatchObject({ id: made.id, status: 'pending' });
  expect(await root.Pipelines.cancel(id, made.id)).toMatchObject({ status: 'canceled' });
  await root.Pipelines.remove(id, made.id);
  expect((await refusal(root.Pipelines.show(id, made.id)))[0]).toBe(404);
});

test('environments, deployments and resource groups', async () => {
  const { root } = gitbeaker;
  const { id, sha, runner } = await makeTeam('deployed', FILE);
  const pipeline = await root.Pipelines.create(id, 'main');
  await runner.update(await runner.take(), { state: 'success' });
  const [deploy] = await root.Jobs.all(id, { pipelineId: pipeline.id, scope: 'manual' });
  await root.Jobs.play(id, Number(deploy?.id), {
    jobVariablesAttributes: [{ key: 'STONE', value: 'slate' }],
  });
  const job = await runner.take();
  expect(job.variables.findLast(({ key }) => key === 'STONE')?.value).toBe('slate');
  expect(await root.ResourceGroups.all(id)).toMatchObject([{ key: 'ground', process_mode: 'unordered' }]);
  expect(await root.ResourceGroups.edit(id, 'ground', { processMode: 'oldest_first' })).toMatchObject({
    process_mode: 'oldest_first',
  });
  expect(await root.ResourceGroups.show(id, 'ground')).toMatchObject({ process_mode: 'oldest_first' });
  expect(await root.ResourceGroups.allUpcomingJobs(id, 'ground')).toEqual([]);
  await runner.update(job, { state: 'success' });
  const [deployment] = await root.Deployments.all(id, { environment: 'production' });
  expect(deployment).toMatchObject({ status: 'success', sha, deployable: { id: job.id } });
  const [production] = await root.Environments.all(id, { name: 'production' });
  const environment = Number(production?.id);
  expect(await root.Environments.show(id, environment)).toMatchObject({
    state: 'available',
    external_url: 'https://example.com',
    last_deployment: { id: deployment?.id },
  });
  const own = await root.Deployments.create(id, 'staging', sha, 'main', false, { status: 'running' });
  expect(await root.Deployments.edit(id, own.id, 'success')).toMatchObject({ status: 'success' });
  expect(await root.Deployments.show(id, own.id)).toMatchObject({ environment: { name: 'staging' } });
  await root.Environments.edit(id, environment, { externalUrl: 'https://example.org', tier: 'production' });
  expect(await root.Environments.stop(id, environment)).toMatchObject({
    state: expect.stringMatching(/^stop/),
  });
  await root.Environments.remove(id, environment);
  const review = await root.Environments.create(id, 'review/one', { tier: 'development' });
  expect(await root.Environments.all(id, { search: 'review' })).toMatchObject([{ id: review.id }]);
  const period = await root.FreezePeriods.create(id, '0 23 * * 5', '0 7 * * 1', { cronTimezone: 'UTC' });
  expect(await root.FreezePeriods.edit(id, period.id, { freezeEnd: '0 8 * * 1' })).toMatchObject({
    freeze_end: '0 8 * * 1',
  });
  expect(ids(await root.FreezePeriods.all(id))).toEqual([period.id]);
  await root.FreezePeriods.remove(id, period.id);
  expect(await root.FreezePeriods.all(id)).toEqual([]);
});

test('variables, triggers and schedules', async () => {
  const { root } = gitbeaker;
  const { id } = await makeTeam('scheduled', FILE);
  const group = await gitbeaker.makeGroup('stones');
  for (const [variables, of] of [
    [root.ProjectVariables, id],
    [root.GroupVariables, group.id],
  ] as const) {
    expect(await variables.create(of, 'STONE', 'granite-1', { masked: true, protected: true })).toMatchObject(
      {
        key: 'STONE',
        value: 'granite-1',
        masked: true,
        variable_type: 'env_var',
      },
    );
    await variables.edit(of, 'STONE', 'sandstone', { raw: true, filter: { environment_scope: '*' } });
    expect(await variables.show(of, 'STONE')).toMatchObject({ value: 'sandstone', raw: true });
    expect((await variables.all(of)).map(({ key }) => key)).toEqual(['STONE']);
    await variables.remove(of, 'STONE');
    expect(await variables.all(of)).toEqual([]);
  }
  await root.InstanceLevelCICDVariables.create('EVERYWHERE', 'slate');
  await root.InstanceLevelCICDVariables.edit('EVERYWHERE', 'marble');
  expect(await root.InstanceLevelCICDVariables.show('EVERYWHERE')).toMatchObject({ value: 'marble' });
  // The client's own `remove` sends a GET.
  await root.requester.delete('admin/ci/variables/EVERYWHERE');
  expect(await root.InstanceLevelCICDVariables.all()).toEqual([]);

  const trigger = await root.PipelineTriggerTokens.create(id, 'From the quarry');
  await root.PipelineTriggerTokens.edit(id, trigger.id, { description: 'From the wall' });
  expect(await root.PipelineTriggerTokens.show(id, trigger.id)).toMatchObject({
    description: 'From the wall',
  });
  const variables = { STONE: 'lime' };
  const triggered = await root.PipelineTriggerTokens.trigger(id, 'main', trigger.token, { variables });
  expect(await root.Pipelines.show(id, triggered.id)).toMatchObject({ source: 'trigger' });
  expect(await root.Pipelines.allVariables(id, triggered.id)).toMatchObject([
    { key: 'STONE', value: 'lime' },
  ]);
  await root.PipelineTriggerTokens.remove(id, trigger.id);
  expect(await root.PipelineTriggerTokens.all(id)).toEqual([]);

  const made = await root.PipelineSchedules.create(id, 'Nightly', 'main', '0 1 * * *', {
    cronTimezone: 'Berlin',
  });
  expect(made).toMatchObject({ active: true, cron: '0 1 * * *', owner: { username: 'root' } });
  await root.PipelineSchedules.edit(id, made.id, { description: 'Weekly', cron: '0 1 * * 5' });
  await root.PipelineScheduleVariables.create(id, made.id, 'STONE', 'granite');
  await root.PipelineScheduleVariables.edit(id, made.id, 'STONE', 'chalk');
  await root.PipelineSchedules.takeOwnership(id, made.id);
  expect(await root.PipelineSchedules.show(id, made.id)).toMatchObject({
    description: 'Weekly',
    variables: [{ key: 'STONE', value: 'chalk' }],
  });
  await root.PipelineSchedules.run(id, made.id);
  const sources = async () =>
    (await root.PipelineSchedules.allTriggeredPipelines(id, made.id)).map(({ source }) => source);
  await expect.poll(sources, soon).toEqual(['schedule']);
  await root.PipelineScheduleVariables.remove(id, made.id, 'STONE');
  await root.PipelineSchedules.remove(id, made.id);
  expect(await root.PipelineSchedules.all(id)).toEqual([]);
});

test('runners', async () => {
  const { root } = gitbeaker;
  const { id } = await makeTeam('kiln', FILE);
  const other = await root.Projects.create({ name: 'borrower', path: 'borrower' });
  const [made] = await root.Runners.all({ projectId: id });
  const runner = Number(made?.id);
  expect(made).toMatchObject({ description: 'Kiln', runner_type: 'project_type', status: 'never_contacted' });
  expect(await root.Runners.edit(runner, { tagList: ['stone'], runUntagged: false })).toMatchObject({
    tag_list: ['stone'],
    run_untagged: false,
  });
  expect(await root.Runners.show(runner)).toMatchObject({ projects: [{ id }] });
  expect(await root.Runners.enable(other.id, runner)).toMatchObject({ id: runner });
  expect(ids(await root.Runners.all({ projectId: other.id }))).toContain(runner);
  await root.Runners.disable(other.id, runner);
  expect(ids(await root.Runners.all({ projectId: other.id }))).toEqual([]);
  await root.Runners.remove({ runnerId: runner });
  expect((await refusal(root.Runners.show(runner)))[0]).toBe(404);
});

test('configuration files are checked', async () => {
  const { root } = gitbeaker;
  const { id } = await makeTeam('checked', FILE);
  expect(await root.Lint.check(id, { dryRun: true })).toMatchObject({ valid: true, errors: [] });
  expect(await root.Lint.lint(id, 'a: {script: make, sript: 1}')).toMatchObject({
    valid: false,
    errors: ['jobs:a config contains unknown keys: sript (line 1, column 19)'],
  });
});

test('releases with their links', async () => {
  const { root } = gitbeaker;
  const { id } = await makeTeam('released', FILE);
  const made = await root.ProjectReleases.create(id, {
    tagName: 'v1',
    ref: 'main',
    name: 'First',
    description: 'One',
  });
  expect(made).toMatchObject({ tag_name: 'v1', name: 'First', commit: { title: 'Begin [skip ci]' } });
  const link = await root.ReleaseLinks.create(id, 'v1', 'Program', 'https://example.com/program', {
    linkType: 'package',
    filePath: '/bin/program',
  });
  expect(await root.ReleaseLinks.edit(id, 'v1', link.id, { name: 'Tool' })).toMatchObject({ name: 'Tool' });
  expect(ids(await root.ReleaseLinks.all(id, 'v1'))).toEqual([link.id]);
  expect(await root.ProjectReleases.edit(id, 'v1', { description: 'Two' })).toMatchObject({
    description: 'Two',
  });
  expect(await root.ProjectReleases.show(id, 'v1', { includeHtmlDescription: true })).toMatchObject({
    description_html: expect.stringContaining('Two'),
    assets: { links: [{ name: 'Tool' }] },
  });
  expect(await root.ProjectReleases.showLatest(id)).toMatchObject({ tag_name: 'v1' });
  expect((await root.ProjectReleases.all(id)).map(({ tag_name }) => tag_name)).toEqual(['v1']);
  await root.ReleaseLinks.remove(id, 'v1', link.id);
  await root.ProjectReleases.remove(id, 'v1');
  expect(await root.ProjectReleases.all(id)).toEqual([]);
});
