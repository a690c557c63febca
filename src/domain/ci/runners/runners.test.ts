/** Runners over HTTP, by those who own them: who makes, sees, changes, shares and deletes which. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { withSettings } from '../../../../test/support/browser.ts';
import {
  addMember,
  bodyOf,
  type MadeGroup,
  type MadeProject,
  type MadeUser,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';
import { overtake } from '../../../../test/support/races.ts';

const ashlar = useApp();
let group: MadeGroup;
/** Of the group. */
let project: MadeProject;
let other: MadeProject;
/** In the project alone, but for the owner, who is the group's. */
let maintainer: MadeUser;
let developer: MadeUser;
let groupOwner: MadeUser;
let groupMaintainer: MadeUser;
let stranger: MadeUser;

beforeAll(async () => {
  group = await makeGroup(ashlar);
  project = await makeProject(ashlar, { namespace_id: group.id });
  other = await makeProject(ashlar);
  ({ maintainer, developer } = await makeMembers(
    ashlar,
    `projects/${project.id}`,
    'maintainer',
    'developer',
  ));
  const ofGroup = await makeMembers(ashlar, `groups/${group.id}`, 'owner', 'maintainer');
  groupOwner = ofGroup.owner;
  groupMaintainer = ofGroup.maintainer;
  stranger = await makeUser(ashlar);
});

const sql = () => ashlar.app.services.database.sql;
const create = (by: { token: string } | undefined, body: object) =>
  (by ? ashlar.as(by.token) : ashlar.root)('POST /user/runners', { body });

/** A new runner of root's: of the project, unless it is said otherwise. */
async function make(body: object = {}): Promise<{ id: number; token: string }> {
  const usual = { runner_type: 'project_type', project_id: project.id };
  return bodyOf(await create(undefined, 'runner_type' in body ? body : { ...usual, ...body }), 201);
}

const makeOfGroup = () => make({ runner_type: 'group_type', group_id: group.id });
const makeOfInstance = () => make({ runner_type: 'instance_type' });
const statusOf = async (user: MadeUser, request: string, body?: object) =>
  (await ashlar.as(user.token)(request, body && { body })).status;
const idsOf = (body: { id: number }[]) => body.map(({ id }) => id);

/** Gives another project the runner; both are root's. */
const share = async (id: number, place = other) =>
  bodyOf(await ashlar.root(`POST /projects/${place.id}/runners`, { body: { runner_id: id } }), 201);

describe('making a runner', () => {
  test('of a project: its token is shown once, and kept as a digest', async () => {
    const body = {
      ...{ runner_type: 'project_type', project_id: project.id, description: 'Kiln', locked: true },
      ...{ tag_list: ' stone, lime,stone', run_untagged: false, access_level: 'ref_protected' },
      ...{ maximum_timeout: 900, maintenance_note: 'Sundays', paused: true },
    };
    const made = bodyOf(await create(maintainer, body), 201);
    expect(made).toEqual({
      id: made.id,
      token: expect.stringMatching(/^glrt-t3_[\w-]{27}$/),
      token_expires_at: null,
    });
    const shown = bodyOf(await ashlar.as(maintainer.token)(`GET /runners/${made.id}`), 200);
    expect(shown).toEqual({
      ...{ id: made.id, description: 'Kiln', ip_address: '', active: false, paused: true, is_shared: false },
      ...{ runner_type: 'project_type', name: null, online: null, created_at: expect.any(String) },
      ...{ created_by: expect.objectContaining({ id: maintainer.id, username: maintainer.username }) },
      ...{ status: 'never_contacted', job_execution_status: 'idle', tag_list: ['stone', 'lime'] },
      ...{ run_untagged: false, locked: true, maximum_timeout: 900, access_level: 'ref_protected' },
      ...{ version: null, revision: null, platform: null, architecture: null, contacted_at: null },
      ...{ maintenance_note: 'Sundays', groups: [] },
      projects: [
        expect.objectContaining({ id: project.id, path_with_namespace: project.path_with_namespace }),
      ],
    });
    const [row] = await sql()`select r::text as text from runners r where id = ${made.id}`;
    expect(row?.text).not.toContain(made.token.slice(8));
    expect((await ashlar.as(made.token)('GET /runners')).status).toBe(401);
  });

  test('of a group and of the instance', async () => {
    const ofGroup = bodyOf(await create(groupOwner, { runner_type: 'group_type', group_id: group.id }), 201);
    expect(ofGroup.token).toMatch(/^glrt-t2_/);
    const shown = bodyOf(await ashlar.as(groupOwner.token)(`GET /runners/${ofGroup.id}`), 200);
    expect(shown).toMatchObject({
      runner_type: 'group_type',
      is_shared: false,
      projects: [],
      groups: [{ id: group.id, name: group.full_path }],
    });
    const ofInstance = await makeOfInstance();
    expect(ofInstance.token).toMatch(/^glrt-t1_/);
    const path = `GET /runners/${ofInstance.id}`;
    const one = bodyOf(await ashlar.as(stranger.token)(path, { query: 'include_projects=false' }), 200);
    expect(one).toMatchObject({ runner_type: 'instance_type', is_shared: true, groups: [] });
    expect(one).not.toHaveProperty('projects');
  });

  test('is for those who manage runners there', async () => {
    const ofProject = { runner_type: 'project_type', project_id: project.id };
    const ofGroup = { runner_type: 'group_type', group_id: group.id };
    for (const [user, body, status] of [
      [developer, ofProject, 403],
      [stranger, ofProject, 404],
      [groupMaintainer, ofProject, 201],
      [groupMaintainer, ofGroup, 403],
      [maintainer, ofGroup, 403],
      [stranger, ofGroup, 404],
      [groupOwner, { runner_type: 'instance_type' }, 403],
    ] as const)
      expect([body, (await create(user, body)).status]).toEqual([body, status]);
  });

  test.each([
    [{}, { error: 'runner_type is missing' }],
    [{ runner_type: 'mine' }, { error: 'runner_type does not have a valid value' }],
    [{ runner_type: 'group_type' }, { error: 'group_id is missing' }],
    [{ runner_type: 'project_type' }, { error: 'project_id is missing' }],
    [
      { runner_type: 'group_type', group_id: 1, project_id: 1 },
      { error: 'group_id, project_id are mutually exclusive' },
    ],
    [
      { runner_type: 'instance_type', run_untagged: false },
      { message: { tags_list: ['can not be empty when runner is not allowed to pick untagged jobs'] } },
    ],
    [
      { runner_type: 'instance_type', maximum_timeout: 599 },
      { message: { maximum_timeout: ['needs to be at least 10 minutes'] } },
    ],
    [
      { runner_type: 'instance_type', maintenance_note: 'x'.repeat(1_025) },
      { message: { maintenance_note: ['is too long (maximum is 1024 characters)'] } },
    ],
    [
      { runner_type: 'instance_type', tag_list: Array.from({ length: 51 }, (_, at) => `tag-${at}`) },
      { message: { tags_list: ['Too many tags specified. Please limit the number of tags to 50'] } },
    ],
    [
      { runner_type: 'instance_type', access_level: 'all' },
      { error: 'access_level does not have a valid value' },
    ],
  ])('refuses %j', async (body, expected) => {
    const refused = await create(undefined, body);
    expect([refused.status, refused.body]).toEqual([400, expect.objectContaining(expected)]);
  });

  test('is an administrator’s alone, where the settings say so', async () => {
    const body = { runner_type: 'project_type', project_id: project.id };
    await withSettings(ashlar, { valid_runner_registrars: ['group'] }, async () => {
      expect((await create(maintainer, body)).status).toBe(403);
      expect((await create(groupOwner, { runner_type: 'group_type', group_id: group.id })).status).toBe(201);
      expect((await create(undefined, body)).status).toBe(201);
    });
    await withSettings(ashlar, { valid_runner_registrars: ['project'] }, async () => {
      expect((await create(groupOwner, { runner_type: 'group_type', group_id: group.id })).status).toBe(403);
      expect((await create(maintainer, body)).status).toBe(201);
    });
  });

  test('with a token that ends, where the settings say so', async () => {
    await withSettings(ashlar, { project_runner_token_expiration_interval: 86_400 }, async () => {
      const made = bodyOf(
        await create(maintainer, { runner_type: 'project_type', project_id: project.id }),
        201,
      );
      const left = Date.parse(made.token_expires_at) - Date.now();
      expect(left).toBeGreaterThan(86_000_000);
      expect(left).toBeLessThanOrEqual(86_400_000);
      expect((await makeOfInstance()) as object).toMatchObject({ token_expires_at: null });
    });
  });

  test('goes on by tokens with the scope for it', async () => {
    const path = `POST /users/${groupOwner.id}/personal_access_tokens`;
    const tokenOf = async (...scopes: string[]) =>
      bodyOf(await ashlar.root(path, { body: { name: 'runners', scopes } }), 201) as { token: string };
    const body = { runner_type: 'group_type', group_id: group.id };
    const [creating, managing, reading] = [
      await tokenOf('create_runner'),
      await tokenOf('manage_runner'),
      await tokenOf('read_api'),
    ];
    const { id } = bodyOf(await create(creating, body), 201);
    expect((await create(managing, body)).status).toBe(403);
    expect((await ashlar.as(creating.token)(`GET /runners/${id}`)).status).toBe(403);
    const change = { body: { description: 'Kiln' } };
    expect((await ashlar.as(reading.token)(`PUT /runners/${id}`, change)).status).toBe(403);
    bodyOf(await ashlar.as(reading.token)(`GET /runners/${id}`), 200);
    bodyOf(await ashlar.as(managing.token)(`PUT /runners/${id}`, change), 200);
    expect((await ashlar.as(managing.token)(`DELETE /runners/${id}`)).status).toBe(204);
  });

  test('of many that are asked for at once, as many as there is room for', async () => {
    const full = await makeProject(ashlar);
    await sql()`with made as (
        insert into runners (runner_type, digest, registration_type, paused, locked, run_untagged, tag_list, access_level,
          created_at, updated_at)
        select 'project_type', sha256(('filler ' || n)::bytea), 'authenticated_user', false, false, true, '{}', 'not_protected',
          now() - (case when n > 999 then interval '8 days' else '0' end), now() from generate_series(1, 1010) n returning id)
      insert into runner_projects (runner_id, project_id, created_at) select id, ${full.id}, now() from made`;
    const body = { runner_type: 'project_type', project_id: full.id };
    const all = await Promise.all(Array.from({ length: 4 }, () => create(undefined, body)));
    expect(all.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400]);
    expect(all.find(({ status }) => status === 400)?.body.message).toEqual({
      'runner_projects.base': ['Maximum number of ci registered project runners (1000) exceeded'],
    });
    const { id } = await make();
    const assigned = await ashlar.root(`POST /projects/${full.id}/runners`, { body: { runner_id: id } });
    expect(assigned.status).toBe(400);
  });
});

describe('who does what with a runner', () => {
  /** Statuses of reading, changing and deleting it: the last is not done where the second is refused. */
  const reach = async (user: MadeUser, id: number) => [
    await statusOf(user, `GET /runners/${id}`),
    await statusOf(user, `GET /runners/${id}/managers`),
    await statusOf(user, `PUT /runners/${id}`, { description: 'Kiln' }),
    await statusOf(user, `POST /runners/${id}/reset_authentication_token`),
  ];
  const [all, reads, none] = [
    [200, 200, 200, 201],
    [200, 200, 403, 403],
    [404, 404, 404, 404],
  ];

  test('of a project', async () => {
    const { id } = await make();
    expect(await reach(maintainer, id)).toEqual(all);
    expect(await reach(groupMaintainer, id)).toEqual(all);
    expect(await reach(developer, id)).toEqual(none);
    expect(await reach(stranger, id)).toEqual(none);
  });

  test('of a project that shares it: those of the other projects read it', async () => {
    const { id } = await make();
    await share(id);
    const { maintainer: borrower, developer: bystander } = await makeMembers(
      ashlar,
      `projects/${other.id}`,
      'maintainer',
      'developer',
    );
    expect(await reach(borrower, id)).toEqual(reads);
    expect(await reach(bystander, id)).toEqual(none);
    expect(await statusOf(borrower, `DELETE /runners/${id}`)).toBe(403);
    expect((await ashlar.as(borrower.token)(`PUT /runners/${id}`, { body: { locked: true } })).body).toEqual({
      message: '403 Forbidden - No access granted',
    });
    // The owner's project is out of their sight.
    const shown = bodyOf(await ashlar.as(borrower.token)(`GET /runners/${id}`), 200);
    expect(idsOf(shown.projects)).toEqual([other.id]);
    const projects = bodyOf(await ashlar.as(borrower.token)(`GET /runners/${id}/projects`), 200);
    expect(idsOf(projects)).toEqual([other.id]);
    const owned = await ashlar.root(`GET /runners/${id}/projects`);
    expect(idsOf(bodyOf(owned, 200))).toEqual([project.id, other.id]);
    expect(owned.headers.get('x-total')).toBe('2');
  });

  test('of a group: those below read it', async () => {
    const { id } = await makeOfGroup();
    expect(await reach(groupOwner, id)).toEqual(all);
    expect(await reach(groupMaintainer, id)).toEqual(reads);
    expect(await reach(maintainer, id)).toEqual(reads);
    expect(await reach(developer, id)).toEqual(none);
    expect(await reach(stranger, id)).toEqual(none);
  });

  test('of the instance: everybody reads it', async () => {
    const { id } = await makeOfInstance();
    expect(await reach(groupOwner, id)).toEqual(reads);
    expect((await ashlar.call(`GET /runners/${id}`)).status).toBe(401);
  });

  test('an auditor reads all, and changes none', async () => {
    const auditor = await makeUser(ashlar, { auditor: true });
    const { id } = await make();
    expect(await reach(auditor, id)).toEqual(reads);
    expect(await statusOf(auditor, 'GET /runners/all')).toBe(200);
    expect(await statusOf(groupOwner, 'GET /runners/all')).toBe(403);
    expect((await ashlar.call('GET /runners/all')).status).toBe(401);
    const shown = bodyOf(await ashlar.as(auditor.token)(`GET /runners/${id}`), 200);
    expect(idsOf(shown.projects)).toEqual([project.id]);
  });

  test('one that is not there is nobody’s', async () => {
    for (const id of ['987654321', '99999999999999999999', 'x'])
      expect((await ashlar.root(`GET /runners/${id}`)).body).toEqual({ message: '404 Runner Not Found' });
  });
});

describe('changing a runner', () => {
  test('leaves what is not named, and tells the audit trail', async () => {
    const { id } = await make({ description: 'Kiln', tag_list: ['stone'] });
    const change = async (body: object) => bodyOf(await ashlar.root(`PUT /runners/${id}`, { body }), 200);
    expect(await change({ active: false })).toMatchObject({
      description: 'Kiln',
      paused: true,
      active: false,
    });
    expect(await change({ paused: 'false' })).toMatchObject({ tag_list: ['stone'], paused: false });
    expect(await change({ tag_list: 'lime,clay', run_untagged: false })).toMatchObject({
      tag_list: ['lime', 'clay'],
      run_untagged: false,
    });
    expect(await change({ maximum_timeout: 600 })).toMatchObject({ maximum_timeout: 600 });
    expect(await change({ maximum_timeout: null })).toMatchObject({ maximum_timeout: null });
    await change({ maximum_timeout: null });
    const events = await sql()<{ event_name: string }[]>`select event_name from audit_events
      where details ->> 'target_type' = 'Ci::Runner' and details ->> 'target_id' = ${String(id)} order by id`;
    expect(events.map(({ event_name }) => event_name)).toEqual([
      'ci_runner_created',
      ...Array(5).fill('ci_runner_updated'),
    ]);
  });

  test.each([
    [{}, 'at least one parameter must be provided'],
    [{ active: true, paused: true }, 'active, paused are mutually exclusive'],
    [{ paused: 'perhaps' }, 'paused is invalid'],
  ])('refuses %j', async (body, error) => {
    const { id } = await make();
    const refused = await ashlar.root(`PUT /runners/${id}`, { body });
    expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining(error)]);
  });

  test('refuses a runner that would take nothing', async () => {
    const { id } = await make({ tag_list: ['stone'] });
    const refused = await ashlar.root(`PUT /runners/${id}`, { body: { run_untagged: false, tag_list: [] } });
    expect([refused.status, refused.body.message]).toEqual([
      400,
      { tags_list: ['can not be empty when runner is not allowed to pick untagged jobs'] },
    ]);
  });
});

describe('lists', () => {
  test('each with the runners that are there for it', async () => {
    const place = await makeGroup(ashlar);
    const below = await makeGroup(ashlar, { parent_id: place.id });
    const own = await makeProject(ashlar, { namespace_id: below.id });
    const { owner } = await makeMembers(ashlar, `groups/${place.id}`, 'owner');
    const inside = await makeUser(ashlar);
    await addMember(ashlar, `projects/${own.id}`, inside, 40);
    const above = (await make({ runner_type: 'group_type', group_id: place.id })).id;
    const ofBelow = (await make({ runner_type: 'group_type', group_id: below.id })).id;
    const ofOwn = (await make({ project_id: own.id })).id;
    const borrowed = (await make({ project_id: other.id })).id;
    await share(borrowed, own);
    const ofInstance = (await makeOfInstance()).id;
    const listed = async (user: MadeUser, path: string, query = '') =>
      idsOf(bodyOf(await ashlar.as(user.token)(`GET ${path}`, { query: `per_page=100&${query}` }), 200));
    expect(await listed(owner, '/runners')).toEqual([above, ofBelow, ofOwn, borrowed]);
    expect(await listed(inside, '/runners')).toEqual([ofOwn, borrowed]);
    expect(await listed(stranger, '/runners')).toEqual([]);
    const typed = 'type=project_type';
    const all = [above, ofBelow, ofOwn, borrowed];
    expect(await listed(inside, `/projects/${own.id}/runners`)).toEqual(
      expect.arrayContaining([...all, ofInstance]),
    );
    expect(await listed(inside, `/projects/${own.id}/runners`, typed)).toEqual([ofOwn, borrowed]);
    expect(await listed(inside, `/projects/${own.id}/runners`, 'scope=group_type')).toEqual([above, ofBelow]);
    const [upper, lower] = [`/groups/${place.id}/runners`, `/groups/${below.id}/runners`];
    expect(await listed(owner, upper, 'type=group_type')).toEqual([above]);
    expect(await listed(owner, lower, 'type=group_type')).toEqual([above, ofBelow]);
    expect(await listed(owner, lower, typed)).toEqual([]);
    expect(await listed(owner, lower)).toContain(ofInstance);
    expect(await statusOf(inside, `GET ${lower}`)).toBe(403);
    bodyOf(
      await ashlar.root(`PUT /projects/${own.id}`, {
        body: { shared_runners_enabled: false, group_runners_enabled: false },
      }),
      200,
    );
    expect(await listed(inside, `/projects/${own.id}/runners`)).toEqual([ofOwn, borrowed]);
  });

  test('by status, tags, version and the old words', async () => {
    const place = await makeGroup(ashlar);
    const names = ['online', 'offline', 'never_contacted', 'stale', 'forgotten'] as const;
    const ids = new Map<string, number>();
    for (const name of names) {
      const body = { runner_type: 'group_type', group_id: place.id, paused: name === 'stale' };
      ids.set(name, (await make({ ...body, tag_list: ['stone', name] })).id);
    }
    const id = (name: (typeof names)[number]) => ids.get(name) ?? 0;
    await sql()`update runners set contacted_at = now() - interval '119 minutes' where id = ${id('online')}`;
    await sql()`update runners set contacted_at = now() - interval '121 minutes' where id = ${id('offline')}`;
    await sql()`update runners set created_at = now() - interval '9 days', contacted_at = now() - interval '8 days'
      where id = ${id('stale')}`;
    await sql()`update runners set created_at = now() - interval '8 days' where id = ${id('forgotten')}`;
    await sql()`insert into runner_managers (runner_id, system_xid, version, features, ip_address, created_at)
      values (${id('online')}, 's_1', '18.1.2', '{}', '192.0.2.1', now())`;
    const path = `GET /groups/${place.id}/runners`;
    const listed = async (query: string) => bodyOf(await ashlar.root(path, { query }), 200);
    const shown = await listed('type=group_type');
    expect(
      shown.map((each: { status: string; online: boolean | null }) => [each.status, each.online]),
    ).toEqual([
      ['online', true],
      ['offline', false],
      ['never_contacted', null],
      ['stale', false],
      ['stale', null],
    ]);
    for (const [query, expected] of [
      ['status=online', ['online']],
      ['status=offline', ['offline']],
      ['status=never_contacted', ['never_contacted']],
      ['status=stale', ['stale', 'forgotten']],
      ['status=paused', ['stale']],
      ['paused=true', ['stale']],
      ['status=active&tag_list=stone', ['online', 'offline', 'never_contacted', 'forgotten']],
      ['tag_list=stone,offline', ['offline']],
      ['tag_list=Stone', []],
      ['version_prefix=18.1', ['online']],
      ['version_prefix=8.1', []],
    ] as const)
      expect([query, idsOf(await listed(`${query}&type=group_type`))]).toEqual([query, expected.map(id)]);
    const scoped = async (scope: string) => {
      const query = `scope=${scope}&per_page=100`;
      return idsOf(bodyOf(await ashlar.root(`GET /projects/${project.id}/runners`, { query }), 200));
    };
    const { id: ofInstance } = await makeOfInstance();
    expect(await scoped('shared')).toContain(ofInstance);
    expect(await scoped('specific')).not.toContain(ofInstance);
    for (const list of ['/runners', '/runners/all', `/projects/${project.id}/runners`])
      expect((await ashlar.root(`GET ${list}`, { query: 'scope=mine' })).body).toEqual({
        message: 'Scope contains invalid value',
      });
    expect((await ashlar.root(path, { query: 'status=mine' })).body.error).toBe(
      'status does not have a valid value',
    );
    expect((await ashlar.root(path, { query: 'version_prefix=v1' })).status).toBe(400);
  });
});

describe('sharing a runner', () => {
  const assign = (user: MadeUser | undefined, id: number, place = other) =>
    (user ? ashlar.as(user.token) : ashlar.root)(`POST /projects/${place.id}/runners`, {
      body: { runner_id: id },
    });
  const take = (user: MadeUser | undefined, id: number, place = other) =>
    (user ? ashlar.as(user.token) : ashlar.root)(`DELETE /projects/${place.id}/runners/${id}`);
  let both: MadeUser;

  beforeAll(async () => {
    both = await makeUser(ashlar);
    for (const place of [project, other]) await addMember(ashlar, `projects/${place.id}`, both, 40);
  });

  test('between projects that one maintains, and back', async () => {
    const { id } = await make();
    expect(bodyOf(await assign(both, id), 201)).toMatchObject({ id, runner_type: 'project_type' });
    expect((await assign(both, id)).body).toEqual({ message: { runner_id: ['has already been taken'] } });
    expect((await ashlar.as(both.token)(`DELETE /runners/${id}`)).body).toEqual({
      message: '403 Forbidden - Runner associated with more than one project',
    });
    expect((await take(both, id, project)).body).toEqual({
      message:
        '403 Forbidden - You cannot unassign a runner from the owner project. Delete the runner instead',
    });
    expect((await take(both, id)).status).toBe(204);
    expect((await take(both, id)).body).toEqual({ message: '404 Runner Not Found' });
    expect((await ashlar.as(both.token)(`DELETE /runners/${id}`)).status).toBe(204);
    expect((await ashlar.root(`GET /runners/${id}`)).status).toBe(404);
  });

  test('is refused for those of others, locked ones, and those of groups and the instance', async () => {
    const { id: hidden } = await make({ project_id: (await makeProject(ashlar)).id });
    expect((await assign(both, hidden)).body).toEqual({ message: '404 Runner Not Found' });
    expect((await assign(developer, hidden)).status).toBe(404);
    const { id: locked } = await make({ locked: true });
    expect((await assign(both, locked)).body).toEqual({ message: '403 Forbidden - Runner is locked' });
    bodyOf(await assign(undefined, locked), 201);
    expect((await take(both, locked)).body).toEqual({ message: '403 Forbidden - Runner is locked' });
    const { id: ofGroup } = await makeOfGroup();
    expect((await assign(both, ofGroup)).body).toEqual({
      message: '403 Forbidden - Runner is a group runner',
    });
    const { id: ofInstance } = await makeOfInstance();
    expect((await assign(both, ofInstance)).status).toBe(400);
    expect((await assign(both, 987_654_321)).status).toBe(404);
    // A Maintainer here alone cannot fetch what belongs there.
    const { id } = await make();
    const { maintainer: borrower } = await makeMembers(ashlar, `projects/${other.id}`, 'maintainer');
    expect((await assign(borrower, id)).status).toBe(404);
  });

  test('is for Maintainers', async () => {
    const path = `/projects/${project.id}/runners`;
    const { id } = await make({ project_id: other.id });
    await share(id, project);
    for (const [user, refused] of [
      [developer, 403],
      [stranger, 404],
    ] as const)
      for (const request of [`GET ${path}`, `POST ${path}`, `DELETE ${path}/${id}`])
        expect([request, await statusOf(user, request)]).toEqual([request, refused]);
    for (const request of ['GET /runners', 'POST /user/runners'])
      expect((await ashlar.call(request)).status).toBe(401);
  });

  test('once, where it is asked for twice at once', async () => {
    const { id } = await make();
    const all = await Promise.all([1, 2, 3].map(() => assign(both, id)));
    expect(all.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
  });

  test('is refused for one that is locked meanwhile', async () => {
    const { id } = await make();
    const refused = await overtake(
      ashlar,
      (tx) => tx`update runners set locked = true where id = ${id}`,
      () => assign(both, id),
    );
    expect(refused.body).toEqual({ message: '403 Forbidden - Runner is locked' });
  });

  test('goes on where the owner goes: the next project owns it, and with the last it is an orphan', async () => {
    const [first, second] = [await makeProject(ashlar), await makeProject(ashlar)];
    const { id, token } = await make({ project_id: first.id });
    await share(id, second);
    const remove = ({ id: gone }: MadeProject) => sql()`delete from projects where id = ${gone}`;
    await remove(first);
    expect(bodyOf(await ashlar.root(`GET /runners/${id}`), 200).projects).toMatchObject([{ id: second.id }]);
    const verify = () => ashlar.call('POST /runners/verify', { body: { token } });
    expect((await verify()).status).toBe(200);
    await remove(second);
    const refused = await verify();
    expect([refused.status, refused.body]).toEqual([422, { message: 'Runner is orphaned' }]);
    expect((await ashlar.root(`DELETE /runners/${id}`)).status).toBe(204);
  });

  test('a runner goes with its group', async () => {
    const place = await makeGroup(ashlar);
    const { id, token } = await make({ runner_type: 'group_type', group_id: place.id });
    await sql()`delete from namespaces where id = ${place.id}`;
    expect((await ashlar.root(`GET /runners/${id}`)).status).toBe(404);
    expect((await ashlar.call('POST /runners/verify', { body: { token } })).status).toBe(403);
  });
});
