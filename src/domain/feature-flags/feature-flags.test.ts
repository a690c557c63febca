/** Feature flags of a project, over HTTP. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Called, useApp } from '../../../test/support/app.ts';
import {
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
  makeUser,
  uniqueName,
} from '../../../test/support/factories.ts';

const app = useApp();
let project: MadeProject;
let developer: MadeUser;
let reporter: MadeUser;

beforeAll(async () => {
  project = await makeProject(app);
  ({ developer, reporter } = await makeMembers(app, `projects/${project.id}`, 'developer', 'reporter'));
});

const flags = () => `/projects/${project.id}/feature_flags`;
const asDeveloper = (request: string, options = {}): Promise<Called> =>
  app.as(developer.token)(request, options);
const create = async (attributes: object = {}): Promise<Called['body']> => {
  const response = await asDeveloper(`POST ${flags()}`, {
    body: { name: uniqueName('flag'), ...attributes },
  });
  expect(response.status).toBe(201);
  return response.body;
};

describe('feature flags (facts: Projects core)', () => {
  test('are made, read, changed and deleted', async () => {
    const name = uniqueName('flag');
    const made = await asDeveloper(`POST ${flags()}`, {
      body: {
        name,
        description: 'The new checkout',
        version: 'new_version_flag',
        strategies: [
          {
            name: 'flexibleRollout',
            parameters: { rollout: 50, groupId: 'default', stickiness: 'userId' },
            scopes: [{ environment_scope: 'production' }],
          },
        ],
      },
    });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      name,
      description: 'The new checkout',
      active: true,
      version: 'new_version_flag',
      created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      updated_at: made.body.created_at,
      scopes: [],
      strategies: [
        {
          id: expect.any(Number),
          name: 'flexibleRollout',
          parameters: { rollout: '50', groupId: 'default', stickiness: 'userId' },
          scopes: [{ id: expect.any(Number), environment_scope: 'production' }],
          user_list: null,
        },
      ],
    });
    expect((await asDeveloper(`GET ${flags()}/${name}`)).body).toEqual(made.body);

    const renamed = uniqueName('flag');
    const changed = await asDeveloper(`PUT ${flags()}/${name}`, {
      body: { name: renamed, active: false, description: null },
    });
    expect(changed.status).toBe(200);
    expect(changed.body).toEqual({
      ...made.body,
      name: renamed,
      active: false,
      description: null,
      updated_at: expect.any(String),
    });
    expect((await asDeveloper(`GET ${flags()}/${name}`)).status).toBe(404);

    expect((await asDeveloper(`DELETE ${flags()}/${renamed}`)).status).toBe(204);
    expect((await asDeveloper(`DELETE ${flags()}/${renamed}`)).status).toBe(404);
  });

  test('strategies are added, changed and removed by id', async () => {
    const flag = await create({
      strategies: [
        { name: 'default', scopes: [{ environment_scope: 'production' }] },
        { name: 'userWithId', parameters: { userIds: 'ann' } },
      ],
    });
    const [first, second] = flag.strategies;
    const { status, body } = await asDeveloper(`PUT ${flags()}/${flag.name}`, {
      body: {
        strategies: [
          { id: first.id, _destroy: true },
          { id: second.id, parameters: { userIds: 'ann,bob' } },
          { name: 'gradualRolloutUserId', parameters: { percentage: '5', groupId: 'abc' } },
        ],
      },
    });
    expect(status).toBe(200);
    expect(body.strategies).toMatchObject([
      { id: second.id, parameters: { userIds: 'ann,bob' } },
      { name: 'gradualRolloutUserId' },
    ]);
    expect([first.id, second.id]).not.toContain(body.strategies[1].id);
  });

  test('are listed by name, by scope and by page', async () => {
    const other = await makeProject(app);
    const path = `/projects/${other.id}/feature_flags`;
    for (const [name, active] of [
      ['ccc', true],
      ['aaa', false],
      ['bbb', true],
    ] as const) {
      expect((await app.root(`POST ${path}`, { body: { name, active } })).status).toBe(201);
    }
    const names = async (query: string) => {
      const { body } = await app.root(`GET ${path}`, { query });
      return body.map((flag: { name: string }) => flag.name);
    };
    expect(await names('')).toEqual(['aaa', 'bbb', 'ccc']);
    expect(await names('scope=enabled')).toEqual(['bbb', 'ccc']);
    expect(await names('scope=disabled')).toEqual(['aaa']);
    expect(await names('per_page=1&page=2')).toEqual(['bbb']);
    expect((await app.root(`GET ${path}`, { query: 'scope=some' })).status).toBe(400);
    expect((await app.root(`GET ${path}`)).headers.get('x-total')).toBe('3');
  });

  test.each([
    [{}, '400 Bad request - "name" not given'],
    [{ name: 'A' }, { name: ['is too short (minimum is 2 characters)'] }],
    [
      { name: 'flag-x', strategies: [{ name: 'gitlabUserList' }] },
      { strategies: ["user list can't be blank"] },
    ],
    [
      { name: 'flag-x', strategies: [{ name: 'default', parameters: { a: null } }] },
      { strategies: { parameters: ['is invalid'] } },
    ],
  ])('%j is refused', async (body, message) => {
    const response = await asDeveloper(`POST ${flags()}`, { body });
    expect(response.status).toBe(400);
    expect(response.body.message).toEqual(message);
  });

  test('a name is there once in a project, however many ask for it at once', async () => {
    const name = uniqueName('flag');
    const responses = await Promise.all(
      Array.from({ length: 4 }, () => asDeveloper(`POST ${flags()}`, { body: { name } })),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400]);
    const refused = responses.find(({ status }) => status === 400);
    expect(refused?.body.message).toEqual({ name: ['has already been taken'] });
    const other = await create();
    const renamed = await asDeveloper(`PUT ${flags()}/${other.name}`, { body: { name } });
    expect(renamed.status).toBe(400);
  });

  test('changes at once are all kept', async () => {
    const { name } = await create();
    const environments = ['one', 'two', 'three', 'four'];
    const responses = await Promise.all(
      environments.map((environment_scope) =>
        asDeveloper(`PUT ${flags()}/${name}`, {
          body: { strategies: [{ name: 'default', scopes: [{ environment_scope }] }] },
        }),
      ),
    );
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { body } = await asDeveloper(`GET ${flags()}/${name}`);
    const kept = body.strategies.map(
      (each: { scopes: { environment_scope: string }[] }) => each.scopes[0]?.environment_scope,
    );
    expect(kept.sort()).toEqual(environments.sort());
  });

  test('a strategy is reached through its own flag only', async () => {
    const mine = await create({ strategies: [{ name: 'default' }] });
    const other = await create();
    const { status } = await asDeveloper(`PUT ${flags()}/${other.name}`, {
      body: { strategies: [{ id: mine.strategies[0].id, _destroy: true }] },
    });
    expect(status).toBe(400);
    expect((await asDeveloper(`GET ${flags()}/${mine.name}`)).body.strategies).toHaveLength(1);
  });

  test('a flag that changed is not deleted by who saw it before (spec: Status codes, 412)', async () => {
    const { name } = await create();
    const headers = { 'if-unmodified-since': new Date(0).toUTCString() };
    expect((await asDeveloper(`DELETE ${flags()}/${name}`, { headers })).status).toBe(412);
    expect((await asDeveloper(`GET ${flags()}/${name}`)).status).toBe(200);
  });

  test('are for Developers (facts: Roles and visibility)', async () => {
    const { name } = await create();
    const outsider = await makeUser(app);
    const requests = [
      `GET ${flags()}`,
      `POST ${flags()}`,
      `GET ${flags()}/${name}`,
      `PUT ${flags()}/${name}`,
      `DELETE ${flags()}/${name}`,
    ];
    for (const request of requests) {
      const options = request.startsWith('POST') ? { body: { name: 'mine' } } : {};
      expect((await app.call(request, options)).status).toBe(401);
      expect((await app.as(outsider.token)(request, options)).status).toBe(404);
      expect((await app.as(reporter.token)(request, options)).status).toBe(403);
    }
    expect((await asDeveloper(`GET ${flags()}/${name}`)).status).toBe(200);
  });

  test('every change is in the audit log', async () => {
    const { name } = await create();
    await asDeveloper(`PUT ${flags()}/${name}`, { body: { active: false } });
    await asDeveloper(`DELETE ${flags()}/${name}`);
    const rows = await app.app.services.database.sql`
      select author_id, entity_type, entity_id, event_name from audit_events
      where details ->> 'target_details' = ${name} order by id`;
    const common = { author_id: developer.id, entity_type: 'Project', entity_id: project.id };
    expect([...rows]).toEqual(
      ['created', 'updated', 'deleted'].map((change) => ({
        ...common,
        event_name: `feature_flag_${change}`,
      })),
    );
  });
});
