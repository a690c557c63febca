/**
 * A project that tests and releases itself: by the runner of PyPI (published-runner.ts), by semantic-release inside a job, and
 * by what release-cli sends, for which release-cli.sh stands: no registry serves the program.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addressOf, commitFiles, mustGit } from '../support/git.ts';
import { openRunner, type TakenJob } from '../support/runner.ts';
import { inDays, useGitbeaker } from './gitbeaker-client.ts';
import { installed } from './programs.ts';
import { registerRunner, startOneJob } from './published-runner.ts';
import { siteOfRunners } from './runner-site.ts';
import { makeFolder } from './support.ts';

const gitbeaker = useGitbeaker();
/** For what another process does. */
const eventually = { timeout: 120_000, interval: 100 };

const file = `
stages: [test, build, release]
default:
  tags: [shell]
  before_script: ['PATH="$TOOLS:$PATH"']
test:
  stage: test
  script:
    - echo '<testsuite><testcase classname="House" name="stands" time="0.5"/></testsuite>' > junit.xml
    - gzip junit.xml
    # The runner sends no reports: its job sends what the public one would.
    - >
      curl --silent --fail --header "JOB-TOKEN: $CI_JOB_TOKEN" --form file=@junit.xml.gz
      "$CI_API_V4_URL/jobs/$CI_JOB_ID/artifacts?artifact_type=junit&artifact_format=gzip"
  rules:
    - if: $CI_COMMIT_BRANCH
build:
  stage: build
  script:
    - mkdir out && echo "built of $CI_COMMIT_SHA" > out/house.txt
  artifacts:
    paths: [out/house.txt]
    expire_in: never
  rules:
    - if: $CI_COMMIT_BRANCH
preview:
  stage: release
  script:
    - grep "$CI_COMMIT_SHA" out/house.txt
    - >
      release-cli create --name "Preview $CI_PIPELINE_IID" --description "The \\"newest\\" house"
      --tag-name "preview-$CI_PIPELINE_IID" --tag-message "A preview" --ref "$CI_COMMIT_SHA" --milestone "Spring"
      --assets-link "{\\"name\\":\\"house\\",\\"url\\":\\"$CI_PROJECT_URL/-/jobs/artifacts/main/raw/out/house.txt?job=build\\",\\"filepath\\":\\"/house.txt\\"}"
  rules:
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
version:
  stage: release
  script:
    - semantic-release
  rules:
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
link:
  stage: release
  script:
    - >
      curl --silent --fail --header "JOB-TOKEN: $CI_JOB_TOKEN" --form name=log --form "url=$CI_JOB_URL"
      "$CI_API_V4_URL/projects/$CI_PROJECT_ID/releases/$CI_COMMIT_TAG/assets/links"
  rules:
    - if: $CI_COMMIT_TAG
`;

/** A folder of programs, which jobs have on their PATH. */
function makeTools(home: string): string {
  const folder = join(home, 'tools');
  const add = (name: string, text: string) => writeFileSync(join(folder, name), text, { mode: 0o755 });
  mkdirSync(folder);
  add('release-cli', readFileSync(join(import.meta.dirname, 'release-cli.sh'), 'utf8'));
  const script = installed('semantic-release', 'semantic-release/bin/semantic-release.js');
  add('semantic-release', `#!/bin/sh\nexec '${process.execPath}' '${script}'\n`);
  return folder;
}

/** A project of its owner's, with a clone of it. */
async function makeTeam(path: string) {
  const mason = await gitbeaker.makeUser(`mason-${path}`);
  const { url } = gitbeaker;
  const { api } = mason;
  const { id } = await api.Projects.create({ name: path, path });
  const home = makeFolder();
  const tools = makeTools(home);
  const work = join(home, 'work');
  const project = `${mason.username}/${path}`;
  await mustGit(home, ['clone', '-q', addressOf(url, project, mason.token), work]);
  await mustGit(work, ['checkout', '-q', '-B', 'main']);
  return {
    ...{ mason, api, id, home, tools, project },
    /** Pushes the files to `main`; the commit. */
    async push(message: string, files: Record<string, string>): Promise<string> {
      await commitFiles(work, files, message);
      await mustGit(work, ['push', '-q', 'origin', 'main']);
      return (await mustGit(work, ['rev-parse', 'HEAD'])).trim();
    },
    /** The pipeline of a branch or tag, when it is there. */
    async pipelineOf(ref: string): Promise<number> {
      const found = async () => (await api.Pipelines.all(id, { ref })).map((each) => each.id);
      await expect.poll(found, eventually).toHaveLength(1);
      return Number((await found())[0]);
    },
    get: (address: string) =>
      fetch(address, { headers: { 'private-token': mason.token }, redirect: 'manual' }),
  };
}

test('what is pushed is tested, built and released, and its tags have pipelines', async () => {
  const { url } = gitbeaker;
  const { mason, api, id, home, tools, project, push, pipelineOf, get } = await makeTeam('house');
  const { token } = (await api.requester
    .post(`projects/${id}/runners/reset_registration_token`)
    .then(({ body }) => body)) as unknown as { token: string };
  await registerRunner(home, url, token, ['shell']);
  const bot = await api.ProjectAccessTokens.create(id, 'releases', ['api', 'write_repository'], inDays(30), {
    accessLevel: 40,
  });
  await api.ProjectVariables.create(id, 'GL_TOKEN', String(bot.token), { masked: true, protected: true });
  await api.ProjectVariables.create(id, 'TOOLS', tools);
  await api.ProjectMilestones.create(id, 'Spring');
  const sha = await push('feat: a house', {
    '.gitlab-ci.yml': file,
    '.releaserc.json': JSON.stringify({
      branches: ['main'],
      plugins: [
        '@semantic-release/commit-analyzer',
        '@semantic-release/release-notes-generator',
        '@semantic-release/gitlab',
      ],
    }),
  });
  const main = await pipelineOf('main');
  const statuses = async (pipelineId: number) =>
    Object.fromEntries((await api.Jobs.all(id, { pipelineId })).map(({ name, status }) => [name, status]));
  const logs: string[] = [];
  const runAll = async (pipelineId: number) => {
    while (Object.values(await statuses(pipelineId)).includes('pending'))
      logs.push((await startOneJob(home).ended).output);
  };
  await runAll(main);
  expect(await statuses(main), logs.join('')).toEqual({
    test: 'success',
    build: 'success',
    preview: 'success',
    version: 'success',
  });
  expect(await api.Pipelines.showTestReport(id, main)).toMatchObject({ total_count: 1, success_count: 1 });
  const version = (await api.Jobs.all(id, { pipelineId: main })).find(({ name }) => name === 'version');
  const log = await api.Jobs.showLog(id, Number(version?.id));
  expect(log).toContain('Published release 1.0.0 on default channel');
  expect(log).not.toContain(String(bot.token));

  for (const tag of ['preview-1', 'v1.0.0']) {
    const pipeline = await pipelineOf(tag);
    await runAll(pipeline);
    expect(await statuses(pipeline), logs.join('')).toEqual({ link: 'success' });
    expect(await api.Pipelines.show(id, pipeline)).toMatchObject({
      status: 'success',
      sha,
      tag: true,
      source: 'push',
    });
  }
  const [latest, preview, ...others] = await api.ProjectReleases.all(id);
  expect(others).toEqual([]);
  expect(latest).toMatchObject({
    tag_name: 'v1.0.0',
    commit: { id: sha },
    author: { username: expect.stringMatching(/_bot_/) },
    description: expect.stringContaining('a house'),
    assets: { links: [{ name: 'log', url: expect.stringMatching(/\/-\/jobs\/\d+$/) }] },
  });
  const page = `${url}/${project}/-/releases/preview-1`;
  expect(preview).toMatchObject({
    name: 'Preview 1',
    description: 'The "newest" house',
    tag_name: 'preview-1',
    commit: { id: sha },
    author: { username: mason.username },
    milestones: [{ title: 'Spring' }],
    evidences: [{ sha: expect.stringMatching(/^[0-9a-f]{64}$/) }],
  });
  const links = preview?.assets.links ?? [];
  expect(
    links.map(({ name, ...rest }) => [name, (rest as { direct_asset_url?: string }).direct_asset_url]),
  ).toEqual([
    ['log', expect.stringContaining('/-/jobs/')],
    ['house', `${page}/downloads/house.txt`],
  ]);
  const download = await get(`${page}/downloads/house.txt`);
  expect([download.status, download.headers.get('location')]).toEqual([302, links.at(-1)?.url]);
  const linked = await fetch(String(links.at(-1)?.url), { headers: { 'private-token': mason.token } });
  expect(await linked.text()).toBe(`built of ${sha}\n`);
  const evidence = await get(String(preview?.evidences?.[0]?.filepath));
  expect(await evidence.json()).toMatchObject({ release: { tag_name: 'preview-1', name: 'Preview 1' } });
  const permalink = await get(`${url}/api/v4/projects/${id}/releases/permalink/latest`);
  expect(permalink.headers.get('location')).toMatch(/\/releases\/v1\.0\.0$/);
  expect(await api.Tags.show(id, 'preview-1')).toMatchObject({
    message: 'A preview',
    commit: { id: sha },
    release: { tag_name: 'preview-1' },
  });
  const pushed = async () =>
    (await api.Events.all({ projectId: id, action: 'pushed' })).map(({ author_username, push_data }) => [
      author_username,
      (push_data as { ref: string } | undefined)?.ref,
    ]);
  await expect.poll(pushed, eventually).toEqual([
    [expect.stringMatching(/_bot_/), 'v1.0.0'],
    [mason.username, 'preview-1'],
    [mason.username, 'main'],
  ]);
});

/** Runs the steps of a job, each in a shell of its own, as the public runner does. */
function runSteps(folder: string, tools: string, job: TakenJob): void {
  const variables = Object.fromEntries(job.variables.map(({ key, value }) => [key, value]));
  for (const { script } of job.steps)
    execFileSync('/bin/sh', ['-e', '-c', script.join('\n')], {
      cwd: folder,
      env: { ...variables, PATH: `${tools}:/usr/bin:/bin` },
    });
}

test('the step of `release:` makes what the file says', async () => {
  const { api, id, home, tools, push, pipelineOf } = await makeTeam('tower');
  await push('A tower', {
    '.gitlab-ci.yml': `
release:
  script: [echo it begins]
  rules:
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  release:
    tag_name: v$CI_PIPELINE_IID
    name: The "tower" of $CI_COMMIT_SHORT_SHA
    description: It costs \\$5 \`and\` no more
    released_at: 2021-03-04T05:06:07Z
    assets:
      links:
        - { name: 'a "door"', url: https://example.com/$CI_PIPELINE_IID, link_type: package }
`,
  });
  await pipelineOf('main');
  const { token } = await api.Users.createCIRunner('project_type', { projectId: id });
  const site = siteOfRunners(() => gitbeaker.url);
  const runner = openRunner(site, String(token));
  const job = await runner.take({ features: { multi_build_steps: true } });
  runSteps(home, tools, job);
  expect((await runner.update(job, { state: 'success' })).status).toBe(200);
  const [release] = await api.ProjectReleases.all(id);
  expect(release).toMatchObject({
    tag_name: 'v1',
    name: `The "tower" of ${job.git_info.sha.slice(0, 8)}`,
    description: 'It costs $5 `and` no more',
    released_at: '2021-03-04T05:06:07.000Z',
    assets: { links: [{ name: 'a "door"', url: 'https://example.com/1', link_type: 'package' }] },
  });
});
