/** Protected environments: who says so, and whom they refuse. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';

const app: TestApp = useApp();
type Role = 'owner' | 'maintainer' | 'developer';
let group: { id: number };
let project: MadeProject;
let members: Record<Role, MadeUser>;

beforeAll(async () => {
  group = await makeGroup(app);
  project = await makeProject(app, { namespace_id: group.id });
  members = await makeMembers(app, `projects/${project.id}`, 'owner', 'maintainer', 'developer');
});

const as = (who: Role) => app.as(members[who].token);
const home = () => `/projects/${project.id}`;
const path = () => `${home()}/protected_environments`;
const protect = (name: string, ...levels: object[]) =>
  as('maintainer')(`POST ${path()}`, { body: { name, deploy_access_levels: levels } });

let written: string | undefined;
async function start(content: string, who: Role = 'developer'): Promise<number> {
  const action = written === undefined ? 'create' : 'update';
  const actions = [{ action, file_path: '.gitlab-ci.yml', content }];
  const body = { branch: 'main', commit_message: 'Change [skip ci]', actions };
  if (written !== content) bodyOf(await app.root(`POST ${home()}/repository/commits`, { body }), 201);
  // Developers run pipelines of it.
  if (written === undefined) await app.root(`DELETE ${home()}/protected_branches/main`);
  written = content;
  return bodyOf(await as(who)(`POST ${home()}/pipeline`, { body: { ref: 'main' } }), 201).id;
}
type SeenJob = { id: number; name: string; status: string; failure_reason?: string };
const jobOf = async (pipeline: number, name: string): Promise<SeenJob> => {
  const jobs: SeenJob[] = bodyOf(await app.root(`GET ${home()}/pipelines/${pipeline}/jobs`), 200);
  return jobs.find((job) => job.name === name) ?? { id: 0, name, status: 'missing' };
};

test('is made, read, changed and ended', async () => {
  const made = bodyOf(
    await protect('quarry/one', { access_level: 40 }, { user_id: members.developer.id }),
    201,
  );
  expect(made).toEqual({
    name: 'quarry/one',
    deploy_access_levels: [
      {
        id: expect.any(Number),
        access_level: 40,
        access_level_description: 'Maintainers',
        user_id: null,
        group_id: null,
        group_inheritance_type: 0,
      },
      expect.objectContaining({ access_level: null, user_id: members.developer.id }),
    ],
    required_approval_count: 0,
    approval_rules: [],
  });
  const one = `${path()}/${encodeURIComponent('quarry/one')}`;
  expect(bodyOf(await as('maintainer')(`GET ${one}`), 200)).toEqual(made);
  expect(bodyOf(await as('maintainer')(`GET ${path()}`), 200)).toContainEqual(made);
  const [first, second] = made.deploy_access_levels;
  const body = { deploy_access_levels: [{ id: first.id, _destroy: true }, { access_level: 30 }] };
  const changed = bodyOf(await as('maintainer')(`PUT ${one}`, { body }), 200);
  expect(changed.deploy_access_levels).toEqual([second, expect.objectContaining({ access_level: 30 })]);
  expect((await as('developer')(`DELETE ${one}`)).status).toBe(403);
  expect((await as('maintainer')(`DELETE ${one}`)).status).toBe(204);
  expect((await as('maintainer')(`GET ${one}`)).status).toBe(404);
});

describe('is refused', () => {
  test('twice, however many ask', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => protect('once', { access_level: 40 })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.body).toEqual({
      message: "Protected environment 'once' already exists",
    });
  });

  test('with who has no access', async () => {
    const stranger = await makeUser(app);
    const hidden = await makeGroup(app, { visibility: 'private' });
    for (const entry of [{ user_id: stranger.id }, { group_id: hidden.id }]) {
      const refused = await protect('strangers', entry);
      expect([refused.status, refused.body]).toEqual([
        422,
        { message: 'Cannot add users or groups unless they have access to the project' },
      ]);
    }
    const ofGroup = await app.root(`POST /groups/${group.id}/protected_environments`, {
      body: { name: 'staging', deploy_access_levels: [{ group_id: hidden.id }] },
    });
    expect(ofGroup.status).toBe(422);
  });

  test.each([
    [{ deploy_access_levels: [] }, 422],
    [{ deploy_access_levels: [{}] }, 422],
    [{ deploy_access_levels: [{ access_level: 20 }] }, 400],
    [{ deploy_access_levels: [{ access_level: 40 }], required_approval_count: 6 }, 400],
    [{ deploy_access_levels: [{ access_level: 40 }], approval_rules: [{ required_approvals: 1 }] }, 422],
    [
      {
        deploy_access_levels: [{ access_level: 40 }],
        approval_rules: [{ access_level: 40, required_approvals: 0 }],
      },
      400,
    ],
    [{ deploy_access_levels: [{ access_level: 40 }], approval_rules: [{ user_id: 999_999_999 }] }, 422],
    [{}, 400],
  ])('by %j', async (body, status) => {
    const refused = await as('maintainer')(`POST ${path()}`, { body: { name: 'wrong', ...body } });
    expect(refused.status).toBe(status);
  });
});

describe('who may not deploy', () => {
  const FILE = `
deploy: { script: deploy, environment: live }
hand: { script: deploy, environment: live, when: manual, allow_failure: true }
later: { script: deploy, stage: .post }
`;
  beforeAll(async () => {
    bodyOf(await protect('live', { access_level: 40 }), 201);
  });

  test('has jobs that fail, and plays and retries none', async () => {
    const pipeline = await start(FILE);
    expect(await jobOf(pipeline, 'deploy')).toMatchObject({
      status: 'failed',
      failure_reason: 'protected_environment_failure',
    });
    expect(await jobOf(pipeline, 'later')).toMatchObject({ status: 'skipped' });
    const hand = await jobOf(pipeline, 'hand');
    expect(hand.status).toBe('manual');
    const press = (who: Role, id: number, what: string) => as(who)(`POST ${home()}/jobs/${id}/${what}`);
    expect((await press('developer', hand.id, 'play')).status).toBe(403);
    expect((await press('developer', (await jobOf(pipeline, 'deploy')).id, 'retry')).status).toBe(403);
    bodyOf(await as('developer')(`POST ${home()}/pipelines/${pipeline}/retry`), 201);
    expect(await jobOf(pipeline, 'deploy')).toMatchObject({ status: 'failed' });
    expect(bodyOf(await press('maintainer', hand.id, 'play'), 200).status).toBe('pending');
    bodyOf(await as('maintainer')(`POST ${home()}/pipelines/${pipeline}/retry`), 201);
    expect(await jobOf(pipeline, 'deploy')).toMatchObject({ status: 'pending' });
    expect(await jobOf(await start(FILE, 'maintainer'), 'deploy')).toMatchObject({ status: 'pending' });
  });

  test('reports no deployments, and stops nothing', async () => {
    const { body: branch } = await app.root(`GET ${home()}/repository/branches/main`);
    const report = (who: Role) =>
      as(who)(`POST ${home()}/deployments`, {
        body: { environment: 'live', sha: branch.commit.id, ref: 'main', tag: false, status: 'running' },
      });
    expect((await report('developer')).status).toBe(403);
    const { id, environment } = bodyOf(await report('maintainer'), 201);
    const put = { body: { status: 'success' } };
    expect((await as('developer')(`PUT ${home()}/deployments/${id}`, put)).status).toBe(403);
    const stop = (who: Role) => as(who)(`POST ${home()}/environments/${environment.id}/stop`);
    expect((await stop('developer')).status).toBe(403);
    expect(bodyOf(await stop('maintainer'), 200).state).toBe('stopped');
    expect((await as('developer')(`DELETE ${home()}/environments/${environment.id}`)).status).toBe(403);
    // With another tier, a group's protection would be another, too.
    const change = as('developer')(`PUT ${home()}/environments/${environment.id}`, {
      body: { tier: 'other' },
    });
    expect((await change).status).toBe(403);
  });

  test('is refused by the tier of a group, too', async () => {
    const groupPath = `/groups/${group.id}/protected_environments`;
    const body = { name: 'production', deploy_access_levels: [{ access_level: 60 }] };
    expect((await app.root(`POST ${groupPath}`, { body: { ...body, name: 'live' } })).status).toBe(400);
    bodyOf(await app.root(`POST ${groupPath}`, { body }), 201);
    expect((await as('maintainer')(`GET ${groupPath}`)).status).toBe(403);
    const file = 'deploy: { script: deploy, environment: prod }\n';
    expect(await jobOf(await start(file, 'owner'), 'deploy')).toMatchObject({
      failure_reason: 'protected_environment_failure',
    });
    const maintainer = await makeUser(app);
    await addMember(app, `groups/${group.id}`, maintainer, 40);
    const put = { body: { deploy_access_levels: [{ group_id: group.id }] } };
    bodyOf(await app.as(maintainer.token)(`PUT ${groupPath}/production`, put), 200);
    const started = await app.as(maintainer.token)(`POST ${home()}/pipeline`, { body: { ref: 'main' } });
    expect(await jobOf(bodyOf(started, 201).id, 'deploy')).toMatchObject({ status: 'pending' });
    expect((await app.root(`DELETE ${groupPath}/production`)).status).toBe(204);
    expect(await jobOf(await start(file), 'deploy')).toMatchObject({ status: 'pending' });
  });
});
