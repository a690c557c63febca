/** Pipeline schedules over HTTP and by the clock: whose they are, who changes them, and that each time makes one pipeline. */
import { beforeAll, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';
import { until } from '../../../../test/support/waiting.ts';
import { moveClock, now } from '../../../platform/clock.ts';
import { RUN, TAKE_DUE } from './run-actions.ts';

const app: TestApp = useApp();
type Who = 'maintainer' | 'developer' | 'reporter';
let project: MadeProject;
let members: Record<Who, MadeUser>;
let path: string;

const FILE =
  'spec:\n  inputs:\n    stone: { default: lime }\n---\nbuild:\n  script: echo $[[ inputs.stone ]]\n';

async function makeHome() {
  const made = await makeProject(app);
  const of = await makeMembers(app, `projects/${made.id}`, 'maintainer', 'developer', 'reporter');
  const actions = [{ action: 'create', file_path: '.gitlab-ci.yml', content: FILE }];
  bodyOf(
    await app.root(`POST /projects/${made.id}/repository/commits`, {
      body: { branch: 'main', commit_message: 'Build [skip ci]', actions },
    }),
    201,
  );
  bodyOf(
    await app.root(`POST /projects/${made.id}/repository/branches`, {
      body: { branch: 'wall', ref: 'main' },
    }),
    201,
  );
  return { made, of };
}

beforeAll(async () => {
  ({ made: project, of: members } = await makeHome());
  path = `/projects/${project.id}/pipeline_schedules`;
});

const as = (who: Who) => app.as(members[who].token);
const create = (who: Who, body: object = {}) =>
  as(who)(`POST ${path}`, { body: { description: 'Nightly', ref: 'wall', cron: '@daily', ...body } });
/** Made by the developer, and gone at the end of the test. */
async function withSchedule(body: object, work: (one: string, made: { id: number }) => Promise<void>) {
  const made = bodyOf(await create('developer', body), 201);
  await work(`${path}/${made.id}`, made);
  expect([204, 404]).toContain((await as('maintainer')(`DELETE ${path}/${made.id}`)).status);
}
const pipelinesOf = async (one: string) => bodyOf(await as('developer')(`GET ${one}/pipelines`), 200);

test('a schedule is made, read, changed by its owner, taken over and deleted', () =>
  withSchedule(
    { cron_timezone: 'Berlin', inputs: [{ name: 'stone', value: 'granite' }] },
    async (one, made) => {
      expect(made).toMatchObject({
        description: 'Nightly',
        ref: 'refs/heads/wall',
        cron: '@daily',
        cron_timezone: 'Berlin',
        active: true,
        owner: { id: members.developer.id },
        last_pipeline: null,
        inputs: [{ name: 'stone', value: 'granite' }],
        variables: [],
        next_run_at: expect.stringMatching(/:03:00\.000Z$/),
      });
      expect(bodyOf(await as('developer')(`GET ${one}`), 200)).toEqual(made);
      const { inputs: _, variables: __, last_pipeline: ___, ...basic } = made as Record<string, unknown>;
      expect(bodyOf(await as('reporter')(`GET ${one}`), 200)).toEqual({ ...basic, last_pipeline: null });
      expect(bodyOf(await as('maintainer')(`GET ${one}`), 200)).toEqual(made);
      expect(bodyOf(await as('reporter')(`GET ${path}`), 200)).toContainEqual(basic);
      expect(bodyOf(await as('reporter')(`GET ${path}?scope=active`), 200)).toContainEqual(basic);
      expect(bodyOf(await as('reporter')(`GET ${path}?scope=inactive`), 200)).toEqual([]);

      const body = { description: 'Hourly', cron: '@hourly', inputs: [{ name: 'stone', destroy: true }] };
      expect((await as('maintainer')(`PUT ${one}`, { body })).status).toBe(403);
      const changed = bodyOf(await as('developer')(`PUT ${one}`, { body }), 200);
      expect(changed).toMatchObject({ description: 'Hourly', cron: '@hourly', inputs: [], active: true });
      expect(bodyOf(await as('developer')(`PUT ${one}`, { body: { active: false } }), 200).active).toBe(
        false,
      );
      expect((await as('developer')(`PUT ${one}`, { body: { cron: 'soon' } })).body.message).toEqual({
        cron: ['syntax is invalid'],
      });

      expect((await as('developer')(`POST ${one}/take_ownership`)).status).toBe(200);
      expect((await as('reporter')(`POST ${one}/take_ownership`)).status).toBe(403);
      const taken = bodyOf(await as('maintainer')(`POST ${one}/take_ownership`), 201);
      expect(taken.owner.id).toBe(members.maintainer.id);
      expect((await as('maintainer')(`POST ${one}/take_ownership`)).status).toBe(200);
      for (const request of [`PUT ${one}`, `DELETE ${one}`, `POST ${one}/take_ownership`])
        expect([request, (await as('developer')(request, { body: {} })).status]).toEqual([request, 403]);
      expect((await as('maintainer')(`DELETE ${one}`)).status).toBe(204);
      expect((await as('maintainer')(`GET ${one}`)).body).toEqual({
        message: '404 PipelineSchedule Not Found',
      });
      const { sql } = app.app.services.database;
      const audits = await sql<{ event_name: string }[]>`select event_name from audit_events
      where details ->> 'target_type' = 'Ci::PipelineSchedule' and details ->> 'target_id' = ${String(made.id)} order by id`;
      expect(audits.map(({ event_name }) => event_name.replace('pipeline_schedule_', ''))).toEqual([
        'created',
        'updated',
        'updated',
        'owner_changed',
        'deleted',
      ]);
    },
  ));

test.each([
  [{ cron: '0 0 30 2 *' }, { cron: ['syntax is invalid'] }],
  [{ cron_timezone: 'Nowhere' }, { cron_timezone: ['syntax is invalid'] }],
  [{ description: undefined }, undefined],
  [{ ref: undefined }, undefined],
])('with %j it is refused', async (body, message) => {
  const { status, body: said } = await create('developer', body);
  expect(status).toBe(400);
  if (message) expect(said.message).toEqual(message);
});

test('a name of a branch and a tag is ambiguous, in full it is not', async () => {
  bodyOf(
    await app.root(`POST /projects/${project.id}/repository/tags`, {
      body: { tag_name: 'wall', ref: 'main' },
    }),
    201,
  );
  expect((await create('developer')).body.message).toEqual({ ref: ['is ambiguous'] });
  await withSchedule({ ref: 'refs/tags/wall' }, async (one) => {
    bodyOf(await as('developer')(`POST ${one}/play`), 201);
    expect((await pipelinesOf(one))[0]).toMatchObject({ ref: 'wall', source: 'schedule' });
  });
  expect((await app.root(`DELETE /projects/${project.id}/repository/tags/wall`)).status).toBe(204);
});

test('variables are of the owner, sealed, and read by maintainers', () =>
  withSchedule({}, async (one, { id }) => {
    const home = `${one}/variables`;
    const body = { key: 'STONE', value: 'granite-secret' };
    expect((await as('maintainer')(`POST ${home}`, { body })).status).toBe(403);
    const variable = bodyOf(await as('developer')(`POST ${home}`, { body }), 201);
    expect(variable).toEqual({ ...body, variable_type: 'env_var' });
    expect((await as('developer')(`POST ${home}`, { body })).body.message).toEqual({
      key: ['has already been taken'],
    });
    expect((await as('developer')(`POST ${home}`, { body: { key: 'a-b', value: '' } })).body.message).toEqual(
      {
        key: ["can contain only letters, digits and '_'."],
      },
    );
    const { sql } = app.app.services.database;
    const [row] =
      await sql`select v::text as text from pipeline_schedule_variables v where schedule_id = ${id}`;
    expect(row?.text).not.toContain('granite');
    for (const who of ['developer', 'maintainer'] as const)
      expect(bodyOf(await as(who)(`GET ${home}/STONE`), 200)).toEqual(variable);
    expect((await as('reporter')(`GET ${home}/STONE`)).status).toBe(403);
    expect(bodyOf(await as('maintainer')(`GET ${one}`), 200).variables).toEqual([variable]);
    expect((await as('maintainer')(`PUT ${home}/STONE`, { body: { value: 'x' } })).status).toBe(403);
    const change = { value: 'marble', variable_type: 'file' };
    const changed = { key: 'STONE', ...change };
    expect(bodyOf(await as('developer')(`PUT ${home}/STONE`, { body: change }), 200)).toEqual(changed);
    expect(bodyOf(await as('developer')(`PUT ${home}/STONE`, { body: {} }), 200)).toEqual(changed);
    expect(bodyOf(await as('developer')(`DELETE ${home}/STONE`), 202)).toEqual(changed);
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect((await as('developer')(`${method} ${home}/STONE`)).body).toEqual({
        message: '404 Variable Not Found',
      });
  }));

test('reporters make none, strangers see none, and no project has that of another', async () => {
  expect((await create('reporter')).status).toBe(403);
  const stranger = await makeUser(app);
  const elsewhere = await makeProject(app);
  await withSchedule({}, async (_, { id }) => {
    expect((await app.as(stranger.token)(`GET ${path}/${id}`)).status).toBe(404);
    const there = `/projects/${elsewhere.id}/pipeline_schedules/${id}`;
    for (const request of [
      `GET ${there}`,
      `PUT ${there}`,
      `DELETE ${there}`,
      `GET ${there}/pipelines`,
      `POST ${there}/play`,
    ])
      expect([request, (await app.root(request)).status]).toEqual([request, 404]);
  });
});

test('of many that are asked for at once, ten are made', async () => {
  const full = await makeProject(app);
  const body = { description: 'Nightly', ref: 'main', cron: '@daily' };
  const all = await Promise.all(
    Array.from({ length: 12 }, () => app.root(`POST /projects/${full.id}/pipeline_schedules`, { body })),
  );
  expect(all.map(({ status }) => status).sort()).toEqual([...Array(10).fill(201), 400, 400]);
  expect(all.find(({ status }) => status === 400)?.body.message).toEqual({
    base: ['Maximum number of pipeline schedules (10) exceeded'],
  });
});

test('played, it makes a pipeline of the caller’s', () =>
  withSchedule({ inputs: [{ name: 'stone', value: 'granite' }] }, async (one) => {
    expect(bodyOf(await as('maintainer')(`POST ${one}/play`), 201)).toEqual({ message: '201 Created' });
    const [made] = await pipelinesOf(one);
    expect(made).toMatchObject({ ref: 'wall', source: 'schedule', status: 'pending' });
    expect(bodyOf(await as('reporter')(`GET ${one}`), 200).last_pipeline).toEqual(made);
    const { user } = bodyOf(await as('developer')(`GET /projects/${project.id}/pipelines/${made.id}`), 200);
    expect(user.id).toBe(members.maintainer.id);
    expect(bodyOf(await as('developer')(`GET ${one}/pipelines?status=failed`), 200)).toEqual([]);
    expect((await as('reporter')(`POST ${one}/play`)).status).toBe(403);
  }));

const DAY_MS = 24 * 3_600_000;

/** A minute after the time, what is due is taken, by several processes at once. */
async function passTime(due: string, work: () => Promise<void>): Promise<void> {
  const back = moveClock(Date.parse(due) - now().getTime() + 60_000);
  try {
    const take = app.app.capabilities.flatMap(({ tasks }) => tasks?.[TAKE_DUE] ?? [])[0];
    await Promise.all([take?.({}), take?.({}), take?.({})]);
    await work();
  } finally {
    back();
  }
}
const shown = async (one: string) => bodyOf(await app.root(`GET ${one}`), 200);
const runTask = async (payload: Record<string, unknown>): Promise<void> => {
  await app.app.capabilities.flatMap(({ tasks }) => tasks?.[RUN] ?? [])[0]?.(payload);
};

test('when it is due, it makes one pipeline as its owner, though the work be done twice', () =>
  withSchedule({}, async (one, { id }) => {
    bodyOf(await as('maintainer')(`POST ${one}/take_ownership`), 201);
    const { next_run_at: due } = await shown(one);
    await passTime(due, async () => {
      await until(async () => (await pipelinesOf(one)).length > 0, 'a pipeline of the schedule');
      const after = await shown(one);
      expect(new Date(after.next_run_at).getTime() - new Date(due).getTime()).toBe(DAY_MS);
      await runTask({ id, project_id: project.id, due });
      expect(await pipelinesOf(one)).toHaveLength(1);
      await runTask({ id, project_id: project.id, due: after.next_run_at });
      expect(await pipelinesOf(one)).toHaveLength(2);
    });
    const { id: last } = (await shown(one)).last_pipeline;
    const { user } = bodyOf(await app.root(`GET /projects/${project.id}/pipelines/${last}`), 200);
    expect(user.id).toBe(members.maintainer.id);
  }));

test('one that is not active, or not due, makes none', () =>
  withSchedule({ active: false }, async (one, { id }) => {
    const { next_run_at: due } = await shown(one);
    await passTime(due, async () => expect((await shown(one)).next_run_at).toBe(due));
    await runTask({ id, project_id: project.id, due });
    expect(await pipelinesOf(one)).toEqual([]);
  }));

test('a wrong file leaves a pipeline that failed, and a ref that is gone leaves none', () =>
  withSchedule({ ref: 'broken' }, async (one, { id }) => {
    const due = (await shown(one)).next_run_at;
    await runTask({ id, project_id: project.id, due });
    expect(await pipelinesOf(one)).toEqual([]);
    expect((await as('developer')(`POST ${one}/play`)).body.message).toEqual({
      base: ['Reference not found'],
    });
    const actions = [{ action: 'update', file_path: '.gitlab-ci.yml', content: 'build: 1\n' }];
    const body = { branch: 'broken', start_branch: 'main', commit_message: 'Break [skip ci]', actions };
    bodyOf(await app.root(`POST /projects/${project.id}/repository/commits`, { body }), 201);
    await runTask({ id, project_id: project.id, due });
    expect((await pipelinesOf(one)).map(({ status }: { status: string }) => status)).toEqual(['failed']);
    expect((await shown(one)).active).toBe(true);
  }));

test.each<[string, (of: Record<Who, MadeUser>, home: string) => Promise<unknown>]>([
  ['is blocked', async ({ developer }) => app.root(`POST /users/${developer.id}/block`)],
  [
    'is no member any more',
    async ({ developer }, home) => app.root(`DELETE ${home}/members/${developer.id}`),
  ],
  [
    'is a Reporter now',
    async ({ developer }, home) =>
      app.root(`PUT ${home}/members/${developer.id}`, { body: { access_level: 20 } }),
  ],
  [
    'may not run the ref any more',
    async (_, home) =>
      app.root(`POST ${home}/protected_branches`, {
        body: { name: 'wall', push_access_level: 40, merge_access_level: 40 },
      }),
  ],
])('a schedule whose owner %s is made inactive', async (_, change) => {
  const { made: home, of } = await makeHome();
  const at = `/projects/${home.id}`;
  const body = { description: 'Nightly', ref: 'wall', cron: '@daily' };
  const { id, next_run_at: due } = bodyOf(
    await app.as(of.developer.token)(`POST ${at}/pipeline_schedules`, { body }),
    201,
  );
  expect((await change(of, at)) as { status: number }).toMatchObject({ status: expect.any(Number) });
  await runTask({ id, project_id: home.id, due });
  const one = `${at}/pipeline_schedules/${id}`;
  expect(await shown(one)).toMatchObject({ active: false, next_run_at: due, last_pipeline: null });
  bodyOf(await app.as(of.maintainer.token)(`POST ${one}/take_ownership`), 201);
  const again = await app.as(of.maintainer.token)(`PUT ${one}`, { body: { active: true } });
  expect(bodyOf(again, 200).active).toBe(true);
  await runTask({ id, project_id: home.id, due });
  expect((await shown(one)).last_pipeline).toMatchObject({ ref: 'wall', source: 'schedule' });
});

test('who may not push to a protected branch makes no schedule of it, and plays none', async () => {
  const { made, of } = await makeHome();
  const home = `/projects/${made.id}`;
  const body = { description: 'Nightly', ref: 'wall', cron: '@daily' };
  const own = bodyOf(await app.as(of.developer.token)(`POST ${home}/pipeline_schedules`, { body }), 201);
  bodyOf(
    await app.root(`POST ${home}/protected_branches`, {
      body: { name: 'wall', push_access_level: 40, merge_access_level: 40 },
    }),
    201,
  );
  const one = `${home}/pipeline_schedules/${own.id}`;
  const developer = app.as(of.developer.token);
  for (const ref of ['wall', 'refs/heads/wall']) {
    expect(await developer(`POST ${home}/pipeline_schedules`, { body: { ...body, ref } })).toMatchObject({
      status: 403,
    });
    expect(await developer(`PUT ${one}`, { body: { ref } })).toMatchObject({ status: 403 });
  }
  expect(await developer(`POST ${one}/play`)).toMatchObject({ status: 403 });
  expect(bodyOf(await developer(`GET ${one}/pipelines`), 200)).toEqual([]);
  bodyOf(await app.as(of.maintainer.token)(`POST ${one}/play`), 201);
  expect(bodyOf(await developer(`GET ${one}/pipelines`), 200)).toHaveLength(1);
});
