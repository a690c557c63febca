/** Images as their project manages them: the REST API, rules that protect them, and what is deleted by the clock. */
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
  uniqueName,
} from '../../../test/support/factories.ts';
import { askToken, IMAGE_MANIFEST, imageOf, openRegistry } from '../../../test/support/registry.ts';
import { makeRunner, startPipeline } from '../../../test/support/runner.ts';
import { until } from '../../../test/support/waiting.ts';
import { moveClock } from '../../platform/clock.ts';
import { inTransaction } from '../../platform/db/database.ts';
import { runPolicies } from './expiration/policies.ts';
import { removeRepository } from './repositories/removal.ts';
import { runTagsRemoval } from './tags/removal.ts';
import { deleteUnchanged } from './tags/removal-actions.ts';

const app = useApp();
let project: MadeProject;
let image: string;
let path: string;
let owner: MadeUser;
let maintainer: MadeUser;
let developer: MadeUser;
let reporter: MadeUser;
let guest: MadeUser;

const DAY_MS = 86_400_000;
const db = () => app.app.services.database.db;
const as = (user: MadeUser) => app.as(user.token);
const registry = (user: MadeUser) => openRegistry(app, { username: user.username, password: user.token });
const errorsOf = (text: string): string[] =>
  (JSON.parse(text) as { errors: { code: string; message: string }[] }).errors.map(({ message }) => message);

beforeEach(async () => {
  project = await makeProject(app, { visibility: 'private' });
  image = project.path_with_namespace.toLowerCase();
  path = `/projects/${project.id}/registry/repositories`;
  ({ owner, maintainer, developer, reporter, guest } = await makeMembers(
    app,
    `projects/${project.id}`,
    ...(['owner', 'maintainer', 'developer', 'reporter', 'guest'] as const),
  ));
});

/** Pushes an image with these tags; the id of its repository. */
async function push(at: string, tags: readonly string[], layer = `layer of ${at}`): Promise<number> {
  const client = registry(developer);
  for (const tag of tags) await client.pushImage(at, tag, layer);
  const { rows } = await sql<{ id: number }>`
    select max(id) as id from container_repositories where project_id = ${project.id}`.execute(db());
  return rows[0]?.id ?? 0;
}

const tagsOf = async (id: number): Promise<string[]> => {
  const { rows } = await sql<{ name: string }>`
    select name from container_tags where repository_id = ${id} order by name`.execute(db());
  return rows.map(({ name }) => name);
};

/** Says when tags were pushed, in days before now. */
const age = async (id: number, days: Record<string, number>): Promise<void> => {
  for (const [name, count] of Object.entries(days))
    await sql`update container_tags set updated_at = ${new Date(Date.now() - count * DAY_MS)}
      where repository_id = ${id} and name = ${name}`.execute(db());
};

test('repositories and tags are listed and shown', async () => {
  const root = await push(image, ['latest', 'v1']);
  const web = await push(`${image}/web`, ['v1']);
  const { status, body, headers } = await as(reporter)(`GET ${path}`, { query: 'tags=true&tags_count=true' });
  expect([status, headers.get('x-total')]).toEqual([200, '2']);
  const host = new URL(app.url).host;
  expect(body).toEqual([
    {
      id: root,
      name: '',
      path: image,
      project_id: project.id,
      location: `${host}/${image}`,
      created_at: expect.any(String),
      cleanup_policy_started_at: null,
      tags_count: 2,
      tags: ['latest', 'v1'].map((name) => ({
        name,
        path: `${image}:${name}`,
        location: `${host}/${image}:${name}`,
      })),
      delete_api_path: `${app.url}/api/v4${path}/${root}`,
      status: null,
    },
    expect.objectContaining({ id: web, name: 'web', path: `${image}/web`, tags_count: 1 }),
  ]);
  expect(bodyOf(await as(reporter)(`GET ${path}`), 200)[0]).not.toHaveProperty('tags');

  const one = await as(reporter)(`GET /registry/repositories/${web}`, { query: 'size=true&tags=true' });
  expect(bodyOf(one, 200)).toMatchObject({ id: web, size: `layer of ${image}/web{}`.length, tags: [{}] });
  const details = bodyOf(await as(reporter)(`GET ${path}/${web}/tags/v1`), 200);
  expect(details).toMatchObject({
    name: 'v1',
    digest: expect.stringMatching(/^sha256:/),
    revision: expect.stringMatching(/^44136fa355b3/),
    short_revision: '44136fa35',
    total_size: `layer of ${image}/web`.length,
    created_at: expect.any(String),
  });
  expect((await as(reporter)(`GET ${path}/${web}/tags/other`)).body).toEqual({
    message: '404 Tag Not Found',
  });
  expect((await as(reporter)(`GET ${path}/${root + 1_000}/tags`)).status).toBe(404);
});

test('tags are listed by keyset in both orders, and in no other', async () => {
  const id = await push(image, ['b', 'a', 'c', 'B']);
  const names = async (query: string) => {
    const { status, body, headers } = await as(reporter)(`GET ${path}/${id}/tags`, { query });
    expect(status).toBe(200);
    const next = /<[^>]*\?([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
    return { names: (body as { name: string }[]).map(({ name }) => name), next };
  };
  const first = await names('pagination=keyset&order_by=name&sort=asc&per_page=2');
  expect(first.names).toEqual(['B', 'a']);
  const second = await names(first.next ?? '');
  expect(second.names).toEqual(['b', 'c']);
  expect((await names('pagination=keyset&order_by=name&sort=desc')).names).toEqual(['c', 'b', 'a', 'B']);
  expect((await names('sort=desc&per_page=1&page=2')).names).toEqual(['b']);
  const refused = await as(reporter)(`GET ${path}/${id}/tags`, {
    query: 'pagination=keyset&order_by=created_at&sort=asc',
  });
  expect([refused.status, refused.body.error]).toEqual([
    405,
    'Keyset pagination is not yet available for this type of request',
  ]);
});

test('roles read and delete as the registry says, and nobody sees what is hidden', async () => {
  const id = await push(image, ['a', 'b', 'c']);
  const outsider = await makeUser(app);
  for (const line of [`GET ${path}`, `GET /registry/repositories/${id}`, `GET ${path}/${id}/tags/a`]) {
    expect([line, (await as(guest)(line)).status]).toEqual([line, 403]);
    expect([line, (await as(outsider)(line)).status]).toEqual([line, 404]);
    expect([line, (await app.call(line)).status]).toEqual([line, 404]);
    expect([line, (await as(reporter)(line)).status]).toEqual([line, 200]);
  }
  expect((await as(reporter)(`DELETE ${path}/${id}/tags/a`)).status).toBe(403);
  const gone = await as(developer)(`DELETE ${path}/${id}/tags/a`);
  expect([gone.status, gone.text]).toEqual([200, '']);
  expect((await as(developer)(`DELETE ${path}/${id}/tags/a`)).status).toBe(404);
  expect((await as(developer)(`DELETE ${path}/${id}`)).status).toBe(403);
  const bulk = { query: 'name_regex_delete=.*' };
  expect((await as(developer)(`DELETE ${path}/${id}/tags`, bulk)).status).toBe(403);
  // Another project's maintainer cannot name it below their own.
  const other = await makeProject(app, { visibility: 'private' });
  await app.root(`POST /projects/${other.id}/members`, { body: { user_id: outsider.id, access_level: 40 } });
  const elsewhere = `/projects/${other.id}/registry/repositories/${id}`;
  for (const line of [`DELETE ${elsewhere}`, `DELETE ${elsewhere}/tags/b`, `GET ${elsewhere}/tags`])
    expect([line, (await as(outsider)(line)).status]).toEqual([line, 404]);
  await app.root(`PUT /projects/${project.id}`, { body: { container_registry_access_level: 'disabled' } });
  for (const user of [reporter, maintainer, owner]) expect((await as(user)(`GET ${path}`)).status).toBe(403);
  expect(await tagsOf(id)).toEqual(['b', 'c']);
});

test('a job deletes tags of its own project, and of no other that lets it in', async () => {
  const [own, other] = [await makeProject(app, { visibility: 'private' }), project];
  for (const { id } of [own, other])
    await app.root(`POST /projects/${id}/members`, { body: { user_id: owner.id, access_level: 40 } });
  await registry(owner).pushImage(own.path_with_namespace.toLowerCase(), 'v1', 'layer');
  const elsewhere = await push(image, ['v1']);
  const runner = await makeRunner(app, own);
  await startPipeline(app, own, owner, 'build:\n  script: make');
  const { token } = await runner.take();
  const body = { target_project_id: own.id };
  bodyOf(await app.root(`POST /projects/${other.id}/job_token_scope/allowlist`, { body }), 201);
  const asJob = (line: string) => app.call(line, { headers: { 'job-token': token } });
  const [repository] = bodyOf(await asJob(`GET /projects/${own.id}/registry/repositories`), 200);
  for (const line of [`DELETE ${path}/${elsewhere}`, `DELETE ${path}/${elsewhere}/tags/v1`])
    expect([line, (await asJob(line)).status]).toEqual([line, 403]);
  expect(await tagsOf(elsewhere)).toEqual(['v1']);
  const removed = await asJob(`DELETE /projects/${own.id}/registry/repositories/${repository.id}/tags/v1`);
  expect(removed.status).toBe(200);
});

test('the list of a group has what its caller reads', async () => {
  const group = await makeGroup(app, { visibility: 'public' });
  const [open, hidden] = await Promise.all(
    (['public', 'private'] as const).map((visibility) =>
      makeProject(app, { visibility, namespace_id: group.id }),
    ),
  );
  for (const each of [open, hidden]) {
    await app.root(`POST /projects/${each?.id}/members`, {
      body: { user_id: developer.id, access_level: 30 },
    });
    await registry(developer).pushImage(each?.path_with_namespace.toLowerCase() ?? '', 'v1', 'layer');
  }
  const projects = async (call: typeof app.call) =>
    (
      bodyOf(await call(`GET /groups/${group.id}/registry/repositories`), 200) as { project_id: number }[]
    ).map(({ project_id }) => project_id);
  expect(await projects(as(developer))).toEqual([open?.id, hidden?.id]);
  expect(await projects(app.call)).toEqual([open?.id]);
});

test('tags are deleted by their names and ages, in the background and once an hour', async () => {
  const names = ['latest', 'v1', 'v2', 'v3', 'v4', 'dev-1', 'keep-me'];
  const id = await push(image, names);
  await age(id, { v1: 40, v2: 30, v3: 3, v4: 1, 'dev-1': 50, 'keep-me': 60, latest: 90 });
  const remove = (query: string) => as(maintainer)(`DELETE ${path}/${id}/tags`, { query });
  const problem = async (query: string) => {
    const { status, body } = await remove(query);
    return [status, body.error ?? body.message];
  };
  expect(await problem('keep_n=1')).toEqual([
    400,
    'name_regex, name_regex_delete are missing, at least one parameter must be provided',
  ]);
  expect(await problem('name_regex_delete=(')).toEqual([
    400,
    'name_regex_delete is an invalid regexp: is not valid RE2 syntax: missing closing ): `(`',
  ]);
  expect((await problem('name_regex=.*&name_regex_keep=((a%7B1,50%7D)%7B1,19%7D)'))[0]).toBe(400);
  expect((await problem('name_regex=.*&older_than=soon'))[0]).toBe(400);
  const { status } = await remove('name_regex_delete=.*&name_regex_keep=keep-.*&keep_n=1&older_than=7d');
  expect(status).toBe(202);
  await until(async () => (await tagsOf(id)).length === 4, 'tags stay');
  expect(await tagsOf(id)).toEqual(['keep-me', 'latest', 'v3', 'v4']);
  expect(await problem('name_regex_delete=.*')).toEqual([
    400,
    'This request has already been made. You can run this at most once an hour for a given container repository',
  ]);
  await sql`update container_repositories set tags_deleted_at = tags_deleted_at - interval '61 minutes'
    where id = ${id}`.execute(db());
  expect((await remove('name_regex=v.*')).status).toBe(202);
  await until(async () => (await tagsOf(id)).length === 2, 'tags stay');
});

test('a repository is deleted in the background, and its name is free at once', async () => {
  const id = await push(`${image}/web`, ['v1', 'v2']);
  const uploads = await registry(developer).send(`POST ${image}/web/blobs/uploads/`);
  const { status, body } = await as(maintainer)(`DELETE ${path}/${id}`);
  expect([status, body]).toEqual([202, { message: '202 Accepted' }]);
  expect((await registry(developer).send(`GET ${image}/web/manifests/v1`)).status).toBe(404);
  const left = await registry(developer).send(`PATCH ${uploads.headers.get('location')}`, { body: 'x' });
  expect(left.status).toBe(404);
  expect((await as(maintainer)(`DELETE ${path}/${id}`)).status).toBe(404);
  const again = await push(`${image}/web`, ['v3'], 'new');
  expect(again).not.toBe(id);
  await until(
    async () =>
      (await sql`select from container_repositories where id = ${id}`.execute(db())).rows.length === 0,
    'the repository stays',
  );
  expect(await tagsOf(again)).toEqual(['v3']);
  expect((await registry(developer).send(`GET ${image}/web/manifests/v3`)).status).toBe(200);
});

const repositoryRules = () => `/projects/${project.id}/registry/protection/repository/rules`;
const tagRules = () => `/projects/${project.id}/registry/protection/tag/rules`;

test('rules of images are made, changed and deleted by maintainers', async () => {
  const rules = repositoryRules();
  const body = { repository_path_pattern: `${image}/web*`, minimum_access_level_for_push: 'maintainer' };
  expect((await as(developer)(`POST ${rules}`, { body })).status).toBe(403);
  expect((await as(developer)(`GET ${rules}`)).status).toBe(403);
  const rule = bodyOf(await as(maintainer)(`POST ${rules}`, { body }), 201);
  expect(rule).toEqual({
    id: expect.any(Number),
    project_id: project.id,
    repository_path_pattern: `${image}/web*`,
    minimum_access_level_for_push: 'maintainer',
    minimum_access_level_for_delete: null,
  });
  for (const wrong of [
    body,
    { ...body, repository_path_pattern: 'other/project' },
    { ...body, repository_path_pattern: `${image}hold` },
    { repository_path_pattern: `${image}/x` },
  ])
    expect([wrong, (await as(maintainer)(`POST ${rules}`, { body: wrong })).status]).toEqual([wrong, 422]);
  const changed = { minimum_access_level_for_delete: 'admin', minimum_access_level_for_push: '' };
  expect(bodyOf(await as(maintainer)(`PATCH ${rules}/${rule.id}`, { body: changed }), 200)).toMatchObject({
    minimum_access_level_for_push: null,
    minimum_access_level_for_delete: 'admin',
  });
  // The rule follows its project.
  await app.root(`PUT /projects/${project.id}`, { body: { path: uniqueName('moved') } });
  const [listed] = bodyOf(await as(maintainer)(`GET ${rules}`), 200);
  expect(listed.repository_path_pattern).toMatch(/\/moved.*\/web\*$/);
  expect((await as(maintainer)(`DELETE ${rules}/${rule.id}`)).status).toBe(204);
});

test('rules of images keep roles from pushing and deleting, by every road', async () => {
  const id = await push(`${image}/web`, ['v1']);
  const body = {
    repository_path_pattern: `${image}/web`,
    minimum_access_level_for_push: 'maintainer',
    minimum_access_level_for_delete: 'owner',
  };
  bodyOf(await as(maintainer)(`POST ${repositoryRules()}`, { body }), 201);
  const asked = await askToken(app, { username: developer.username, password: developer.token }, [
    `repository:${image}/web:pull,push`,
  ]);
  expect([asked.status, errorsOf(asked.text)]).toEqual([
    403,
    ['Pushing to protected repository path forbidden'],
  ]);
  await registry(developer).pushImage(`${image}/other`, 'v1', 'layer');
  const deploy = await app.root(`POST /projects/${project.id}/deploy_tokens`, {
    body: { name: 'd', scopes: ['read_registry', 'write_registry'] },
  });
  const { username, token } = bodyOf(deploy, 201) as { username: string; token: string };
  const tokens = { username, password: token };
  expect((await askToken(app, tokens, [`repository:${image}/web:push`])).status).toBe(403);
  await registry(maintainer).pushImage(`${image}/web`, 'v2', 'layer');

  const byDigest = (await registry(maintainer).send(`HEAD ${image}/web/manifests/v1`)).headers.get(
    'docker-content-digest',
  );
  for (const line of [
    `DELETE ${image}/web/manifests/v1`,
    `DELETE ${image}/web/manifests/${byDigest}`,
    `DELETE ${image}/web/blobs/${byDigest}`,
  ])
    expect([line, (await registry(maintainer).send(line)).status]).toEqual([line, 403]);
  for (const line of [`DELETE ${path}/${id}`, `DELETE ${path}/${id}/tags/v1`])
    expect([line, (await as(maintainer)(line)).status]).toEqual([line, 403]);
  expect((await as(maintainer)(`DELETE ${path}/${id}/tags`, { query: 'name_regex=.*' })).status).toBe(403);
  expect(await tagsOf(id)).toEqual(['v1', 'v2']);
  expect((await as(owner)(`DELETE ${path}/${id}`)).status).toBe(202);
});

test('a token that was issued before a rule does not open what the rule keeps', async () => {
  const client = registry(developer);
  await client.pushImage(`${image}/web`, 'v1', 'layer');
  const body = {
    repository_path_pattern: `${image}/web`,
    minimum_access_level_for_push: 'maintainer',
  };
  bodyOf(await as(maintainer)(`POST ${repositoryRules()}`, { body }), 201);
  const put = await client.putManifest(`${image}/web`, 'v2', imageOf(['layer']));
  expect([put.status, errorsOf(put.text)]).toEqual([403, ['Pushing to protected repository path forbidden']]);
});

test('rules of tags keep roles from pushing and deleting, by every road', async () => {
  const id = await push(image, ['v1', 'dev']);
  const levels = { minimum_access_level_for_push: 'maintainer', minimum_access_level_for_delete: 'owner' };
  const body = { tag_name_pattern: '^v\\d', ...levels };
  const rule = bodyOf(await as(maintainer)(`POST ${tagRules()}`, { body }), 201);
  expect(rule).toEqual({ id: expect.any(Number), project_id: project.id, ...body });
  for (const wrong of [body, { ...body, tag_name_pattern: '(' }])
    expect((await as(maintainer)(`POST ${tagRules()}`, { body: wrong })).status).toBe(422);
  expect((await as(maintainer)(`POST ${tagRules()}`, { body: { tag_name_pattern: 'x' } })).status).toBe(400);

  const put = await registry(developer).putManifest(image, 'v2', imageOf([`layer of ${image}`]));
  expect([put.status, errorsOf(put.text)]).toEqual([403, ['the tag v2 is protected by the pattern ^v\\d']]);
  const digest = (await registry(developer).send(`HEAD ${image}/manifests/v1`)).headers.get(
    'docker-content-digest',
  );
  const tagged = await registry(developer).putManifest(
    image,
    `${digest}?tag=v3`,
    imageOf([`layer of ${image}`]),
  );
  expect(tagged.status).toBe(403);
  expect((await registry(maintainer).putManifest(image, 'v2', imageOf([`layer of ${image}`]))).status).toBe(
    201,
  );
  for (const line of [`DELETE ${image}/manifests/v1`, `DELETE ${image}/manifests/${digest}`])
    expect([line, (await registry(maintainer).send(line)).status]).toEqual([line, 403]);
  for (const line of [`DELETE ${path}/${id}`, `DELETE ${path}/${id}/tags/v1`])
    expect([line, (await as(maintainer)(line)).status]).toEqual([line, 403]);
  const all = { query: 'name_regex=.*' };
  expect((await as(maintainer)(`DELETE ${path}/${id}/tags`, all)).status).toBe(202);
  await until(async () => !(await tagsOf(id)).includes('dev'), 'the tag stays');
  expect(await tagsOf(id)).toEqual(['v1', 'v2']);
  expect((await registry(owner).send(`DELETE ${image}/manifests/v2`)).status).toBe(202);

  for (let more = 1; more < 5; more += 1)
    bodyOf(
      await as(maintainer)(`POST ${tagRules()}`, { body: { ...body, tag_name_pattern: `x${more}` } }),
      201,
    );
  expect(
    (await as(maintainer)(`POST ${tagRules()}`, { body: { ...body, tag_name_pattern: 'x5' } })).body.message,
  ).toEqual(['Maximum number of container registry tag protection rules (5) exceeded']);
});

test('a rule that is made while a manifest arrives keeps the tag, too', async () => {
  await push(image, ['r1']);
  await registry(developer).pushBlob(image, 'another');
  const { username, token: password } = developer;
  const { token } = await askToken(app, { username, password }, [`repository:${image}:pull,push`]);
  const text = JSON.stringify(imageOf(['another']));
  const request = httpRequest(`${app.url}/v2/${image}/manifests/r1`, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': IMAGE_MANIFEST,
      'content-length': Buffer.byteLength(text),
    },
  });
  const answer = once(request, 'response');
  request.write(text.slice(0, 10));
  // The server looks at the rules before it asks for more.
  await sleep(300);
  const body = {
    tag_name_pattern: '^r',
    minimum_access_level_for_push: null,
    minimum_access_level_for_delete: null,
  };
  bodyOf(await as(owner)(`POST ${tagRules()}`, { body }), 201);
  request.end(text.slice(10));
  const [{ statusCode }] = await answer;
  expect(statusCode).toBe(403);
});

test('immutable tags are pushed once, and stay whoever asks', async () => {
  const id = await push(image, ['r1', 'dev']);
  const body = {
    tag_name_pattern: '^r',
    minimum_access_level_for_push: null,
    minimum_access_level_for_delete: null,
  };
  expect((await as(maintainer)(`POST ${tagRules()}`, { body })).status).toBe(403);
  const rule = bodyOf(await as(owner)(`POST ${tagRules()}`, { body }), 201);
  const change = { minimum_access_level_for_push: 'admin', minimum_access_level_for_delete: 'admin' };
  expect((await as(owner)(`PATCH ${tagRules()}/${rule.id}`, { body: change })).status).toBe(422);
  expect((await as(maintainer)(`DELETE ${tagRules()}/${rule.id}`)).status).toBe(403);

  const { putManifest, pushBlob, send } = registry(owner);
  const same = imageOf([`layer of ${image}`]);
  expect((await putManifest(image, 'r1', same)).status).toBe(201);
  await pushBlob(image, 'another');
  const other = await putManifest(image, 'r1', imageOf(['another']));
  expect([other.status, errorsOf(other.text)]).toEqual([
    403,
    ['the tag r1 is immutable: it cannot be pushed again'],
  ]);
  // Of twenty images that are pushed to a new tag at once, one is there.
  const layers = Array.from({ length: 20 }, (_, index) => `layer ${index}`);
  await Promise.all(layers.map((layer) => pushBlob(image, layer)));
  const raced = await Promise.all(layers.map((layer) => putManifest(image, 'r2', imageOf([layer]))));
  expect(raced.map(({ status }) => status).sort()).toEqual([201, ...layers.slice(1).map(() => 403)]);

  const { headers } = await send(`HEAD ${image}/manifests/r1`);
  for (const line of [
    `DELETE ${image}/manifests/r1`,
    `DELETE ${image}/manifests/${headers.get('docker-content-digest')}`,
  ])
    expect([line, (await send(line)).status]).toEqual([line, 403]);
  for (const call of [as(owner), app.root])
    for (const line of [`DELETE ${path}/${id}`, `DELETE ${path}/${id}/tags/r1`])
      expect([line, (await call(line)).status]).toEqual([line, 403]);
  expect((await app.root(`DELETE ${path}/${id}/tags`, { query: 'name_regex=.*' })).status).toBe(202);
  await until(async () => !(await tagsOf(id)).includes('dev'), 'the tag stays');
  expect(await tagsOf(id)).toEqual(['r1', 'r2']);
  expect((await as(owner)(`DELETE ${tagRules()}/${rule.id}`)).status).toBe(204);
  expect((await as(owner)(`DELETE ${path}/${id}/tags/r1`)).status).toBe(200);
});

const policyOf = async () =>
  bodyOf(await as(maintainer)(`GET /projects/${project.id}`), 200).container_expiration_policy;
const change = (attributes: object) =>
  as(maintainer)(`PUT /projects/${project.id}`, {
    body: { container_expiration_policy_attributes: attributes },
  });

test('a project has an expiration policy, which its maintainers change', async () => {
  expect(await policyOf()).toEqual({
    cadence: '1d',
    enabled: false,
    keep_n: 10,
    older_than: '90d',
    name_regex: '.*',
    name_regex_keep: null,
    next_run_at: null,
  });
  bodyOf(await change({ cadence: '7d', enabled: true, keep_n: 5, name_regex_delete: 'v.*' }), 200);
  const policy = await policyOf();
  expect(policy).toMatchObject({ cadence: '7d', enabled: true, keep_n: 5, name_regex: 'v.*' });
  expect(policy.older_than).toBe('90d');
  expect(Math.abs(Date.parse(policy.next_run_at) - Date.now() - 7 * DAY_MS)).toBeLessThan(60_000);
  for (const wrong of [
    { keep_n: 7 },
    { cadence: 'daily' },
    { older_than: '1d' },
    { name_regex: '(' },
    { name_regex: 'a)|(b' },
    { name_regex_keep: '(?=a)' },
    { name_regex: null },
    { name_regex: '' },
  ])
    expect([wrong, (await change(wrong)).status]).toEqual([wrong, 400]);
  expect(await policyOf()).toEqual(policy);
  const form =
    'container_expiration_policy_attributes[keep_n]=25&container_expiration_policy_attributes[cadence]=1d';
  bodyOf(await as(maintainer)(`PUT /projects/${project.id}`, { form }), 200);
  expect(await policyOf()).toMatchObject({ keep_n: 25, cadence: '1d', name_regex: 'v.*' });
  const made = await app.root('POST /projects', {
    body: { name: uniqueName('p'), container_expiration_policy_attributes: { enabled: true } },
  });
  expect(bodyOf(made, 201).container_expiration_policy).toMatchObject({ enabled: true, cadence: '1d' });
});

test('a policy deletes what it says when its time has come, and nothing before', async () => {
  const id = await push(image, ['latest', 'v1', 'v2', 'v3', 'held', 'kept']);
  await age(id, { latest: 400, v1: 40, v2: 39, v3: 1, held: 50, kept: 60 });
  const levels = { minimum_access_level_for_push: 'admin', minimum_access_level_for_delete: 'maintainer' };
  bodyOf(
    await as(maintainer)(`POST ${tagRules()}`, { body: { tag_name_pattern: '^held$', ...levels } }),
    201,
  );
  const attributes = {
    enabled: true,
    keep_n: 1,
    older_than: '7d',
    name_regex: '.*',
    name_regex_keep: 'kept',
  };
  bodyOf(await change(attributes), 200);
  const { background } = app.app.services.database;
  await runPolicies(background);
  const started = async () =>
    bodyOf(await as(maintainer)(`GET /registry/repositories/${id}`), 200).cleanup_policy_started_at;
  expect(await started()).toBeNull();
  const back = moveClock(DAY_MS + 60_000);
  try {
    // Several processes do it once.
    await Promise.all([runPolicies(background), runPolicies(background)]);
  } finally {
    back();
  }
  expect(await started()).not.toBeNull();
  await until(async () => (await tagsOf(id)).length === 4, 'tags stay');
  expect(await tagsOf(id)).toEqual(['held', 'kept', 'latest', 'v3']);
  expect(Date.parse((await policyOf()).next_run_at)).toBeGreaterThan(Date.now() + DAY_MS);
});

test('no policy runs that is switched off, or of a project whose registry or repository is shut', async () => {
  const id = await push(image, ['v1', 'v2']);
  await age(id, { v1: 400, v2: 300 });
  const attributes = { enabled: true, keep_n: null, older_than: '7d' };
  const passDays = async (days: number) => {
    const back = moveClock(days * DAY_MS);
    try {
      await runPolicies(app.app.services.database.background);
    } finally {
      back();
    }
    const waiting = async () =>
      (
        await sql`select from graphile_worker.jobs where task_identifier = 'registry.remove_tags'`.execute(
          db(),
        )
      ).rows.length === 0;
    await until(waiting, 'jobs wait');
  };
  await change({ ...attributes, enabled: false });
  await passDays(2);
  await change(attributes);
  await app.root(`PUT /projects/${project.id}`, { body: { container_registry_access_level: 'disabled' } });
  await passDays(2);
  await app.root(`PUT /projects/${project.id}`, { body: { container_registry_access_level: 'enabled' } });
  const rule = { repository_path_pattern: image, minimum_access_level_for_delete: 'maintainer' };
  const { id: ruleId } = bodyOf(await as(maintainer)(`POST ${repositoryRules()}`, { body: rule }), 201);
  await passDays(2);
  expect(await tagsOf(id)).toEqual(['v1', 'v2']);
  await as(maintainer)(`DELETE ${repositoryRules()}/${ruleId}`);
  await passDays(4);
  expect(await tagsOf(id)).toEqual([]);
});

test('thousands of tags are removed in several batches, and from where the turn before ended', async () => {
  const id = await push(image, ['v0']);
  await sql`
    insert into container_tags (repository_id, name, manifest_id, created_at, updated_at)
    select repository_id, 'v' || i, manifest_id, created_at, created_at - i * interval '1 second'
    from container_tags, generate_series(1, 2500) i where repository_id = ${id}`.execute(db());
  const { rows } = await sql<{ id: number; updated_at: Date }>`
    select id, updated_at from container_tags where repository_id = ${id} and name = 'v2400'`.execute(db());
  const after = { id: rows[0]?.id ?? 0, updated_at: rows[0]?.updated_at.toISOString() ?? '' };
  const selection = { delete: 'v.*', keep: null, keepNewest: 20, before: null };
  const removal = { repository_id: id, level: 40, selection };
  const { background } = app.app.services.database;
  await runTagsRemoval(background, { ...removal, after, kept: 15 });
  const names = await tagsOf(id);
  expect(names.length).toBe(2_501 - 95);
  expect([names.includes('v2405'), names.includes('v2406')]).toEqual([true, false]);
  await runTagsRemoval(background, removal);
  await until(async () => (await tagsOf(id)).length === 20, 'tags stay');
  expect(await tagsOf(id)).toEqual(Array.from({ length: 20 }, (_, index) => `v${index}`).sort());
});

test('a repository is removed by turns', async () => {
  const id = await push(image, ['v1', 'v2']);
  await sql`update container_repositories set status = 'delete_scheduled' where id = ${id}`.execute(db());
  const left = async () =>
    (await sql`select from container_repositories where id = ${id}`.execute(db())).rows.length;
  const { services } = app.app;
  await inTransaction(db(), async (tx) => {
    // The jobs wait for it.
    await sql`select from container_manifests where repository_id = ${id} for update`.execute(tx);
    await removeRepository(services, id, 0);
    expect([await tagsOf(id), await left()]).toEqual([[], 1]);
  });
  await until(async () => (await left()) === 0, 'the repository stays');
});

test('a tag that is pushed while it is deleted by its age stays', async () => {
  const id = await push(image, ['v1']);
  await age(id, { v1: 40 });
  const seen = await sql<{ id: number; updated_at: Date }>`
    select id, updated_at from container_tags where repository_id = ${id}`.execute(db());
  await push(image, ['v1']);
  await deleteUnchanged(db(), seen.rows);
  expect(await tagsOf(id)).toEqual(['v1']);
});
