/** Limits of the plan: who changes them, and that what they limit obeys. */
import { afterEach, describe, expect, test } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeGroup, makeProject, makeUser, uniqueName } from '../../../../test/support/factories.ts';
import { waitForMail } from '../../../../test/support/mailbox.ts';
import { own } from '../../../../test/support/packages.ts';
import { fillProject } from '../../../../test/support/repositories.ts';
import { defaultPlanLimits, type PlanLimits } from '../../../kernel/instance/plan-limits.ts';

const app = useApp();
const PATH = '/application/plan_limits';
const put = (limits: Record<string, unknown>) =>
  app.root(`PUT ${PATH}`, { body: { plan_name: 'default', ...limits } });
const limitTo = async (limits: Partial<PlanLimits>) => bodyOf(await put(limits), 200);

afterEach(async () => {
  await limitTo(defaultPlanLimits);
});

describe('the API', () => {
  test('is for administrators, and knows one plan', async () => {
    const user = await makeUser(app);
    const body = { plan_name: 'default', dotenv_size: 1 };
    for (const line of [`GET ${PATH}`, `PUT ${PATH}`]) {
      const given = line.startsWith('PUT') ? { body } : {};
      expect((await app.call(line, given)).status).toBe(401);
      expect((await app.as(user.token)(line, given)).status).toBe(403);
    }
    expect(bodyOf(await app.root(`GET ${PATH}`), 200)).toMatchObject(defaultPlanLimits);
    expect(bodyOf(await app.root(`GET ${PATH}`, { query: 'plan_name=default' }), 200)).toMatchObject(
      defaultPlanLimits,
    );
    const other = await app.root(`GET ${PATH}`, { query: 'plan_name=ultimate' });
    expect([other.status, other.body]).toEqual([404, { message: '404 Plan Not Found' }]);
    expect((await app.root(`PUT ${PATH}`, { body: { plan_name: 'free' } })).status).toBe(404);
    expect((await app.root(`GET ${PATH}`, { query: 'plan_name=mine' })).status).toBe(400);
    expect((await app.root(`PUT ${PATH}`, { body: {} })).status).toBe(400);
  });

  test('every field is changed by itself, and its history says by whom', async () => {
    const { id, username } = bodyOf(await app.root('GET /user'), 200);
    for (const name of Object.keys(defaultPlanLimits) as (keyof PlanLimits)[]) {
      const changed = await limitTo({ [name]: 7 });
      expect(changed).toMatchObject({ [name]: 7 });
      expect(changed.limits_history[name].at(-1)).toEqual({
        timestamp: expect.any(Number),
        user_id: id,
        username,
        value: 7,
      });
    }
    const all = bodyOf(await app.root(`GET ${PATH}`), 200);
    expect(new Set(Object.keys(defaultPlanLimits).map((name) => all[name]))).toEqual(new Set([7]));
    const before = all.limits_history.dotenv_size.length;
    expect((await limitTo({ dotenv_size: 7 })).limits_history.dotenv_size).toHaveLength(before);
    const events = await app.app.services.database.sql`
      select details from audit_events where event_name = 'plan_limits_updated' and details ->> 'change' = 'dotenv_size'`;
    expect(events).toMatchObject([{ details: { from: 5_120, to: 7, target_details: 'default' } }]);
  });

  test.each([
    ['dotenv_size', -1],
    ['dotenv_size', 1.5],
    ['dotenv_size', 'much'],
    ['ci_pipeline_size', 2_147_483_648],
    ['npm_max_file_size', 9_007_199_254_740_992],
  ])('%s is not %s', async (name, value) => {
    expect((await put({ [name]: value })).status).toBe(400);
    expect(bodyOf(await app.root(`GET ${PATH}`), 200)).toMatchObject(defaultPlanLimits);
  });

  test('two changes at once are both there', async () => {
    await Promise.all([limitTo({ dotenv_size: 1 }), limitTo({ dotenv_variables: 2 })]);
    expect(bodyOf(await app.root(`GET ${PATH}`), 200)).toMatchObject({ dotenv_size: 1, dotenv_variables: 2 });
  });
});

describe('what obeys', () => {
  test('files of packages', async () => {
    const project = await makeProject(app);
    const send = async (name: string, length: number) =>
      (
        await fetch(`${app.url}/api/v4/projects/${project.id}/packages/generic/p/1.0/${name}`, {
          method: 'PUT',
          body: 'x'.repeat(length),
          headers: own({ token: ROOT_TOKEN }),
        })
      ).status;
    await limitTo({ generic_packages_max_file_size: 10, npm_max_file_size: 10 });
    expect([await send('a', 10), await send('b', 11)]).toEqual([201, 400]);
    await limitTo({ generic_packages_max_file_size: 0 });
    expect(await send('b', 11)).toBe(201);
    const name = uniqueName('pkg');
    const published = async () =>
      (
        await app.root(`PUT /projects/${project.id}/packages/npm/${name}`, {
          body: {
            name,
            versions: { '1.0.0': { name, version: '1.0.0' } },
            _attachments: { [`${name}-1.0.0.tgz`]: { data: Buffer.alloc(11).toString('base64') } },
          },
        })
      ).text;
    expect(await published()).toContain('File is too large');
  });

  test('schedules of a project', async () => {
    const project = await makeProject(app);
    await fillProject(app, project.id, [{ 'a.txt': 'a' }]);
    const line = `POST /projects/${project.id}/pipeline_schedules`;
    const body = { description: 'x', ref: 'main', cron: '0 1 * * *' };
    await limitTo({ ci_pipeline_schedules: 1 });
    expect((await app.root(line, { body })).status).toBe(201);
    const second = await app.root(line, { body });
    expect([second.status, second.text]).toEqual([
      400,
      expect.stringContaining('Maximum number of pipeline schedules (1) exceeded'),
    ]);
    await limitTo({ ci_pipeline_schedules: 0 });
    expect((await app.root(line, { body })).status).toBe(201);
  });

  test('runners of a project and of a group', async () => {
    const [project, group] = [await makeProject(app), await makeGroup(app)];
    await limitTo({ ci_registered_project_runners: 1, ci_registered_group_runners: 1 });
    for (const body of [
      { runner_type: 'project_type', project_id: project.id },
      { runner_type: 'group_type', group_id: group.id },
    ]) {
      const statuses = [
        await app.root('POST /user/runners', { body }),
        await app.root('POST /user/runners', { body }),
      ];
      expect(statuses.map(({ status }) => status)).toEqual([201, 400]);
      expect(statuses[1]?.text).toContain('runners (1) exceeded');
    }
  });

  test('variables of the instance', async () => {
    await limitTo({ ci_instance_level_variables: 1 });
    const make = async (key: string) =>
      (await app.root('POST /admin/ci/variables', { body: { key, value: 'x' } })).status;
    expect([await make('ONE'), await make('TWO')]).toEqual([201, 400]);
  });

  const yaml = 'a: {script: a}\nb: {script: b}\nc: {script: c, needs: [a, b]}\n';
  const withFile = async () => {
    const project = await makeProject(app);
    await fillProject(app, project.id, [{ '.gitlab-ci.yml': yaml }]);
    // The push of the file makes a pipeline, too, sooner or later.
    await waitForMail(app);
    await app.app.services.database.sql`delete from pipelines where project_id = ${project.id}`;
    const start = () => app.root(`POST /projects/${project.id}/pipeline`, { body: { ref: 'main' } });
    return { project, start };
  };

  test('jobs of a pipeline', async () => {
    const { start } = await withFile();
    await limitTo({ ci_pipeline_size: 2 });
    const refused = await start();
    expect([refused.status, refused.body.message]).toEqual([
      400,
      { base: ['Pipeline has too many jobs! Requested 3, but the limit is 2.'] },
    ]);
    await limitTo({ ci_pipeline_size: 3 });
    expect((await start()).status).toBe(201);
  });

  test('a push of too many jobs makes a pipeline that failed', async () => {
    const { project } = await withFile();
    await limitTo({ ci_pipeline_size: 2 });
    const body = {
      branch: 'main',
      commit_message: 'More',
      actions: [{ action: 'create', file_path: 'b.txt', content: 'b' }],
    };
    const { id: sha } = bodyOf(
      await app.root(`POST /projects/${project.id}/repository/commits`, { body }),
      201,
    );
    await waitForMail(app);
    const pipelines = bodyOf(
      await app.root(`GET /projects/${project.id}/pipelines`, { query: `sha=${sha}` }),
      200,
    );
    expect(pipelines).toMatchObject([{ status: 'failed' }]);
    const one = bodyOf(await app.root(`GET /projects/${project.id}/pipelines/${pipelines[0].id}`), 200);
    expect(one.yaml_errors).toBe('Pipeline has too many jobs! Requested 3, but the limit is 2.');
  });

  test('jobs of a project that are not over', async () => {
    const { start } = await withFile();
    await limitTo({ ci_active_jobs: 5 });
    expect((await start()).status).toBe(201);
    const refused = await start();
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('allowed number of jobs')]);
    await limitTo({ ci_active_jobs: 6 });
    expect((await start()).status).toBe(201);
  });

  test('needs of a job', async () => {
    const { start } = await withFile();
    await limitTo({ ci_needs_size_limit: 1 });
    expect((await start()).text).toContain('one job can only need 1 others, but you have listed 2');
    // Here 0 is none, as the public API has it.
    await limitTo({ ci_needs_size_limit: 0 });
    expect((await start()).text).toContain('one job can only need 0 others');
    await limitTo({ ci_needs_size_limit: 2 });
    expect((await start()).status).toBe(201);
  });
});
