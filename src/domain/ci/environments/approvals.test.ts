/** Deployments that wait for approvals: who gives them, and what their job does meanwhile. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
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
import { makeRunner, type Runner, startPipeline } from '../../../../test/support/runner.ts';

const app: TestApp = useApp();
const FILE = `build:
  stage: build
  script: make
live:
  stage: deploy
  script: deploy
  environment: { name: live }
after:
  stage: .post
  script: tell
`;
type Role = 'owner' | 'maintainer' | 'developer' | 'reporter';
let group: { id: number; full_path: string };
let members: Record<Role, MadeUser>;
let project: MadeProject;
let runner: Runner;

beforeAll(async () => {
  group = await makeGroup(app);
  members = await makeMembers(app, `groups/${group.id}`, 'owner', 'maintainer', 'developer', 'reporter');
});
beforeEach(async () => {
  project = await makeProject(app, { namespace_id: group.id });
  runner = await makeRunner(app, project);
});

const path = (rest: string): string => `/projects/${project.id}/${rest}`;
const as = (who: Role) => app.as(members[who].token);
const protect = async (more: object) =>
  bodyOf(
    await as('owner')(`POST ${path('protected_environments')}`, {
      body: { name: 'live', deploy_access_levels: [{ access_level: 30 }], ...more },
    }),
    201,
  );

type Deployment = {
  id: number;
  status: string;
  pending_approval_count: number;
  approvals: object[];
  deployable: { id: number; status: string };
};
/** A pipeline by the maintainer, whose first job went well; its deployment. */
async function deploy(): Promise<Deployment> {
  await startPipeline(app, project, members.maintainer, FILE);
  const build = await runner.take();
  await runner.update(build, { state: 'success' });
  const [last] = bodyOf(
    await app.root(`GET ${path('deployments')}`, { query: 'order_by=id&sort=desc' }),
    200,
  );
  return shown(last);
}
const shown = async ({ id }: { id: number }): Promise<Deployment> =>
  bodyOf(await app.root(`GET ${path(`deployments/${id}`)}`), 200);
const review = (who: Role, { id }: { id: number }, body: object = { status: 'approved' }) =>
  as(who)(`POST ${path(`deployments/${id}/approval`)}`, { body });
const play = (who: Role, { deployable }: Deployment) => as(who)(`POST ${path(`jobs/${deployable.id}/play`)}`);
const NOT_WAITING = 'This deployment is not waiting for approvals.';
const NO_RIGHT =
  "You don't have permission to review this deployment. Contact the project or group owner for help.";
const said = ({ status, body }: Awaited<ReturnType<typeof review>>) => [status, body.message ?? body.status];

test('a job waits for all rules, and then for somebody who starts it', async () => {
  const made = await protect({
    approval_rules: [{ access_level: 40, required_approvals: 1 }, { user_id: members.reporter.id }],
  });
  expect(made.approval_rules).toEqual([
    expect.objectContaining({
      access_level: 40,
      required_approvals: 1,
      access_level_description: 'Maintainers',
    }),
    expect.objectContaining({ user_id: members.reporter.id, required_approvals: 1 }),
  ]);
  const blocked = await deploy();
  expect(blocked).toMatchObject({
    status: 'blocked',
    pending_approval_count: 2,
    approvals: [],
    deployable: { status: 'manual' },
  });
  expect((await runner.request()).status).toBe(204);
  expect(said(await play('owner', blocked))).toEqual([400, '400 Bad request - Unplayable Job']);
  expect(said(await review('developer', blocked))).toEqual([400, NO_RIGHT]);
  expect(said(await review('maintainer', blocked))).toEqual([400, 'You cannot approve your own deployment.']);

  expect((await review('reporter', blocked, { status: 'approved', comment: 'Go' })).body).toMatchObject({
    status: 'approved',
    comment: 'Go',
    user: { id: members.reporter.id },
  });
  expect(await shown(blocked)).toMatchObject({
    status: 'blocked',
    pending_approval_count: 1,
    approvals: [{ comment: 'Go' }],
  });
  expect((await play('owner', blocked)).status).toBe(400);
  // Twice is once.
  expect(said(await review('reporter', blocked))).toEqual([201, 'approved']);
  expect(await shown(blocked)).toMatchObject({ pending_approval_count: 1 });

  expect(said(await review('owner', blocked))).toEqual([201, 'approved']);
  expect(await shown(blocked)).toMatchObject({
    status: 'created',
    pending_approval_count: 0,
    deployable: { status: 'manual' },
  });
  expect((await runner.request()).status).toBe(204);
  expect(said(await review('owner', blocked))).toEqual([400, NOT_WAITING]);
  expect((await play('maintainer', blocked)).status).toBe(200);
  const job = await runner.take();
  expect(job.id).toBe(blocked.deployable.id);
  await runner.update(job, { state: 'success' });
  expect(await shown(blocked)).toMatchObject({ status: 'success' });
  // Another time needs other approvals.
  const again = bodyOf(await as('maintainer')(`POST ${path(`jobs/${job.id}/retry`)}`), 201);
  expect(again.status).toBe('manual');
  expect((await as('owner')(`POST ${path(`jobs/${again.id}/play`)}`)).status).toBe(400);
});

test.each(['prepare', 'verify', 'access'])(
  'a job with action %s is started by who may deploy, without approvals',
  async (action) => {
    await protect({ required_approval_count: 1, deploy_access_levels: [{ access_level: 40 }] });
    const file = `look:
  stage: deploy
  script: look
  environment: { name: live, action: ${action} }
halt:
  stage: deploy
  script: halt
  environment: { name: live, action: stop }
  needs: []
`;
    const deploying = 'deploy: { script: deploy, environment: { name: live } }\n';
    const pipeline = await startPipeline(app, project, members.maintainer, deploying + file);
    const jobs = async (): Promise<{ id: number; name: string; status: string }[]> =>
      bodyOf(await app.root(`GET ${path(`pipelines/${pipeline}/jobs`)}`), 200);
    const idOf = async (name: string) => (await jobs()).find((each) => each.name === name)?.id;
    const [blocked] = bodyOf(await app.root(`GET ${path('deployments')}`), 200);
    expect(said(await review('owner', blocked))).toEqual([201, 'approved']);
    expect((await play('maintainer', await shown(blocked))).status).toBe(200);
    const halt = await runner.take();
    await runner.update(halt, { state: 'success' });
    const deployed = await runner.take();
    await runner.update(deployed, { state: 'success' });
    expect((await jobs()).find(({ name }) => name === 'look')?.status).toBe('manual');
    expect((await runner.request()).status).toBe(204);
    const look = path(`jobs/${await idOf('look')}/play`);
    expect((await as('developer')(`POST ${look}`)).status).toBe(403);
    bodyOf(await as('maintainer')(`POST ${look}`), 200);
    const taken = await runner.take();
    await runner.update(taken, { state: 'success' });
    expect(bodyOf(await app.root(`GET ${path('deployments')}`), 200)).toHaveLength(1);

    // One by who may not deploy fails, whatever its action.
    expect((await app.root(`DELETE ${path('protected_branches/main')}`)).status).toBe(204);
    const other = await startPipeline(app, project, members.developer, file);
    const failed = bodyOf(await app.root(`GET ${path(`pipelines/${other}/jobs`)}`), 200);
    expect(failed).toContainEqual(
      expect.objectContaining({ name: 'look', failure_reason: 'protected_environment_failure' }),
    );
  },
);

test('its deployment stays until its job has ended, and who may not deploy deletes none', async () => {
  await protect({ required_approval_count: 1, deploy_access_levels: [{ access_level: 40 }] });
  const blocked = await deploy();
  const remove = (who: Role) => as(who)(`DELETE ${path(`deployments/${blocked.id}`)}`);
  expect((await remove('developer')).status).toBe(403);
  expect(said(await remove('maintainer'))).toEqual([400, 'Cannot destroy running deployment']);
  // One that is gone all the same was approved by nobody.
  await app.app.services.database.sql`delete from deployments where id = ${blocked.id}`;
  expect(said(await play('owner', blocked))).toEqual([400, '400 Bad request - Unplayable Job']);
  expect((await runner.request()).status).toBe(204);
});

test('what was deployed before approvals were needed is not deployed again without', async () => {
  await startPipeline(
    app,
    project,
    members.maintainer,
    'live:\n  script: deploy\n  environment: { name: live }\n',
  );
  const job = await runner.take();
  await runner.update(job, { state: 'failed' });
  await protect({ required_approval_count: 1 });
  const again = bodyOf(await as('maintainer')(`POST ${path(`jobs/${job.id}/retry`)}`), 201);
  expect(again.status).toBe('manual');
  expect((await runner.request()).status).toBe(204);
  expect((await as('owner')(`POST ${path(`jobs/${again.id}/play`)}`)).status).toBe(400);
});

test('a job whose environment was deleted is started by who may deploy there', async () => {
  await protect({ deploy_access_levels: [{ access_level: 40 }] });
  const file = 'live:\n  script: deploy\n  when: manual\n  environment: { name: live }\n';
  const pipeline = await startPipeline(app, project, members.maintainer, file);
  const { sql } = app.app.services.database;
  await sql`update pipelines set protected = false where id = ${pipeline}`;
  await sql`delete from environments where project_id = ${project.id}`;
  const [job] = bodyOf(await app.root(`GET ${path(`pipelines/${pipeline}/jobs`)}`), 200);
  expect((await as('developer')(`POST ${path(`jobs/${job.id}/play`)}`)).status).toBe(403);
  expect((await as('maintainer')(`POST ${path(`jobs/${job.id}/play`)}`)).status).toBe(200);
});

test('one who rejects it ends it', async () => {
  await protect({ required_approval_count: 2 });
  const blocked = await deploy();
  expect(blocked).toMatchObject({ status: 'blocked', pending_approval_count: 2 });
  expect(said(await review('reporter', blocked))).toEqual([400, NO_RIGHT]);
  expect(said(await review('developer', blocked))).toEqual([201, 'approved']);
  expect(said(await review('developer', blocked, { status: 'rejected', comment: 'No' }))).toEqual([
    201,
    'rejected',
  ]);
  expect(await shown(blocked)).toMatchObject({
    status: 'failed',
    deployable: { status: 'failed', failure_reason: 'deployment_rejected' },
  });
  expect(said(await review('owner', blocked))).toEqual([400, NOT_WAITING]);
  const events = bodyOf(await app.root(`GET ${path('audit_events')}`), 200);
  const names = events.map(({ event_name }: { event_name: string }) => event_name);
  expect(names).toEqual(expect.arrayContaining(['deployment_approved', 'deployment_rejected']));
});

test('approvals that come at once are all counted, and one by one person once', async () => {
  await protect({ required_approval_count: 2 });
  const blocked = await deploy();
  const same = await Promise.all([review('developer', blocked), review('developer', blocked)]);
  expect(same.map(({ status }) => status)).toEqual([201, 201]);
  expect(await shown(blocked)).toMatchObject({ pending_approval_count: 1 });
  const last = await Promise.all([review('owner', blocked), review('owner', blocked)]);
  expect(last.map(({ status }) => status).sort()).toEqual([201, 400]);
  expect(await shown(blocked)).toMatchObject({ status: 'created' });
});

test('a project may let those approve who started it', async () => {
  await protect({ required_approval_count: 1 });
  const own = { body: { allow_pipeline_trigger_approve_deployment: true } };
  bodyOf(await as('owner')(`PUT ${path('').slice(0, -1)}`, own), 200);
  expect(said(await review('maintainer', await deploy()))).toEqual([201, 'approved']);
});

test('an approval counts for the rule that it names', async () => {
  const friend = await makeUser(app);
  await addMember(app, `groups/${group.id}`, friend, 40);
  await protect({ approval_rules: [{ access_level: 40, required_approvals: 1 }, { user_id: friend.id }] });
  const blocked = await deploy();
  const rule = (represented_as: string) =>
    app.as(friend.token)(`POST ${path(`deployments/${blocked.id}/approval`)}`, {
      body: { status: 'approved', represented_as },
    });
  expect(said(await rule('Nobody'))[0]).toBe(400);
  const { name } = bodyOf(await app.root(`GET /users/${friend.id}`), 200);
  expect(said(await rule(name))).toEqual([201, 'approved']);
  expect(await shown(blocked)).toMatchObject({ pending_approval_count: 1 });
  expect(said(await review('owner', blocked))).toEqual([201, 'approved']);
  expect(await shown(blocked)).toMatchObject({ status: 'created' });
});

describe('rules that change meanwhile', () => {
  test('let a job start when they are gone, and hold it when they come', async () => {
    await protect({ required_approval_count: 1 });
    const blocked = await deploy();
    bodyOf(await as('owner')(`DELETE ${path('protected_environments/live')}`), 204);
    expect(said(await review('owner', blocked))).toEqual([
      400,
      'Deployment approvals is not configured for this environment.',
    ]);
    const made = await protect({ required_approval_count: 0 });
    expect(made.required_approval_count).toBe(0);
    const change = { required_approval_count: 1, approval_rules: [{ user_id: members.reporter.id }] };
    bodyOf(await as('owner')(`PUT ${path('protected_environments/live')}`, { body: change }), 200);
    expect((await play('owner', blocked)).status).toBe(400);
    expect(said(await review('reporter', blocked))).toEqual([201, 'approved']);
    expect((await play('owner', blocked)).status).toBe(200);
  });

  test('of the tier in a group count, too', async () => {
    const tier = {
      name: 'production',
      deploy_access_levels: [{ access_level: 30 }],
      required_approval_count: 1,
    };
    bodyOf(await as('owner')(`POST /groups/${group.id}/protected_environments`, { body: tier }), 201);
    try {
      await protect({ approval_rules: [{ user_id: members.reporter.id }] });
      const blocked = await deploy();
      expect(blocked.pending_approval_count).toBe(2);
      await review('reporter', blocked);
      expect((await shown(blocked)).status).toBe('blocked');
      await review('developer', blocked);
      expect((await shown(blocked)).status).toBe('created');
    } finally {
      bodyOf(await as('owner')(`DELETE /groups/${group.id}/protected_environments/production`), 204);
    }
  });
});

test('others do not review: outsiders, guests, jobs, and of another project', async () => {
  await protect({ required_approval_count: 1 });
  const blocked = await deploy();
  const outsider = await makeUser(app);
  const request = `POST ${path(`deployments/${blocked.id}/approval`)}`;
  const body = { status: 'approved' };
  expect((await app.as(outsider.token)(request, { body })).status).toBe(404);
  expect((await app.call(request, { body })).status).toBe(401);
  await addMember(app, `projects/${project.id}`, outsider, 10);
  expect((await app.as(outsider.token)(request, { body })).status).toBe(403);
  await startPipeline(app, project, members.owner, 'one:\n  script: make\n');
  const job = await runner.take();
  expect((await app.call(request, { body, headers: { 'job-token': job.token } })).status).toBe(401);
  const other = await makeProject(app);
  expect(
    (await app.root(`POST /projects/${other.id}/deployments/${blocked.id}/approval`, { body })).status,
  ).toBe(404);
  expect((await shown(blocked)).approvals).toEqual([]);
});
