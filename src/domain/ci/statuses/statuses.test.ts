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
let head: string;
let developer: MadeUser;
let reporter: MadeUser;
let guest: MadeUser;

const repository = (): string => `/projects/${project.id}/repository`;

beforeAll(async () => {
  project = await makeProject(app);
  head = await fillProject(app, project.id, [{ 'README.md': 'one\n' }, { 'README.md': 'two\n' }]);
  sha = bodyOf(await app.root(`GET ${repository()}/commits/main~1`), 200).id;
  await fillProject(app, project.id, [{ other: 'x\n' }], 'other');
  const members = makeMembers(app, `projects/${project.id}`, 'developer', 'reporter', 'guest');
  ({ developer, reporter, guest } = await members);
});

describe('statuses', () => {
  const post = (body: Record<string, unknown>, revision = 'main') =>
    app.as(developer.token)(`POST /projects/${project.id}/statuses/${revision}`, { body });
  const statuses = (query = '', revision = 'main') =>
    app.root(`GET ${repository()}/commits/${revision}/statuses`, { query });

  test('are 10,000 of a pipeline at most, with those that others took the place of', async () => {
    const other = await makeProject(app);
    await fillProject(app, other.id);
    const say = (name: string, state = 'success') =>
      app.root(`POST /projects/${other.id}/statuses/main`, { body: { state, name } });
    bodyOf(await say('one'), 201);
    await app.app.services.database.sql`
      insert into ci_jobs (pipeline_id, project_id, kind, name, stage, stage_index, status, retried, created_at, updated_at, user_id)
      select pipeline_id, project_id, kind, name, stage, stage_index, status, true, created_at, updated_at, user_id
      from ci_jobs, generate_series(1, 9997) where project_id = ${other.id}`;
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map((name) => say(name, 'pending')));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 422, 422]);
    expect(answers.find(({ status }) => status === 422)?.body).toEqual({
      message: 'The number of jobs has exceeded the limit',
    });
    // One that goes on is none more.
    const kept = ['a', 'b', 'c', 'd'].find((_, at) => answers[at]?.status === 201) ?? '';
    bodyOf(await say(kept, 'running'), 201);
  });

  test('go on from state to state, and are what the commit shows', async () => {
    const given = { target_url: 'https://ci.example/1', description: 'Builds', coverage: 12.5 };
    const made = bodyOf(await post({ state: 'pending', context: 'build', ...given }), 201);
    expect(made).toMatchObject({
      ...given,
      sha: head,
      ref: 'main',
      name: 'build',
      status: 'pending',
      started_at: null,
      finished_at: null,
      author: { id: developer.id },
    });
    const running = bodyOf(await post({ state: 'running', name: 'build' }), 201);
    expect(running).toMatchObject({ ...given, id: made.id, status: 'running' });
    expect(running.started_at).not.toBeNull();
    const again = await post({ state: 'running', name: 'build' });
    expect([again.status, again.body.message]).toEqual([
      400,
      'Cannot transition status via :run from :running (Reason(s): Status cannot transition via "run")',
    ]);
    const detail = () => app.root(`GET ${repository()}/commits/main`);
    expect((await detail()).body.status).toBe('running');
    const done = bodyOf(await post({ state: 'success', name: 'build' }), 201);
    expect(done.finished_at).not.toBeNull();
    const { body } = await detail();
    expect(body).toMatchObject({
      status: 'success',
      last_pipeline: { id: made.pipeline_id, iid: 1, sha: head, ref: 'main', source: 'external' },
    });
    const anew = bodyOf(await post({ state: 'failed', name: 'build' }), 201);
    expect(anew.id).not.toBe(made.id);
    expect((await statuses('name=build')).body).toEqual([anew]);
    expect((await statuses('name=build&all=true')).body).toEqual([done, anew]);
    expect((await detail()).body.status).toBe('failed');
  });

  test('are filtered', async () => {
    const one = bodyOf(await post({ state: 'success' }, sha), 201);
    const two = bodyOf(await post({ state: 'success', ref: 'refs/tags/v1', name: 'deploy' }, sha), 201);
    expect([one.ref, one.name, two.ref]).toEqual(['main', 'default', 'v1']);
    const namesOf = async (query: string) =>
      (await statuses(query, sha)).body.map(({ name }: { name: string }) => name);
    expect(await namesOf('')).toEqual(['default', 'deploy']);
    expect(await namesOf('sort=desc&order_by=pipeline_id')).toEqual(['deploy', 'default']);
    expect(await namesOf('ref=v1')).toEqual(['deploy']);
    expect(await namesOf(`pipeline_id=${one.pipeline_id}`)).toEqual(['default']);
    expect(await namesOf('stage=test')).toEqual([]);
    const third = bodyOf(await post({ state: 'pending', name: 'x', pipeline_id: one.pipeline_id }, sha), 201);
    expect(third.pipeline_id).toBe(one.pipeline_id);
  });

  test('at once make one pipeline and one status', async () => {
    const responses = await Promise.all(
      Array.from({ length: 6 }, () => post({ state: 'running', name: 'race', ref: 'other' }, 'other')),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400]);
    expect((await statuses('', 'other')).body).toHaveLength(1);
  });

  test('of another commit, or with what no status has, are refused', async () => {
    const { body } = await post({ state: 'success', name: 'mine' });
    const responses = await Promise.all([
      post({ state: 'success', pipeline_id: body.pipeline_id }, 'other'),
      post({ state: 'success' }, '1'.repeat(40)),
      post({ state: 'done' }),
      post({ state: 'success', target_url: 'javascript:alert(1)' }),
      post({ state: 'success', ref: 'a..b' }),
      post({ state: 'success', name: 'x'.repeat(256) }),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([404, 404, 400, 400, 400, 400]);
    const as = (token: string) =>
      app.as(token)(`POST /projects/${project.id}/statuses/main`, { body: { state: 'success' } });
    expect((await as(reporter.token)).status).toBe(403);
    expect((await as(guest.token)).status).toBe(403);
  });
});
