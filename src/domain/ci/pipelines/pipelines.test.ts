/** Pipelines and jobs through the API: their lists, and what is done with them. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
} from '../../../../test/support/factories.ts';
import { fillProject } from '../../../../test/support/repositories.ts';

const app: TestApp = useApp();
let project: MadeProject;
let sha: string;
let members: Record<'owner' | 'developer' | 'reporter' | 'guest', MadeUser>;

beforeAll(async () => {
  project = await makeProject(app, { name: 'Quarry' });
  sha = await fillProject(app, project.id, [{ 'README.md': 'Granite\n' }]);
  members = await makeMembers(app, `projects/${project.id}`, 'owner', 'developer', 'reporter', 'guest');
});

type NewJob = {
  name: string;
  stage?: number;
  status?: string;
  when?: string;
  mayFail?: true;
  needs?: string[];
};

/** A pipeline with these jobs, as nothing of the API makes it. */
async function makePipeline(jobs: NewJob[], { ref = 'main', source = 'push' } = {}): Promise<number> {
  const { sql } = app.app.services.database;
  const [row] = await sql<{ id: number }[]>`
    with counted as (insert into project_counters as c (project_id, pipelines) values (${project.id}, 1)
      on conflict (project_id) do update set pipelines = c.pipelines + 1 returning pipelines)
    insert into pipelines (project_id, iid, sha, before_sha, ref, tag, source, status, protected, user_id, created_at, updated_at)
    select ${project.id}, pipelines, ${sha}, repeat('0', 40), ${ref}, false, ${source}, 'created', false, ${members.developer.id}, now(), now()
    from counted returning id`;
  const id = row?.id ?? 0;
  for (const { name, stage = 1, status = 'created', when = 'on_success', mayFail = false, needs } of jobs)
    await sql`
      insert into ci_jobs (pipeline_id, project_id, kind, stage, stage_index, name, status, runs_when, allow_failure, needs, user_id,
        options, created_at, updated_at)
      values (${id}, ${project.id}, 'job', ${`stage ${stage}`}, ${stage}, ${name}, ${status}, ${when}, ${mayFail}, ${needs ?? null},
        ${members.developer.id}, '{"startIn": 60}', now(), now())`;
  return id;
}

const as = (who: keyof typeof members) => app.as(members[who].token);
const home = () => `/projects/${project.id}`;
const jobsOf = async (pipeline: number, query = ''): Promise<Record<string, string>> => {
  const { body } = await as('developer')(`GET ${home()}/pipelines/${pipeline}/jobs`, { query });
  return Object.fromEntries(
    body.toReversed().map((job: { name: string; status: string }) => [job.name, job.status]),
  );
};
const idOf = async (pipeline: number, name: string): Promise<number> => {
  const { body } = await as('developer')(`GET ${home()}/pipelines/${pipeline}/jobs`);
  return body.find((job: { name: string }) => job.name === name).id;
};
const statusOf = async (pipeline: number): Promise<string> =>
  bodyOf(await as('developer')(`GET ${home()}/pipelines/${pipeline}`), 200).status;
const post = (path: string, who: keyof typeof members = 'developer') => as(who)(`POST ${home()}/${path}`);

describe('a pipeline', () => {
  test('is shown with its user, and its jobs with their commit and pipeline', async () => {
    const id = await makePipeline([
      { name: 'build', status: 'success' },
      { name: 'test', stage: 2, status: 'failed' },
    ]);
    const pipeline = bodyOf(await as('guest')(`GET ${home()}/pipelines/${id}`), 200);
    expect(pipeline).toMatchObject({
      id,
      project_id: project.id,
      sha,
      before_sha: '0'.repeat(40),
      ref: 'main',
      source: 'push',
      tag: false,
      user: { id: members.developer.id },
      yaml_errors: null,
      coverage: null,
      detailed_status: {
        text: 'Created',
        group: 'created',
        details_path: expect.stringContaining(`/-/pipelines/${id}`),
      },
    });
    const { body } = await as('guest')(`GET ${home()}/pipelines/${id}/jobs`);
    expect(body).toMatchObject([
      { name: 'test', stage: 'stage 2', status: 'failed', pipeline: { id, sha }, commit: { id: sha } },
      { name: 'build', user: { id: members.developer.id, username: members.developer.username } },
    ]);
    const one = bodyOf(await as('guest')(`GET ${home()}/jobs/${body[0].id}`), 200);
    expect(one).toEqual(body[0]);
    expect((await as('guest')(`GET ${home()}/jobs?scope[]=failed&per_page=1`)).body).toEqual([one]);
    expect((await as('guest')(`GET ${home()}/jobs?scope=nothing`)).status).toBe(400);
  });

  test('is found by what it is of', async () => {
    await makePipeline([], { ref: 'gone', source: 'web' });
    const child = await makePipeline([], { source: 'parent_pipeline' });
    const last = await makePipeline([]);
    const ids = async (query: string): Promise<number[]> =>
      (await as('guest')(`GET ${home()}/pipelines`, { query })).body.map(({ id }: { id: number }) => id);
    expect(await ids('per_page=1')).toEqual([last]);
    expect(await ids('source=parent_pipeline')).toEqual([child]);
    expect(await ids('')).not.toContain(child);
    expect(await ids('scope=branches')).toEqual([last]);
    expect(await ids('scope=tags')).toEqual([]);
    expect(await ids('ref=nowhere')).toEqual([]);
    expect(await ids('ref=gone&username=nobody')).toEqual([]);
    expect(await ids(`ref=gone&username=${members.developer.username.toUpperCase()}`)).toHaveLength(1);
    expect(await ids('created_before=2020-01-01T00:00:00Z')).toEqual([]);
    expect((await ids('sort=asc')).at(-1)).toBe(last);
    expect(bodyOf(await as('guest')(`GET ${home()}/pipelines/latest`), 200).id).toBe(last);
    expect((await as('guest')(`GET ${home()}/pipelines/latest?ref=gone`)).status).toBe(404);
  });

  test('gets a name, and is deleted with its jobs by an owner', async () => {
    const id = await makePipeline([{ name: 'build' }]);
    const job = await idOf(id, 'build');
    const named = await as('developer')(`PUT ${home()}/pipelines/${id}/metadata`, {
      body: { name: 'Friday' },
    });
    expect(bodyOf(named, 200).name).toBe('Friday');
    expect((await as('developer')(`DELETE ${home()}/pipelines/${id}`)).status).toBe(403);
    expect((await as('owner')(`DELETE ${home()}/pipelines/${id}`)).status).toBe(204);
    expect((await as('owner')(`GET ${home()}/jobs/${job}`)).status).toBe(404);
  });

  test('is canceled, all that has not ended', async () => {
    const id = await makePipeline([
      { name: 'build', status: 'success' },
      { name: 'test', stage: 2, status: 'pending' },
      { name: 'deploy', stage: 3, when: 'manual', status: 'manual' },
      { name: 'after', stage: 4 },
    ]);
    expect((await post(`pipelines/${id}/cancel`, 'reporter')).status).toBe(403);
    expect(bodyOf(await post(`pipelines/${id}/cancel`), 200).status).toBe('canceled');
    expect(await jobsOf(id)).toEqual({
      build: 'success',
      test: 'canceled',
      deploy: 'canceled',
      after: 'canceled',
    });
    expect(bodyOf(await post(`pipelines/${id}/cancel`), 200).status).toBe('canceled');
  });

  test('is retried: what failed as new jobs, and what was skipped for it', async () => {
    const id = await makePipeline([
      { name: 'build', status: 'success' },
      { name: 'lint', status: 'failed' },
      { name: 'test', stage: 2, status: 'skipped' },
    ]);
    const before = await idOf(id, 'lint');
    expect(bodyOf(await post(`pipelines/${id}/retry`), 201).status).toBe('running');
    expect(await jobsOf(id)).toEqual({ build: 'success', lint: 'pending', test: 'created' });
    expect(await idOf(id, 'lint')).not.toBe(before);
    const all = await as('developer')(`GET ${home()}/pipelines/${id}/jobs?include_retried=true`);
    expect(all.body.map((job: { id: number }) => job.id)).toContain(before);
  });
});

test('jobs of a protected ref are started again by who may write to it', async () => {
  const pipeline = await makePipeline([
    { name: 'build', status: 'failed' },
    { name: 'ship', stage: 2, status: 'manual', when: 'manual', mayFail: true },
  ]);
  const [build, ship] = [await idOf(pipeline, 'build'), await idOf(pipeline, 'ship')];
  const { sql } = app.app.services.database;
  const ask = async (who: 'developer' | 'owner') => [
    (await as(who)(`POST ${home()}/jobs/${ship}/play`)).status,
    (await as(who)(`POST ${home()}/jobs/${build}/retry`)).status,
    (await as(who)(`POST ${home()}/pipelines/${pipeline}/retry`)).status,
  ];
  await sql`update pipelines set protected = true where id = ${pipeline}`;
  expect(await ask('developer')).toEqual([403, 403, 403]);
  expect(await jobsOf(pipeline)).toEqual({ build: 'failed', ship: 'manual' });
  expect(await ask('owner')).toEqual([200, 201, 201]);
  // Of another branch, and of a merge request, both of which count.
  await sql`update pipelines set ref = 'topic' where id = ${pipeline}`;
  const topic = await as('developer')(`POST ${home()}/pipelines/${pipeline}/retry`);
  expect(topic.status).toBe(201);
  const variables = JSON.stringify([
    { key: 'CI_MERGE_REQUEST_SOURCE_BRANCH_NAME', value: 'topic' },
    { key: 'CI_MERGE_REQUEST_TARGET_BRANCH_NAME', value: 'main' },
  ]);
  await sql`update pipelines set source = 'merge_request_event', merge_request_variables = ${variables}::text::jsonb
    where id = ${pipeline}`;
  expect((await as('developer')(`POST ${home()}/pipelines/${pipeline}/retry`)).status).toBe(403);
});

describe('a job', () => {
  test('that ended is retried once, as the one who asks', async () => {
    const id = await makePipeline([
      { name: 'build', status: 'failed' },
      { name: 'test', stage: 2, status: 'skipped' },
    ]);
    const job = await idOf(id, 'build');
    const again = bodyOf(await post(`jobs/${job}/retry`, 'owner'), 201);
    expect(again).toMatchObject({ name: 'build', status: 'pending', user: { id: members.owner.id } });
    expect(again.id).not.toBe(job);
    const twice = await post(`jobs/${job}/retry`);
    expect([twice.status, twice.body.message]).toEqual([403, '403 Forbidden - Job is not retryable']);
    expect((await post(`jobs/${again.id}/retry`)).status).toBe(403);
    expect(await jobsOf(id)).toEqual({ build: 'pending', test: 'created' });
  });

  test('is retried once, however many ask', async () => {
    const id = await makePipeline([{ name: 'build', status: 'failed' }]);
    const job = await idOf(id, 'build');
    const all = await Promise.all(Array.from({ length: 5 }, () => post(`jobs/${job}/retry`)));
    expect(all.map(({ status }) => status).sort()).toEqual([201, 403, 403, 403, 403]);
  });

  test('that waits for somebody is played', async () => {
    const id = await makePipeline([
      { name: 'deploy', when: 'manual', status: 'manual' },
      { name: 'after', stage: 2 },
    ]);
    const job = await idOf(id, 'deploy');
    expect((await post(`jobs/${job}/play`, 'guest')).status).toBe(403);
    expect(bodyOf(await post(`jobs/${job}/play`, 'owner'), 200)).toMatchObject({
      id: job,
      status: 'pending',
      user: { id: members.owner.id },
    });
    const again = await post(`jobs/${job}/play`);
    expect([again.status, again.body.message]).toEqual([400, '400 Bad request - Unplayable Job']);
    expect(await statusOf(id)).toBe('pending');
  });

  test('is canceled, and the pipeline goes on without it', async () => {
    const id = await makePipeline([
      { name: 'build', status: 'pending', mayFail: true },
      { name: 'later', stage: 2, when: 'delayed' },
    ]);
    const job = await idOf(id, 'build');
    expect(bodyOf(await post(`jobs/${job}/cancel`), 201)).toMatchObject({ status: 'canceled' });
    expect(bodyOf(await post(`jobs/${job}/cancel`), 201)).toMatchObject({ status: 'canceled' });
    expect(await jobsOf(id)).toEqual({ build: 'canceled', later: 'scheduled' });
    expect(await statusOf(id)).toBe('scheduled');
  });
});

test('jobs that are not public are hidden from guests, and with the feature from all', async () => {
  const set = (body: Record<string, unknown>) => app.root(`PUT ${home()}`, { body });
  const statuses = async () =>
    Promise.all(
      (['guest', 'reporter', 'owner'] as const).map(
        async (who) => (await as(who)(`GET ${home()}/pipelines`)).status,
      ),
    );
  expect(await statuses()).toEqual([200, 200, 200]);
  await set({ public_jobs: false });
  expect(await statuses()).toEqual([403, 200, 200]);
  await set({ public_jobs: true, builds_access_level: 'disabled' });
  expect(await statuses()).toEqual([403, 403, 403]);
  await set({ builds_access_level: 'enabled' });
});
