/** What a job does by its token, in its own project and in others, and what it does not, with what an attacker would try. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
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
import { addressOf, commitFiles, makeHome, mustGit, runGit } from '../../../../test/support/git.ts';
import { makeRunner, type Runner, startPipeline, type TakenJob } from '../../../../test/support/runner.ts';

const app: TestApp = useApp();
const FILE = 'build:\n  script: make\n';
let user: MadeUser;
let home: MadeProject;
let target: MadeProject;
let runner: Runner;
let job: TakenJob;

/** A project in which the user is a Maintainer, with a file to run. */
async function projectOf(attributes: Record<string, unknown> = {}): Promise<MadeProject> {
  const project = await makeProject(app, attributes);
  await addMember(app, `projects/${project.id}`, user, 40);
  return project;
}

async function jobIn(project: MadeProject, by: MadeUser = user): Promise<TakenJob> {
  runner = await makeRunner(app, project);
  await startPipeline(app, project, by, FILE);
  return runner.take();
}

beforeEach(async () => {
  user = await makeUser(app);
  home = await projectOf();
  target = await projectOf();
  job = await jobIn(home);
});

const as = (
  request: string,
  options: Parameters<TestApp['call']>[1] = {},
  by: Pick<TakenJob, 'token'> = job,
) => app.call(request, { ...options, headers: { 'job-token': by.token } });
const statusOf = async (request: string, by?: Pick<TakenJob, 'token'>): Promise<number> =>
  (await as(request, {}, by)).status;
const scope = (rest = ''): string => `/projects/${target.id}/job_token_scope${rest}`;
/** What the job sees of the other project. */
const reached = (by?: Pick<TakenJob, 'token'>) => statusOf(`GET /projects/${target.id}/environments`, by);

describe('a job', () => {
  test('reads and writes in its own project, as far as its user may', async () => {
    const path = `/projects/${home.id}`;
    const made = await as(`POST ${path}/environments`, { body: { name: 'live' } });
    expect([made.status, made.body.name]).toEqual([201, 'live']);
    const release = await as(`POST ${path}/releases`, { body: { tag_name: 'v1', ref: 'main', name: 'One' } });
    expect(release.status).toBe(201);
    expect(release.body.author.id).toBe(user.id);
    const { pipeline } = bodyOf(await as('GET /job'), 200);
    const renamed = await as(`PUT ${path}/pipelines/${pipeline.id}/metadata`, { body: { name: 'Named' } });
    expect(renamed.status).toBe(200);
    for (const read of [
      'deployments',
      'releases',
      'releases/v1/assets/links',
      'jobs',
      `pipelines/${pipeline.id}/jobs`,
    ])
      expect([read, await statusOf(`GET ${path}/${read}`)]).toEqual([read, 200]);
    expect((await app.call(`GET ${path}/jobs`, { query: `job_token=${job.token}` })).status).toBe(200);
    const member = `PUT ${path}/members/${user.id}`;
    bodyOf(await app.root(member, { body: { access_level: 20 } }), 200);
    expect(await statusOf(`GET ${path}/environments`)).toBe(200);
    expect((await as(`POST ${path}/environments`, { body: { name: 'other' } })).status).toBe(403);
  });

  test('publishes as release-cli and glab do', async () => {
    const path = `/projects/${home.id}`;
    const releases = `${path}/releases`;
    bodyOf(await app.root(`POST ${path}/milestones`, { body: { title: 'One' } }), 201);
    const link = { name: 'Program', url: 'https://example.com/p', filepath: '/bin/p', link_type: 'package' };
    const body = {
      // The program repeats the project of the path.
      id: String(home.id),
      name: 'Spring',
      description: '# Notes',
      tag_name: 'v1.0',
      tag_message: 'It is annotated',
      ref: job.git_info.sha,
      assets: { links: [link] },
      milestones: ['One'],
      released_at: '2021-03-04T05:06:07Z',
    };
    expect(bodyOf(await as(`POST ${releases}`, { body }), 201)).toMatchObject({
      tag_name: 'v1.0',
      commit: { id: job.git_info.sha },
      milestones: [{ title: 'One' }],
      assets: { links: [{ direct_asset_url: expect.stringMatching(/v1\.0\/downloads\/bin\/p$/) }] },
      released_at: '2021-03-04T05:06:07.000Z',
    });
    const tag = bodyOf(await app.root(`GET ${path}/repository/tags/v1.0`), 200);
    expect([tag.message, tag.commit.id]).toEqual(['It is annotated', job.git_info.sha]);
    expect(tag.release).toEqual({ tag_name: 'v1.0', description: '# Notes' });
    const again = await as(`POST ${releases}`, { body });
    expect([again.status, again.body.message]).toEqual([409, 'Release already exists']);
    const renamed = bodyOf(await as(`PUT ${releases}/v1.0`, { body: { id: body.id, name: 'Summer' } }), 200);
    expect(renamed).toMatchObject({ name: 'Summer', description: '# Notes' });
    const shown = bodyOf(await as(`GET ${releases}/v1.0`, { query: 'include_html_description=true' }), 200);
    expect(shown.description_html).toContain('>Notes<');

    const named = `/projects/${encodeURIComponent(home.path_with_namespace)}/releases`;
    expect(await statusOf(`GET ${named}/v2.0`)).toBe(404);
    const second = { tag_name: 'v2.0', ref: job.git_info.sha, description: 'Two' };
    bodyOf(await as(`POST ${named}`, { body: second }), 201);
    bodyOf(await as(`POST ${named}/v2.0/assets/links`, { body: link }), 201);
    expect(bodyOf(await as(`GET ${named}/v2.0`), 200).assets.links).toHaveLength(1);
    expect(bodyOf(await as(`DELETE ${named}/v2.0`), 200).tag_name).toBe('v2.0');
    expect(await statusOf(`GET ${named}/v2.0`)).toBe(404);

    const protection = { name: 'v*', create_access_level: 40 };
    bodyOf(await app.root(`POST ${path}/protected_tags`, { body: protection }), 201);
    bodyOf(await app.root(`PUT ${path}/members/${user.id}`, { body: { access_level: 30 } }), 200);
    const guarded = await as(`POST ${releases}`, { body: { ...second, tag_name: 'v3.0' } });
    expect([guarded.status, guarded.body.message]).toEqual([
      403,
      'You are not allowed to create this tag as it is protected.',
    ]);
    bodyOf(await app.root(`PUT ${path}/members/${user.id}`, { body: { access_level: 20 } }), 200);
    expect((await as(`POST ${releases}`, { body: { ...second, tag_name: 'other' } })).status).toBe(403);
  });

  test('is told of itself; nobody else is', async () => {
    expect(bodyOf(await as('GET /job'), 200)).toMatchObject({
      id: job.id,
      name: 'build',
      user: { id: user.id },
    });
    expect((await app.as(user.token)('GET /job')).status).toBe(404);
    expect((await app.call('GET /job')).status).toBe(401);
  });

  test('does nothing elsewhere in the API, nor by other forms of a credential', async () => {
    const path = `/projects/${home.id}`;
    for (const request of [
      `GET ${path}`,
      `GET ${path}/variables`,
      `GET ${path}/job_token_scope`,
      `PATCH ${path}/job_token_scope`,
      `POST ${path}/job_token_scope/allowlist`,
      `POST ${path}/job_token_scope/groups_allowlist`,
      `GET ${path}/jobs/${job.id}/trace`,
      `GET ${path}/pipelines`,
      'GET /user',
      'GET /projects',
      'GET /version',
    ])
      expect([request, await statusOf(request)]).toEqual([request, 401]);
    for (const headers of [{ 'private-token': job.token }, { authorization: `Bearer ${job.token}` }])
      expect((await app.call(`GET ${path}/jobs`, { headers })).status).toBe(401);
    for (const sudo of ['root', user.username])
      expect((await app.call(`GET ${path}/jobs`, { headers: { 'job-token': job.token, sudo } })).status).toBe(
        403,
      );
  });

  test.each([
    ['success', () => runner.update(job, { state: 'success' })],
    ['failed', () => runner.update(job, { state: 'failed' })],
    ['canceled', () => app.as(user.token)(`POST /projects/${home.id}/jobs/${job.id}/cancel`)],
    ['of a user who is blocked', () => app.root(`POST /users/${user.id}/block`)],
    ['of a user who is banned', () => app.root(`POST /users/${user.id}/ban`)],
  ])('that has ended (%s) opens nothing any more', async (_how, end) => {
    expect(await statusOf('GET /job')).toBe(200);
    expect((await end()).status).toBeLessThan(300);
    for (const request of [
      'GET /job',
      `GET /projects/${home.id}/jobs`,
      `GET /projects/${target.id}/environments`,
    ])
      expect([request, await statusOf(request)]).toEqual([request, 401]);
    const again = { body: { token: job.token, ref: 'main' } };
    expect((await app.call(`POST /projects/${home.id}/trigger/pipeline`, again)).status).toBe(401);
  });

  test('that is being canceled still has its token', async () => {
    await startPipeline(app, home, user, FILE);
    const graceful = await runner.take({ features: { cancel_gracefully: true } });
    bodyOf(await app.as(user.token)(`POST /projects/${home.id}/jobs/${graceful.id}/cancel`), 201);
    expect(await statusOf('GET /job', graceful)).toBe(200);
    await runner.update(graceful, { state: 'success' });
    expect(await statusOf('GET /job', graceful)).toBe(401);
  });

  test('of an administrator has no rights of administrators', async () => {
    const admin = await makeUser(app);
    bodyOf(await app.root(`PUT /users/${admin.id}`, { body: { admin: true } }), 200);
    await addMember(app, `projects/${home.id}`, admin, 40);
    await startPipeline(app, home, admin, FILE);
    const theirs = await runner.take();
    bodyOf(await app.root(`PATCH ${scope()}`, { body: { enabled: false } }), 204);
    expect(await reached(theirs)).toBe(404);
    expect(await statusOf(`GET /projects/${home.id}/environments`, theirs)).toBe(200);
    const sudo = { 'job-token': theirs.token, sudo: String(user.id) };
    expect((await app.call('GET /job', { headers: sudo })).status).toBe(403);
  });
});

describe('another project', () => {
  test('is there for jobs of the projects that it lists, as far as their users may', async () => {
    expect(await reached()).toBe(404);
    const added = await app.root(`POST ${scope('/allowlist')}`, { body: { target_project_id: home.id } });
    expect([added.status, added.body.id]).toEqual([201, home.id]);
    expect(await reached()).toBe(200);
    expect((await as(`POST /projects/${target.id}/environments`, { body: { name: 'live' } })).status).toBe(
      201,
    );
    bodyOf(
      await app.root(`PUT /projects/${target.id}/members/${user.id}`, { body: { access_level: 10 } }),
      200,
    );
    expect(await reached()).toBe(403);
    bodyOf(await app.root(`DELETE /projects/${target.id}/members/${user.id}`), 204);
    expect(await reached()).toBe(404);
    await addMember(app, `projects/${target.id}`, user, 40);
    bodyOf(await app.root(`DELETE ${scope(`/allowlist/${home.id}`)}`), 204);
    expect(await reached()).toBe(404);
  });

  test('lets jobs in of all projects below a group that it lists, and of no others', async () => {
    const [group, other] = [await makeGroup(app), await makeGroup(app)];
    const below = await makeGroup(app, { parent_id: group.id });
    const inside = await jobIn(await projectOf({ namespace_id: below.id }));
    const outside = await jobIn(await projectOf({ namespace_id: other.id }));
    const added = await app.root(`POST ${scope('/groups_allowlist')}`, {
      body: { target_group_id: group.id },
    });
    expect(added.body).toMatchObject({ id: group.id, web_url: expect.stringContaining(group.full_path) });
    expect([await reached(inside), await reached(outside), await reached()]).toEqual([200, 404, 404]);
    expect(bodyOf(await app.root(`GET ${scope('/groups_allowlist')}`), 200)).toHaveLength(1);
    bodyOf(await app.root(`DELETE ${scope(`/groups_allowlist/${group.id}`)}`), 204);
    expect(await reached(inside)).toBe(404);
  });

  test('says of itself what everybody sees', async () => {
    bodyOf(await app.root(`POST /projects/${target.id}/environments`, { body: { name: 'live' } }), 201);
    for (const visibility of ['internal', 'public']) {
      bodyOf(await app.root(`PUT /projects/${target.id}`, { body: { visibility } }), 200);
      expect(await reached()).toBe(200);
      // Its user is a Maintainer there, and the job is nobody.
      expect((await as(`POST /projects/${target.id}/environments`, { body: { name: 'x' } })).status).toBe(
        403,
      );
      expect((await as(`DELETE /projects/${target.id}/environments/1`)).status).toBe(403);
    }
    bodyOf(
      await app.root(`PUT /projects/${target.id}`, { body: { environments_access_level: 'private' } }),
      200,
    );
    expect(await reached()).toBe(403);
  });

  test('opens to all jobs where it lists none, unless the instance forbids it', async () => {
    expect(bodyOf(await app.root(`GET ${scope()}`), 200)).toEqual({
      inbound_enabled: true,
      outbound_enabled: false,
    });
    bodyOf(await app.root(`PATCH ${scope()}`, { body: { enabled: false } }), 204);
    expect(bodyOf(await app.root(`GET ${scope()}`), 200).inbound_enabled).toBe(false);
    expect(await reached()).toBe(200);
    const enforce = (enforced: boolean) =>
      app.root('PUT /application/settings', {
        body: { enforce_ci_inbound_job_token_scope_enabled: enforced },
      });
    bodyOf(await enforce(true), 200);
    try {
      expect(await reached()).toBe(404);
      expect(bodyOf(await app.root(`GET ${scope()}`), 200).inbound_enabled).toBe(true);
      expect((await app.root(`PATCH ${scope()}`, { body: { enabled: false } })).status).toBe(400);
    } finally {
      bodyOf(await enforce(false), 200);
    }
    expect(await reached()).toBe(200);
    bodyOf(await app.root(`PATCH ${scope()}`, { body: { enabled: true } }), 204);
    expect(await reached()).toBe(404);
  });

  test('that is not there looks like one that is', async () => {
    const nowhere = await as('GET /projects/999999999/environments');
    const hidden = await as(`GET /projects/${target.id}/environments`);
    const byPath = await as(`GET /projects/${encodeURIComponent(target.path_with_namespace)}/environments`);
    expect([hidden.status, hidden.text, byPath.text]).toEqual([404, nowhere.text, nowhere.text]);
  });
});

describe('the list of a project', () => {
  test('is changed by its Maintainers, who see what they list', async () => {
    const { maintainer, developer } = await makeMembers(
      app,
      `projects/${target.id}`,
      'maintainer',
      'developer',
    );
    const other = await makeProject(app);
    const add = (token: string, id: number) =>
      app.as(token)(`POST ${scope('/allowlist')}`, { body: { target_project_id: id } });
    const remove = (id: number) => app.as(maintainer.token)(`DELETE ${scope(`/allowlist/${id}`)}`);
    expect((await add(developer.token, home.id)).status).toBe(403);
    expect((await add(maintainer.token, other.id)).status).toBe(404);
    expect((await remove(other.id)).status).toBe(404);
    await addMember(app, `projects/${other.id}`, maintainer, 10);
    const twice = await Promise.all([add(maintainer.token, other.id), add(maintainer.token, other.id)]);
    expect(twice.map(({ status }) => status).sort()).toEqual([201, 400]);
    expect((await add(maintainer.token, target.id)).status).toBe(400);
    const listed = bodyOf(await app.as(maintainer.token)(`GET ${scope('/allowlist')}`), 200);
    expect(listed.map(({ id }: { id: number }) => id)).toEqual([target.id, other.id]);
    expect((await app.as(developer.token)(`GET ${scope('/allowlist')}`)).status).toBe(403);
    bodyOf(await remove(other.id), 204);
    const gone = await remove(other.id);
    expect([gone.status, gone.body.message]).toEqual([
      400,
      '400 Bad request - Target project is not in the job token scope',
    ]);
    const group = await makeGroup(app);
    const addGroup = () =>
      app.as(maintainer.token)(`POST ${scope('/groups_allowlist')}`, { body: { target_group_id: group.id } });
    expect((await addGroup()).status).toBe(404);
    await addMember(app, `groups/${group.id}`, maintainer, 10);
    expect([(await addGroup()).status, (await addGroup()).status]).toEqual([201, 400]);
    const events = bodyOf(await app.root(`GET /projects/${target.id}/audit_events`), 200);
    const names = events.map(({ event_name }: { event_name: string }) => event_name);
    expect(names.filter((name: string) => name.includes('job_token'))).toEqual([
      'secure_ci_job_token_group_added',
      'secure_ci_job_token_project_removed',
      'secure_ci_job_token_project_added',
    ]);
  });

  test('has two hundred entries at most', async () => {
    const { sql } = app.app.services.database;
    const group = await makeGroup(app);
    await sql`
      with made as (insert into projects (namespace_id, name, path, visibility, last_activity_at, created_at, updated_at)
        select ${group.id}, 'p' || n, 'p' || n, 0, now(), now(), now() from generate_series(1, 200) n returning id)
      insert into job_token_allowlist (project_id, allowed_project_id, created_at) select ${target.id}, id, now() from made`;
    const project = await app.root(`POST ${scope('/allowlist')}`, { body: { target_project_id: home.id } });
    const more = await app.root(`POST ${scope('/groups_allowlist')}`, {
      body: { target_group_id: group.id },
    });
    expect([project.status, more.status]).toEqual([422, 422]);
  });
});

describe('git', () => {
  const fetchRefs = async (project: MadeProject, by: Pick<TakenJob, 'token'> = job) => {
    const authorization = `Basic ${Buffer.from(`gitlab-ci-token:${by.token}`).toString('base64')}`;
    const url = `${app.url}/${project.path_with_namespace}.git/info/refs?service=git-upload-pack`;
    return (await fetch(url, { headers: { authorization } })).status;
  };

  test('fetches from the projects that let the job in, while it runs', async () => {
    expect([await fetchRefs(home), await fetchRefs(target)]).toEqual([200, 404]);
    bodyOf(await app.root(`POST ${scope('/allowlist')}`, { body: { target_project_id: home.id } }), 201);
    expect(await fetchRefs(target)).toBe(200);
    bodyOf(await app.root(`DELETE ${scope(`/allowlist/${home.id}`)}`), 204);
    expect(await fetchRefs(target)).toBe(404);
    bodyOf(await app.root(`PUT /projects/${target.id}`, { body: { visibility: 'internal' } }), 200);
    expect(await fetchRefs(target)).toBe(200);
    await runner.update(job, { state: 'success' });
    expect([await fetchRefs(home), await fetchRefs(target)]).toEqual([401, 401]);
  });

  test('pushes to the own project alone, where that says so, and starts no pipeline', async () => {
    const folder = makeHome();
    try {
      const url = (project: MadeProject) =>
        addressOf(app.url, project.path_with_namespace, job.token, 'gitlab-ci-token');
      const clone = join(folder, 'clone');
      await mustGit(folder, ['clone', '--quiet', url(home), 'clone']);
      await commitFiles(clone, { 'made.txt': 'made' });
      const push = async (project: MadeProject) =>
        (await runGit(clone, ['push', '-o', 'merge_request.create', url(project), 'HEAD:refs/heads/made']))
          .code;
      expect(await push(home)).not.toBe(0);
      const allowed = { body: { ci_push_repository_for_job_token_allowed: true } };
      for (const project of [home, target])
        bodyOf(await app.root(`PUT /projects/${project.id}`, allowed), 200);
      bodyOf(await app.root(`POST ${scope('/allowlist')}`, { body: { target_project_id: home.id } }), 201);
      expect(await push(target)).not.toBe(0);
      expect(await push(home)).toBe(0);
      expect((await app.root(`GET /projects/${home.id}/repository/branches/made`)).status).toBe(200);
      expect(bodyOf(await app.root(`GET /projects/${home.id}/merge_requests`), 200)).toEqual([]);
      // One by a person, told after it, has its pipeline; that of the job has none.
      const body = {
        branch: 'made',
        commit_message: 'Change',
        actions: [{ action: 'create', file_path: 'b', content: 'b' }],
      };
      bodyOf(await app.root(`POST /projects/${home.id}/repository/commits`, { body }), 201);
      await expect
        .poll(
          async () =>
            bodyOf(await app.root(`GET /projects/${home.id}/pipelines`, { query: 'ref=made' }), 200).length,
        )
        .toBe(1);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('a pipeline of another project', () => {
  const trigger = (id: number, body: Record<string, unknown> = {}) =>
    app.call(`POST /projects/${id}/trigger/pipeline`, { body: { token: job.token, ref: 'main', ...body } });

  test('starts by the token of a job that it lets in', async () => {
    await startPipeline(app, target, user, FILE);
    expect((await trigger(target.id)).status).toBe(404);
    bodyOf(await app.root(`POST ${scope('/allowlist')}`, { body: { target_project_id: home.id } }), 201);
    const pipeline = bodyOf(await trigger(target.id, { variables: { STONE: 'granite' } }), 201);
    expect(pipeline).toMatchObject({ source: 'pipeline', project_id: target.id, user: { id: user.id } });
    const { sql } = app.app.services.database;
    const [row] =
      await sql`select source_job_id, token_job_id, source_pipeline_id from pipelines where id = ${pipeline.id}`;
    const [own] = await sql<{ pipeline_id: number }[]>`select pipeline_id from ci_jobs where id = ${job.id}`;
    expect(row).toEqual({
      source_job_id: null,
      token_job_id: job.id,
      source_pipeline_id: own?.pipeline_id,
    });

    // As many as one may lead to, far below it, and one less.
    await sql`
      insert into pipelines (project_id, iid, sha, before_sha, ref, tag, source, status, protected, created_at, updated_at,
          source_pipeline_id)
        select project_id, 1000 + n, sha, before_sha, ref, tag, source, 'success', false, created_at, updated_at, id
        from pipelines, generate_series(1, 998) n where id = ${pipeline.id}`;
    expect(await trigger(target.id)).toMatchObject({
      status: 400,
      body: { message: { base: ['The downstream pipeline tree is too large'] } },
    });
    await sql`delete from pipelines where source_pipeline_id = ${pipeline.id} and iid = 1001`;
    const statuses = (await Promise.all([1, 2, 3].map(() => trigger(target.id)))).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([201, 400, 400]);
    await sql`delete from pipelines where source_pipeline_id = ${pipeline.id}`;
    bodyOf(
      await app.root(`PUT /projects/${target.id}/members/${user.id}`, { body: { access_level: 20 } }),
      200,
    );
    expect((await trigger(target.id)).status).toBe(403);
  });
});

test('bots and their jobs: one without its token has no job, and one of a group outlives a project', async () => {
  const expires_at = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  const made = async (path: string) =>
    bodyOf(
      await app.root(`POST ${path}/access_tokens`, {
        body: { name: 'Robot', scopes: ['api'], access_level: 40, expires_at },
      }),
      201,
    );
  const own = await made(`/projects/${home.id}`);
  const byBot = await jobIn(home, { ...user, token: own.token });
  expect(await statusOf('GET /job', byBot)).toBe(200);
  expect((await app.root(`DELETE /projects/${home.id}/access_tokens/${own.id}`)).status).toBe(204);
  expect(await statusOf('GET /job', byBot)).toBe(401);

  const group = await makeGroup(app);
  const project = await makeProject(app, { namespace_id: group.id });
  const robot = await made(`/groups/${group.id}`);
  const running = await jobIn(project, { ...user, token: robot.token });
  expect(await statusOf('GET /job', running)).toBe(200);
  await app.root(`DELETE /projects/${project.id}`);
  const full_path = bodyOf(await app.root(`GET /projects/${project.id}`), 200).path_with_namespace;
  await app.root(`DELETE /projects/${project.id}`, {
    query: `permanently_remove=true&full_path=${full_path}`,
  });
  expect(await statusOf('GET /job', running)).toBe(401);
  expect((await app.as(robot.token)(`GET /groups/${group.id}`)).status).toBe(200);
});
