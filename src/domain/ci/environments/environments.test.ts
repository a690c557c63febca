/** Environments and deployments over HTTP, and as jobs make, fill and stop them. */
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
import { openRunner, type Runner, type TakenJob } from '../../../../test/support/runner.ts';
import { until } from '../../../../test/support/waiting.ts';
import { sweepEnvironments } from './stop-actions.ts';

const app: TestApp = useApp();
type Role = 'maintainer' | 'developer' | 'reporter' | 'guest';
let project: MadeProject;
let sha: string;
let members: Record<Role, MadeUser>;

beforeAll(async () => {
  project = await makeProject(app, { name: 'Quarry' });
  sha = await fillProject(app, project.id, [{ 'README.md': 'Granite\n' }]);
  const roles: Role[] = ['maintainer', 'developer', 'reporter', 'guest'];
  members = await makeMembers(app, `projects/${project.id}`, ...roles);
});

const as = (who: Role) => app.as(members[who].token);
const home = () => `/projects/${project.id}`;
const environments = () => `${home()}/environments`;
const deployments = () => `${home()}/deployments`;
const make = async (name: string, more: object = {}) =>
  bodyOf(await as('developer')(`POST ${environments()}`, { body: { name, ...more } }), 201);
const stop = (id: number, body: object = {}) =>
  as('developer')(`POST ${environments()}/${id}/stop`, { body });
const show = async (id: number) => bodyOf(await as('reporter')(`GET ${environments()}/${id}`), 200);
const sql = (text: TemplateStringsArray, ...values: (string | number)[]) =>
  app.app.services.database.sql(text, ...values);

describe('an environment', () => {
  test('is made, read and changed', async () => {
    const made = await make('review/fix', { external_url: 'https://fix.example.com', description: 'New' });
    expect(made).toMatchObject({
      id: expect.any(Number),
      name: 'review/fix',
      slug: expect.stringMatching(/^review-fix-[a-z0-9]{6}$/),
      external_url: 'https://fix.example.com',
      tier: 'development',
      state: 'available',
      description: 'New',
      auto_stop_at: null,
      auto_stop_setting: 'always',
      project: { id: project.id },
    });
    expect(await show(made.id)).toEqual({ ...made, last_deployment: null });
    const changed = await as('developer')(`PUT ${environments()}/${made.id}`, {
      body: { tier: 'production', external_url: null, name: 'other' },
    });
    expect(bodyOf(changed, 200)).toMatchObject({
      name: 'review/fix',
      tier: 'production',
      external_url: null,
      description: 'New',
    });
  });

  test.each([
    [{ name: '/a' }, { message: { name: [expect.stringContaining('can contain only letters')] } }],
    [
      { name: 'a', external_url: 'javascript:alert(1)' },
      { message: { external_url: ['javascript scheme is not allowed'] } },
    ],
    [{}, expect.objectContaining({ error: 'name is missing' })],
  ])('is refused: %j', async (body, answer) => {
    const refused = await as('developer')(`POST ${environments()}`, { body });
    expect([refused.status, refused.body]).toEqual([400, answer]);
  });

  test('has no slug of a client', async () => {
    const { id } = await make('slugged');
    for (const request of [`POST ${environments()}`, `PUT ${environments()}/${id}`] as const) {
      const refused = await as('developer')(request, { body: { name: 'slugs', slug: 'mine' } });
      expect([refused.status, refused.body]).toEqual([
        400,
        expect.objectContaining({ error: 'slug is automatically generated and cannot be changed' }),
      ]);
    }
  });

  test('is there once, however many make it', async () => {
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => as('developer')(`POST ${environments()}`, { body: { name: 'once' } })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400]);
    expect(answers.find(({ status }) => status === 400)?.body).toEqual({
      message: { name: ['has already been taken'] },
    });
  });

  test('is found by name, a part of it, and state', async () => {
    const { id } = await make('Lime/kiln');
    await stop(id);
    const names = async (text: string) => {
      const { status, body } = await as('reporter')(`GET ${environments()}`, { query: text });
      return status === 200 ? body.map(({ name }: { name: string }) => name) : [status, body];
    };
    expect(await names('name=Lime/kiln')).toEqual(['Lime/kiln']);
    expect(await names('name=Lime')).toEqual([]);
    expect(await names('search=lime')).toEqual(['Lime/kiln']);
    expect(await names('states=stopped')).toEqual(['Lime/kiln']);
    expect(await names('search=li')).toEqual([400, { message: 'Search query is less than 3 characters' }]);
    expect(await names('search=lime&name=Lime/kiln')).toEqual([
      400,
      expect.objectContaining({ error: 'name, search are mutually exclusive' }),
    ]);
  });

  test('is stopped, and only then deleted', async () => {
    const { id } = await make('short');
    const remove = () => as('developer')(`DELETE ${environments()}/${id}`);
    expect((await remove()).status).toBe(403);
    expect(bodyOf(await stop(id), 200)).toMatchObject({ state: 'stopped' });
    expect(bodyOf(await stop(id), 200)).toMatchObject({ state: 'stopped' });
    const before = await show(id);
    const early = await as('developer')(`DELETE ${environments()}/${id}`, {
      headers: { 'if-unmodified-since': new Date(Date.parse(before.updated_at) - 60_000).toUTCString() },
    });
    expect(early.status).toBe(412);
    expect((await Promise.all([remove(), remove()])).map(({ status }) => status).sort()).toEqual([204, 404]);
  });

  test('is stale where nothing was deployed since, and the clock stops it', async () => {
    const { id } = await make('stale');
    const other = await make('fresh');
    await sql`update environments set created_at = now() - interval '30 days' where id = ${id}`;
    const send = (before: string) =>
      as('developer')(`POST ${environments()}/stop_stale`, { body: { before } });
    const days = (count: number) => new Date(Date.now() - count * 86_400_000).toISOString();
    expect((await send(days(6))).body).toEqual({ message: '400 Bad request - Invalid Date' });
    expect(bodyOf(await send(days(8)), 200)).toEqual({
      message: 'Successfully requested stop for all stale environments',
    });
    await sweepEnvironments(app.app.services.database.background);
    expect([(await show(id)).state, (await show(other.id)).state]).toEqual(['stopped', 'available']);
  });

  test('of a review is deleted a week after somebody asked', async () => {
    const { id } = await make('review/old');
    const young = await make('review/young');
    for (const each of [id, young.id]) await stop(each);
    await sql`update environments set created_at = now() - interval '31 days' where id = ${id}`;
    const ask = (text: string) => as('developer')(`DELETE ${environments()}/review_apps`, { query: text });
    const expected = { scheduled_entries: [expect.objectContaining({ id })], unprocessable_entries: [] };
    expect(bodyOf(await ask(''), 200)).toEqual(expected);
    expect(bodyOf(await ask('dry_run=false'), 200)).toEqual(expected);
    expect(bodyOf(await ask('dry_run=false'), 200).scheduled_entries).toEqual([]);
    await sweepEnvironments(app.app.services.database.background);
    expect((await show(id)).state).toBe('stopped');
    await sql`update environments set auto_delete_at = now() - interval '1 second' where id = ${id}`;
    await sweepEnvironments(app.app.services.database.background);
    expect((await as('reporter')(`GET ${environments()}/${id}`)).status).toBe(404);
    expect((await show(young.id)).state).toBe('stopped');
  });

  test('of another project is not reached', async () => {
    const { id } = await make('guarded');
    const other = await makeProject(app);
    const mine = app.root;
    for (const request of ['PUT', 'DELETE'] as const)
      expect((await mine(`${request} /projects/${other.id}/environments/${id}`, { body: {} })).status).toBe(
        404,
      );
    expect((await mine(`GET /projects/${other.id}/environments/${id}`)).status).toBe(404);
    expect((await mine(`POST /projects/${other.id}/environments/${id}/stop`)).status).toBe(404);
  });

  test('is for those who read the code, and changed by developers', async () => {
    const { id } = await make('roles');
    expect((await as('guest')(`GET ${environments()}/${id}`)).status).toBe(403);
    expect((await as('reporter')(`POST ${environments()}/${id}/stop`)).status).toBe(403);
    expect((await as('reporter')(`POST ${environments()}`, { body: { name: 'x' } })).status).toBe(403);
  });
});

describe('a deployment that a program reports', () => {
  const report = (body: object = {}, who: Role = 'developer') =>
    as(who)(`POST ${deployments()}`, {
      body: { environment: 'api', sha, ref: 'main', tag: false, status: 'success', ...body },
    });

  test('makes its environment, and is what it has', async () => {
    const made = bodyOf(await report({ environment: 'api/first' }), 201);
    expect(made).toMatchObject({
      id: expect.any(Number),
      iid: expect.any(Number),
      ref: 'main',
      sha,
      status: 'success',
      user: { id: members.developer.id },
      environment: { name: 'api/first' },
      deployable: null,
    });
    expect(await show(made.environment.id)).toMatchObject({
      state: 'available',
      last_deployment: { id: made.id, status: 'success', environment: made.environment },
    });
    expect(bodyOf(await as('reporter')(`GET ${deployments()}/${made.id}`), 200)).toEqual(made);
  });

  test.each([
    [{ sha: '1'.repeat(40) }, { sha: ['The commit does not exist'] }],
    [{ ref: 'nowhere' }, { ref: ['The branch or tag does not exist'] }],
    [{ tag: true }, { ref: ['The branch or tag does not exist'] }],
    [{ environment: '/x' }, { environment: [expect.any(String)] }],
  ])('is refused: %j', async (body, message) => {
    const refused = await report(body);
    expect([refused.status, refused.body]).toEqual([400, { message }]);
  });

  test('changes its status, but not to what it is', async () => {
    const { id } = bodyOf(await report({ status: 'running' }), 201);
    const put = (status: string) => as('developer')(`PUT ${deployments()}/${id}`, { body: { status } });
    expect((await as('developer')(`DELETE ${deployments()}/${id}`)).body).toEqual({
      message: 'Cannot destroy running deployment',
    });
    expect(bodyOf(await put('success'), 200).status).toBe('success');
    expect((await put('success')).body).toEqual({ message: { status: ['cannot transition via "succeed"'] } });
    expect((await put('created')).status).toBe(400);
    expect((await as('developer')(`DELETE ${deployments()}/${id}`)).body).toEqual({
      message: 'Deployment currently deployed to environment',
    });
    bodyOf(await report(), 201);
    expect((await as('developer')(`DELETE ${deployments()}/${id}`)).status).toBe(204);
    expect((await as('reporter')(`PUT ${deployments()}/${id}`, { body: { status: 'failed' } })).status).toBe(
      403,
    );
  });

  test('has the next number, however many come at once', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => report({ environment: 'crowd' })));
    const numbers = answers.map((each) => bodyOf(each, 201).iid as number).sort((a, b) => a - b);
    expect(numbers).toEqual(numbers.map((_, at) => (numbers[0] ?? 0) + at));
    expect(new Set(answers.map(({ body }) => body.environment.id)).size).toBe(1);
  });

  test('is listed by environment, status and time', async () => {
    bodyOf(await report({ environment: 'listed', status: 'failed' }), 201);
    const last = bodyOf(await report({ environment: 'listed' }), 201);
    const list = (text: string) => as('reporter')(`GET ${deployments()}`, { query: text });
    const ids = async (text: string) => bodyOf(await list(text), 200).map(({ id }: { id: number }) => id);
    expect(await ids('environment=listed')).toHaveLength(2);
    expect(await ids('environment=listed&status=success')).toEqual([last.id]);
    expect((await ids('environment=listed&order_by=iid&sort=desc'))[0]).toBe(last.id);
    const soon = encodeURIComponent(new Date(Date.now() + 60_000).toISOString());
    expect(await ids(`environment=listed&order_by=updated_at&updated_after=${soon}`)).toEqual([]);
    const finished = `environment=listed&status=success&order_by=finished_at&finished_before=${soon}`;
    expect(await ids(finished)).toEqual([last.id]);
    expect((await list(`updated_after=${soon}`)).body).toEqual({
      message: '400 Bad request - `updated_at` filter requires `updated_at` sort',
    });
  });
});

describe('a job with an environment', () => {
  let runner: Runner;
  const variableOf = (job: TakenJob, key: string): string | undefined =>
    job.variables.findLast((variable) => variable.key === key)?.value;

  beforeAll(async () => {
    await app.root(`PUT ${home()}`, { body: { auto_cancel_pending_pipelines: 'disabled' } });
    const body = { runner_type: 'project_type', project_id: project.id };
    runner = openRunner(app, bodyOf(await app.root('POST /user/runners', { body }), 201).token);
  });

  async function start(content: string): Promise<number> {
    const there = await app.root(`GET ${home()}/repository/files/.gitlab-ci.yml?ref=main`);
    const action = there.status === 200 ? 'update' : 'create';
    const body = {
      branch: 'main',
      commit_message: 'Change [skip ci]',
      actions: [{ action, file_path: '.gitlab-ci.yml', content }],
    };
    bodyOf(await app.root(`POST ${home()}/repository/commits`, { body }), 201);
    const started = await as('maintainer')(`POST ${home()}/pipeline`, { body: { ref: 'main' } });
    return bodyOf(started, 201).id;
  }
  const named = async (name: string) =>
    bodyOf(
      await as('reporter')(`GET ${environments()}`, { query: `name=${encodeURIComponent(name)}` }),
      200,
    )[0];
  const deploymentsOf = async (name: string): Promise<string[]> =>
    bodyOf(await as('reporter')(`GET ${deployments()}`, { query: `environment=${name}` }), 200).map(
      ({ status }: { status: string }) => status,
    );
  const jobsOf = async (pipeline: number) =>
    bodyOf(await app.root(`GET ${home()}/pipelines/${pipeline}/jobs`), 200) as {
      id: number;
      name: string;
      status: string;
      failure_reason?: string;
    }[];
  const jobOf = async (pipeline: number, name: string) =>
    (await jobsOf(pipeline)).find((job) => job.name === name) ?? { id: 0, status: 'missing' };
  const press = async (pipeline: number, name: string, what = 'play') =>
    as('maintainer')(`POST ${home()}/jobs/${(await jobOf(pipeline, name)).id}/${what}`);

  const FILE = `
stages: [deploy, check]
deploy:
  stage: deploy
  script: deploy
  environment:
    name: review/$CI_COMMIT_REF_NAME
    url: https://$CI_ENVIRONMENT_SLUG.example.com
    on_stop: end
    auto_stop_in: $DAYS days
    deployment_tier: staging
  variables: { DAYS: "2" }
end:
  stage: deploy
  script: stop
  when: manual
  environment: { name: review/$CI_COMMIT_REF_NAME, action: stop }
check:
  stage: check
  script: check
  environment: { name: review/$CI_COMMIT_REF_NAME, action: verify }
`;

  test('deploys to it, and another one stops it', async () => {
    const pipeline = await start(FILE);
    const made = await named('review/main');
    expect(made).toMatchObject({ state: 'available', tier: 'staging', external_url: null });
    expect(await deploymentsOf('review/main')).toEqual(['created']);
    const job = await runner.take();
    expect(await deploymentsOf('review/main')).toEqual(['running']);
    expect(
      ['NAME', 'SLUG', 'ACTION', 'TIER', 'URL', 'ID'].map((each) =>
        variableOf(job, `CI_ENVIRONMENT_${each}`),
      ),
    ).toEqual([
      'review/main',
      made.slug,
      'start',
      'staging',
      `https://${made.slug}.example.com`,
      String(made.id),
    ]);
    await runner.update(job, { state: 'success' });
    const filled = await show(made.id);
    expect(filled).toMatchObject({
      external_url: `https://${made.slug}.example.com`,
      last_deployment: { status: 'success', deployable: { id: job.id, name: 'deploy' } },
    });
    const days = (Date.parse(filled.auto_stop_at) - Date.now()) / 86_400_000;
    expect(days > 1.9 && days < 2.1).toBe(true);
    const put = await as('developer')(`PUT ${deployments()}/${filled.last_deployment.id}`, {
      body: { status: 'failed' },
    });
    expect([put.status, put.body.message]).toEqual([
      403,
      '403 Forbidden - Deployments created using GitLab CI can not be updated using the API',
    ]);
    await runner.update(await runner.take(), { state: 'success' });
    expect(await deploymentsOf('review/main')).toEqual(['success']);

    expect(bodyOf(await stop(made.id), 200).state).toBe('stopping');
    expect((await Promise.all([stop(made.id), stop(made.id)])).map(({ body }) => body.state)).toEqual([
      'stopping',
      'stopping',
    ]);
    const end = await runner.take();
    expect(variableOf(end, 'CI_ENVIRONMENT_ACTION')).toBe('stop');
    expect((await runner.request()).status).toBe(204);
    await runner.update(end, { state: 'failed' });
    expect((await show(made.id)).state).toBe('available');
    expect(bodyOf(await stop(made.id), 200).state).toBe('stopping');
    await runner.update(await runner.take(), { state: 'success' });
    expect(await show(made.id)).toMatchObject({ state: 'stopped', auto_stop_at: null });
    expect((await press(pipeline, 'check', 'retry')).status).toBe(201);
    await runner.update(await runner.take(), { state: 'success' });
    expect((await show(made.id)).state).toBe('stopped');
  });

  test('is retried as another deployment, and opens what was stopped', async () => {
    const pipeline = await start('deploy:\n  script: deploy\n  environment: again\n');
    await runner.update(await runner.take(), { state: 'failed' });
    const { id } = await named('again');
    await stop(id);
    expect((await press(pipeline, 'deploy', 'retry')).status).toBe(201);
    expect(await deploymentsOf('again')).toEqual(['failed', 'created']);
    expect((await show(id)).state).toBe('stopped');
    await runner.update(await runner.take(), { state: 'success' });
    expect(await deploymentsOf('again')).toEqual(['failed', 'success']);
    expect((await show(id)).state).toBe('available');
  });

  test('is stopped by the clock, as the one who made it', async () => {
    await start(FILE);
    const { id } = await named('review/main');
    await runner.update(await runner.take(), { state: 'success' });
    await runner.update(await runner.take(), { state: 'success' });
    await sql`update environments set auto_stop_at = now() - interval '1 second' where id = ${id}`;
    const { background } = app.app.services.database;
    await Promise.all([sweepEnvironments(background), sweepEnvironments(background)]);
    expect((await show(id)).state).toBe('stopping');
    await runner.update(await runner.take(), { state: 'success' });
    expect((await runner.request()).status).toBe(204);
    expect((await show(id)).state).toBe('stopped');
  });

  test('follows what is done with it', async () => {
    const pipeline = await start(
      'deploy:\n  script: deploy\n  when: manual\n  environment: canceled\nlater:\n  script: clean\n  stage: deploy\n  when: on_failure\n  environment: skipped\n',
    );
    expect([await deploymentsOf('canceled'), await deploymentsOf('skipped')]).toEqual([
      ['created'],
      ['skipped'],
    ]);
    expect((await press(pipeline, 'deploy')).status).toBe(200);
    expect((await press(pipeline, 'deploy', 'cancel')).status).toBe(201);
    expect(await deploymentsOf('canceled')).toEqual(['canceled']);
  });

  test('fails where its environment cannot be', async () => {
    const pipeline = await start(
      'deploy:\n  script: deploy\n  variables: { NAME: "a:b" }\n  environment: $NAME\nother:\n  script: ls\n',
    );
    expect(await jobOf(pipeline, 'deploy')).toMatchObject({
      status: 'failed',
      failure_reason: 'environment_creation_failure',
    });
    await runner.update(await runner.take(), { state: 'success' });
    expect((await runner.request()).status).toBe(204);
  });

  test('has the variables of its environment, the narrowest scope first', async () => {
    const values = { '*': 'all', 'scoped/*': 'some', 'scoped/one': 'one', other: 'none' };
    for (const [environment_scope, value] of Object.entries(values))
      bodyOf(
        await as('maintainer')(`POST ${home()}/variables`, {
          body: { key: 'SCOPED', value, environment_scope },
        }),
        201,
      );
    await start(
      'a:\n  script: ls\n  environment: scoped/one\nb:\n  script: ls\n  environment: scoped/two\nc:\n  script: ls\n',
    );
    const seen: (string | undefined)[] = [];
    for (let at = 0; at < 3; at++) {
      const job = await runner.take();
      seen.push(variableOf(job, 'SCOPED'));
      await runner.update(job, { state: 'success' });
    }
    expect(seen).toEqual(['one', 'some', 'all']);
  });

  test('stops what a branch had that is deleted', async () => {
    await start(FILE);
    const { id } = await named('review/main');
    const other = await make('branchless');
    for (const _ of ['deploy', 'check']) await runner.update(await runner.take(), { state: 'success' });
    await sql`update deployments set ref = 'gone' where environment_id = ${id}`;
    const branches = `${home()}/repository/branches`;
    const body = { branch: 'gone', ref: 'main' };
    bodyOf(await as('developer')(`POST ${branches}`, { body }), 201);
    expect((await as('developer')(`DELETE ${branches}/gone`)).status).toBe(204);
    await until(async () => (await show(id)).state === 'stopping', 'nothing stopped');
    expect((await show(other.id)).state).toBe('available');
    await runner.update(await runner.take(), { state: 'success' });
    expect((await show(id)).state).toBe('stopped');
  });

  test('deploys nothing that is older than what is there', async () => {
    const file = `
stages: [build, deploy]
build: { stage: build, script: build }
deploy: { stage: deploy, script: deploy, environment: forward }
hand: { stage: deploy, script: deploy, environment: forward, when: manual }
`;
    const old = await start(file);
    const build = await runner.take();
    const next = await start(file);
    for (const _ of ['build', 'deploy']) await runner.update(await runner.take(), { state: 'success' });
    expect((await jobOf(next, 'deploy')).status).toBe('success');
    await runner.update(build, { state: 'success' });
    expect(await jobOf(old, 'deploy')).toMatchObject({
      status: 'failed',
      failure_reason: 'failed_outdated_deployment_job',
    });
    expect(await press(old, 'hand').then(({ status, body }) => [status, body.message])).toEqual([
      400,
      '400 Bad request - Unplayable Job',
    ]);
    expect((await press(old, 'deploy', 'retry')).status).toBe(201);
    await runner.update(await runner.take(), { state: 'success' });
    bodyOf(await app.root(`PUT ${home()}`, { body: { ci_forward_deployment_enabled: false } }), 200);
    expect((await press(old, 'hand')).status).toBe(200);
    await runner.update(await runner.take(), { state: 'success' });
    const rollback = { ci_forward_deployment_enabled: true, ci_forward_deployment_rollback_allowed: false };
    bodyOf(await app.root(`PUT ${home()}`, { body: rollback }), 200);
    expect(bodyOf(await press(old, 'deploy', 'retry'), 201).status).toBe('failed');
  });
});
