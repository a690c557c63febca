/** Releases over HTTP: made with their tags, read, changed and deleted, and who may. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../test/support/factories.ts';
import { fillProject } from '../../../test/support/repositories.ts';

const ashlar = useApp();
let project: MadeProject;
let head: string;
let path: string;
let developer: MadeUser;
let guest: MadeUser;

async function makeRepository(attributes: object = {}): Promise<{ made: MadeProject; head: string }> {
  const made = await makeProject(ashlar, { ...attributes });
  return { made, head: await fillProject(ashlar, made.id, [{ a: '1' }, { a: '2' }]) };
}

beforeAll(async () => {
  ({ made: project, head } = await makeRepository());
  ({ developer, guest } = await makeMembers(ashlar, `projects/${project.id}`, 'developer', 'guest'));
  path = `/projects/${project.id}/releases`;
});

let made = 0;
const newTag = () => `v${++made}`;
const make = async (body: object = {}, by = developer) =>
  bodyOf(
    await ashlar.as(by.token)(`POST ${path}`, { body: { tag_name: newTag(), ref: 'main', ...body } }),
    201,
  );
const create = (body: object, by = developer) => ashlar.as(by.token)(`POST ${path}`, { body });
const tagAt = (tag: string, at = project.id) => `/projects/${at}/repository/tags/${encodeURIComponent(tag)}`;
const hours = (count: number) => new Date(Date.now() + count * 3_600_000).toISOString();

test('a release is made with its tag, and read whole', async () => {
  const name = newTag();
  const links = [
    { name: 'Program', url: 'https://example.com/p', direct_asset_path: '/bin/p', link_type: 'package' },
  ];
  const body = {
    tag_name: name,
    ref: 'main',
    tag_message: 'Spring',
    name: 'The spring',
    description: '**New**',
  };
  const release = bodyOf(await create({ ...body, assets: { links } }), 201);
  const url = `${ashlar.url}/${project.path_with_namespace}`;
  const self = `${url}/-/releases/${name}`;
  expect(release).toEqual({
    name: 'The spring',
    tag_name: name,
    description: '**New**',
    created_at: expect.any(String),
    released_at: release.created_at,
    upcoming_release: false,
    author: expect.objectContaining({ id: developer.id }),
    commit: expect.objectContaining({ id: head }),
    milestones: [],
    commit_path: `/${project.path_with_namespace}/-/commit/${head}`,
    tag_path: `/${project.path_with_namespace}/-/tags/${name}`,
    assets: {
      count: 5,
      sources: ['zip', 'tar.gz', 'tar.bz2', 'tar'].map((format) => ({
        format,
        url: expect.stringContaining(format),
      })),
      links: [
        {
          id: expect.any(Number),
          name: 'Program',
          url: 'https://example.com/p',
          direct_asset_url: `${self}/downloads/bin/p`,
          link_type: 'package',
        },
      ],
    },
    evidences: [
      {
        sha: expect.stringMatching(/^[0-9a-f]{64}$/),
        filepath: expect.stringMatching(/\/evidences\/\d+\.json$/),
        collected_at: expect.any(String),
      },
    ],
    _links: {
      self,
      edit_url: `${self}/edit`,
      closed_issues_url: `${url}/-/issues?release_tag=${name}&scope=all&state=closed`,
      closed_merge_requests_url: `${url}/-/merge_requests?release_tag=${name}&scope=all&state=closed`,
      merged_merge_requests_url: `${url}/-/merge_requests?release_tag=${name}&scope=all&state=merged`,
      opened_issues_url: `${url}/-/issues?release_tag=${name}&scope=all&state=opened`,
      opened_merge_requests_url: `${url}/-/merge_requests?release_tag=${name}&scope=all&state=opened`,
    },
  });
  const call = ashlar.as(developer.token);
  expect(bodyOf(await call(`GET ${path}/${name}`), 200)).toEqual(release);
  const html = bodyOf(await call(`GET ${path}/${name}?include_html_description=true`), 200).description_html;
  expect(html).toContain('<strong>New</strong>');
  const tag = bodyOf(await call(`GET ${tagAt(name)}`), 200);
  expect(tag).toMatchObject({ message: 'Spring', release: { tag_name: name, description: '**New**' } });
  const [listed] = bodyOf(await call(`GET /projects/${project.id}/repository/tags?search=^${name}$`), 200);
  expect(listed.release).toEqual(tag.release);
});

test('a tag that is there is taken, whatever `ref` says; one that is missing needs a ref', async () => {
  const name = newTag();
  bodyOf(
    await ashlar.root(`POST /projects/${project.id}/repository/tags`, {
      body: { tag_name: name, ref: 'main~1' },
    }),
    201,
  );
  const { commit } = await make({ tag_name: name });
  expect(commit.title).toBe('Commit 1');
  const missing = await create({ tag_name: newTag() });
  expect([missing.status, missing.body.message]).toEqual([422, 'Ref is not specified']);
  const wrong = await create({ tag_name: newTag(), ref: 'nowhere' });
  expect([wrong.status, wrong.body.message]).toEqual([400, 'Target nowhere is invalid']);
  expect((await create({ tag_name: 'no..tag', ref: 'main' })).body.message).toBe('Tag name invalid');
  expect((await create({ ref: 'main' })).status).toBe(400);
});

test('what cannot be in a release leaves no tag behind', async () => {
  const name = newTag();
  const link = { name: 'One', url: 'https://example.com/1' };
  for (const [body, message] of [
    [{ milestones: ['nowhere'] }, 'Milestone(s) not found: nowhere'],
    [{ milestone_ids: [999_999] }, 'Milestone id(s) not found: 999999'],
    [
      { milestones: [], milestone_ids: [1] },
      '400 Bad request - Cannot specify milestones and milestone_ids at the same time',
    ],
    [{ assets: { links: [link, link] } }, { 'links.name': ['has already been taken'] }],
    [
      { assets: { links: [{ ...link, url: 'javascript:alert(1)' }] } },
      { url: ['is blocked: Only allowed schemes are http, https, ftp'] },
    ],
  ] as const) {
    const refused = await create({ tag_name: name, ref: 'main', ...body });
    expect([refused.status, refused.body.message]).toEqual([400, message]);
  }
  const many = Array.from({ length: 501 }, (_, at) => ({ name: `${at}`, url: `https://example.com/${at}` }));
  expect((await create({ tag_name: name, ref: 'main', assets: { links: many } })).status).toBe(400);
  expect((await create({ tag_name: name, ref: 'main', name: 'x'.repeat(256) })).status).toBe(400);
  expect((await create({ tag_name: name, ref: 'main', description: 'x'.repeat(1_048_577) })).status).toBe(
    400,
  );
  expect((await ashlar.root(`GET ${tagAt(name)}`)).status).toBe(404);
});

test('of many that make the same release at once, one does', async () => {
  const body = { tag_name: newTag(), ref: 'main' };
  const all = await Promise.all(Array.from({ length: 5 }, () => create(body)));
  expect(all.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
  expect(all.find(({ status }) => status === 409)?.body.message).toBe('Release already exists');
});

test('a protected tag is published at by those who may create it', async () => {
  bodyOf(
    await ashlar.root(`POST /projects/${project.id}/protected_tags`, {
      body: { name: 'held*', create_access_level: 40 },
    }),
    201,
  );
  const refused = await create({ tag_name: 'held-1', ref: 'main' });
  expect([refused.status, refused.body.message]).toEqual([
    403,
    'You are not allowed to create this tag as it is protected.',
  ]);
  bodyOf(await ashlar.root(`POST ${path}`, { body: { tag_name: 'held-1', ref: 'main' } }), 201);
  const tags = `/projects/${project.id}/repository/tags`;
  bodyOf(await ashlar.root(`POST ${tags}`, { body: { tag_name: 'held-2', ref: 'main' } }), 201);
  expect((await create({ tag_name: 'held-2' })).status).toBe(403);
  const call = ashlar.as(developer.token);
  const url = 'https://example.com/held';
  expect((await call(`PUT ${path}/held-1`, { body: { name: 'x' } })).status).toBe(403);
  expect((await call(`POST ${path}/held-1/assets/links`, { body: { name: 'x', url } })).status).toBe(403);
  expect((await call(`POST ${path}/held-1/evidence`)).status).toBe(403);
  expect((await call(`DELETE ${path}/held-1`)).status).toBe(403);
  expect((await ashlar.root(`DELETE ${path}/held-1`)).status).toBe(200);
});

test('a release is changed and deleted, which leaves its tag; one without its tag stays', async () => {
  const { tag_name, ...release } = await make({ description: 'One' });
  const call = ashlar.as(developer.token);
  const one = `${path}/${tag_name}`;
  const body = { name: 'Two', description: null };
  expect(bodyOf(await call(`PUT ${one}`, { body }), 200)).toEqual({ ...release, tag_name, ...body });
  expect((await call(`PUT ${one}`, { body: {} })).status).toBe(400);
  bodyOf(await call(`DELETE ${tagAt(tag_name)}`), 204);
  const without = bodyOf(await call(`GET ${one}`), 200);
  expect(without.commit.id).toBe(head);
  expect(bodyOf(await call(`DELETE ${one}`), 200)).toEqual(without);
  for (const method of ['GET', 'PUT', 'DELETE'])
    expect((await call(`${method} ${one}`, method === 'PUT' ? { body } : {})).status).toBe(404);
  const other = await make();
  await call(`DELETE ${path}/${other.tag_name}`);
  expect((await call(`GET ${tagAt(other.tag_name)}`)).body.release).toBeNull();
  const { sql } = ashlar.app.services.database;
  const audits = await sql<{ event_name: string }[]>`select event_name from audit_events
    where details ->> 'target_type' = 'Release' and details ->> 'target_details' in ('Two', ${tag_name}) order by id`;
  expect(audits.map(({ event_name }) => event_name)).toEqual([
    'release_created',
    'release_updated',
    'release_deleted',
  ]);
});

test('a moved tag has the commit that it names now', async () => {
  const { tag_name } = await make();
  const tags = `/projects/${project.id}/repository/tags`;
  bodyOf(await ashlar.root(`DELETE ${tagAt(tag_name)}`), 204);
  bodyOf(await ashlar.root(`POST ${tags}`, { body: { tag_name, ref: 'main~1' } }), 201);
  expect((await ashlar.root(`GET ${path}/${tag_name}`)).body.commit.title).toBe('Commit 1');
});

test('releases are listed by when they are released, the latest first, and permalinks lead to the latest', async () => {
  const { made: other } = await makeRepository({ visibility: 'public' });
  const list = `/projects/${other.id}/releases`;
  for (const [tag_name, age] of [
    ['old', -3],
    ['v/2', -1],
    ['older', -9],
    ['upcoming', 5],
  ] as const)
    bodyOf(
      await ashlar.root(`POST ${list}`, { body: { tag_name, ref: 'main', released_at: hours(age) } }),
      201,
    );
  const tags = async (query: string) =>
    bodyOf(await ashlar.call(`GET ${list}?${query}`), 200).map((each: { tag_name: string }) => each.tag_name);
  expect(await tags('')).toEqual(['upcoming', 'v/2', 'old', 'older']);
  expect(await tags('sort=asc')).toEqual(['older', 'old', 'v/2', 'upcoming']);
  expect(await tags('order_by=created_at')).toEqual(['upcoming', 'older', 'v/2', 'old']);
  expect(await tags(`updated_after=${hours(1)}`)).toEqual([]);
  expect(await tags(`updated_before=${hours(1)}&per_page=2&page=2`)).toEqual(['old', 'older']);
  const lead = async (below: string) => {
    const { status, headers } = await ashlar.call(`GET ${list}/permalink/latest${below}`);
    return [status, headers.get('location')];
  };
  const latest = `${ashlar.url}/api/v4/projects/${other.id}/releases/v%2F2`;
  expect(await lead('')).toEqual([302, latest]);
  expect(await lead('?order_by=created_at&page=2')).toEqual([
    302,
    `${ashlar.url}/api/v4/projects/${other.id}/releases/older?page=2`,
  ]);
  expect(await lead('/assets/links?per_page=1&order_by=released_at')).toEqual([
    302,
    `${latest}/assets/links?per_page=1`,
  ]);
  expect(await lead('/downloads/bin%2Fa/b')).toEqual([302, `${latest}/downloads/bin/a/b`]);
  expect((await lead('/..%2F..%2Fusers'))[0]).toBe(404);
  const { headers } = await ashlar.call(`GET ${list}/permalink/latest?private_token=`);
  expect(headers.get('location') ?? '').not.toContain('private_token');
  expect((await ashlar.root(`GET ${path}/permalink/latest/x`)).status).toBe(302);
  const empty = await makeProject(ashlar);
  expect((await ashlar.root(`GET /projects/${empty.id}/releases/permalink/latest`)).status).toBe(404);
});

test('of long descriptions as many are rendered as there is room for, and none of them runs', async () => {
  const { made: other } = await makeRepository();
  const list = `/projects/${other.id}/releases`;
  const text = `**bold** <script>alert(1)</script>${'x'.repeat(600_000)}`;
  for (const tag_name of ['a', 'b'])
    bodyOf(await ashlar.root(`POST ${list}`, { body: { tag_name, ref: 'main', description: text } }), 201);
  const [first, second] = bodyOf(await ashlar.root(`GET ${list}?include_html_description=true`), 200);
  expect(first.description_html).toContain('<strong>bold</strong>');
  expect(second.description_html).toContain('**bold** &lt;script&gt;');
  for (const { description_html } of [first, second]) expect(description_html).not.toContain('<script>');
});

describe('milestones', () => {
  test('of the project and the groups around it are named by title or id, and show their public issues', async () => {
    const group = await makeGroup(ashlar);
    const below = await makeGroup(ashlar, { parent_id: group.id });
    const { made: inside } = await makeRepository({ namespace_id: below.id });
    const list = `/projects/${inside.id}/releases`;
    const add = async (to: string, title: string): Promise<number> =>
      bodyOf(await ashlar.root(`POST ${to}/milestones`, { body: { title } }), 201).id;
    const own = await add(`/projects/${inside.id}`, 'Own');
    const outer = await add(`/groups/${group.id}`, 'Outer');
    const elsewhere = await add(`/projects/${project.id}`, 'Elsewhere');
    for (const body of [{}, { confidential: true }])
      bodyOf(
        await ashlar.root(`POST /projects/${inside.id}/issues`, {
          body: { title: 'x', milestone_id: own, ...body },
        }),
        201,
      );
    const body = { tag_name: 'v1', ref: 'main', milestones: ['Outer', 'Own'] };
    const release = bodyOf(await ashlar.root(`POST ${list}`, { body }), 201);
    expect(release.milestones).toMatchObject([
      { id: own, project_id: inside.id, issue_stats: { total: 1, closed: 0 } },
      { id: outer, group_id: group.id, issue_stats: { total: 0, closed: 0 } },
    ]);
    const change = (changes: object) => ashlar.root(`PUT ${list}/v1`, { body: changes });
    const idsOf = async (changes: object) =>
      bodyOf(await change(changes), 200).milestones.map(({ id }: { id: number }) => id);
    expect(await idsOf({ name: 'x' })).toEqual([own, outer]);
    expect(await idsOf({ milestone_ids: `${outer}` })).toEqual([outer]);
    for (const refused of [{ milestone_ids: [elsewhere] }, { milestones: ['Elsewhere'] }])
      expect((await change(refused)).status).toBe(400);
    expect(await idsOf({ milestones: [] })).toEqual([]);
    expect(await idsOf({ milestones: ['Own'] })).toEqual([own]);
    // Promoted, and then left behind by a move.
    const promoted = bodyOf(await ashlar.root(`POST /projects/${inside.id}/milestones/${own}/promote`), 201);
    expect((await ashlar.root(`GET ${list}/v1`)).body.milestones).toMatchObject([
      { id: promoted.id, group_id: below.id },
    ]);
    const away = await makeGroup(ashlar);
    bodyOf(await ashlar.root(`PUT /projects/${inside.id}/transfer`, { body: { namespace: away.id } }), 200);
    const [moved] = (await ashlar.root(`GET ${list}/v1`)).body.milestones;
    expect(moved).toMatchObject({ title: 'Own', project_id: inside.id });
    bodyOf(await ashlar.root(`DELETE /projects/${inside.id}/milestones/${moved.id}`), 204);
    expect((await ashlar.root(`GET ${list}/v1`)).body.milestones).toEqual([]);
  });
});

describe('who may', () => {
  test('Guests of a private project read releases, and nothing of the code', async () => {
    const { tag_name } = await make({ assets: { links: [{ name: 'a', url: 'https://example.com/a' }] } });
    const call = ashlar.as(guest.token);
    const record = bodyOf(await call(`GET ${path}/${tag_name}`), 200);
    expect(record.assets).toEqual({ count: 1, links: [expect.objectContaining({ name: 'a' })] });
    for (const hidden of ['commit', 'commit_path', 'tag_path', 'evidences'])
      expect(record).not.toHaveProperty(hidden);
    expect(record._links).not.toHaveProperty('edit_url');
    expect(bodyOf(await call(`GET ${path}`), 200)).toContainEqual(record);
    expect((await call(`POST ${path}`, { body: { tag_name: newTag(), ref: 'main' } })).status).toBe(403);
    expect((await call(`DELETE ${path}/${tag_name}`)).status).toBe(403);
  });

  test('strangers and other projects see none', async () => {
    const { tag_name } = await make();
    const stranger = await makeUser(ashlar);
    for (const request of [
      `GET ${path}`,
      `GET ${path}/${tag_name}`,
      `PUT ${path}/${tag_name}`,
      `POST ${path}`,
    ])
      expect([request, (await ashlar.as(stranger.token)(request)).status]).toEqual([request, 404]);
    const elsewhere = await makeProject(ashlar);
    expect((await ashlar.root(`GET /projects/${elsewhere.id}/releases/${tag_name}`)).status).toBe(404);
  });

  test('the feature is for members alone, or for nobody', async () => {
    const { made: open } = await makeRepository({ visibility: 'public' });
    const list = `/projects/${open.id}/releases`;
    bodyOf(await ashlar.root(`POST ${list}`, { body: { tag_name: 'v1', ref: 'main' } }), 201);
    const set = async (releases_access_level: string) =>
      bodyOf(await ashlar.root(`PUT /projects/${open.id}`, { body: { releases_access_level } }), 200);
    await addMember(ashlar, `projects/${open.id}`, guest, 10);
    const statuses = async () =>
      Promise.all([
        ashlar.call(`GET ${list}/v1`).then(({ status }) => status),
        ashlar
          .as(guest.token)(`GET ${list}/v1`)
          .then(({ status }) => status),
        ashlar.root(`GET ${list}/v1`).then(({ status }) => status),
      ]);
    expect(await statuses()).toEqual([200, 200, 200]);
    await set('private');
    expect(await statuses()).toEqual([403, 200, 200]);
    expect((await ashlar.call(`GET ${tagAt('v1', open.id)}`)).body.release).toBeNull();
    await set('disabled');
    expect(await statuses()).toEqual([403, 403, 403]);
  });
});

test('where the repository or the issues are turned off, no tag is made and no issue counted', async () => {
  const { made: open } = await makeRepository({ visibility: 'public' });
  const at = `/projects/${open.id}`;
  const { id } = bodyOf(await ashlar.root(`POST ${at}/milestones`, { body: { title: 'One' } }), 201);
  bodyOf(await ashlar.root(`POST ${at}/issues`, { body: { title: 'x', milestone_id: id } }), 201);
  const body = { tag_name: 'v1', ref: 'main', milestone_ids: [id] };
  bodyOf(await ashlar.root(`POST ${at}/releases`, { body }), 201);
  const total = async () => (await ashlar.call(`GET ${at}/releases/v1`)).body.milestones[0].issue_stats.total;
  expect(await total()).toBe(1);
  const levels = { issues_access_level: 'private', repository_access_level: 'disabled' };
  bodyOf(await ashlar.root(`PUT ${at}`, { body: levels }), 200);
  expect(await total()).toBe(0);
  const refused = await ashlar.root(`POST ${at}/releases`, { body: { tag_name: 'v2', ref: 'main' } });
  expect(refused.status).toBe(403);
});

test('a group lists the releases of the projects that the caller reads', async () => {
  const group = await makeGroup(ashlar, { visibility: 'public' });
  const below = await makeGroup(ashlar, { parent_id: group.id, visibility: 'public' });
  const { made: open } = await makeRepository({ namespace_id: group.id, visibility: 'public' });
  const { made: hidden } = await makeRepository({ namespace_id: below.id });
  for (const [{ id }, tag_name, age] of [
    [open, 'a', -2],
    [hidden, 'b', -1],
    [open, 'c', -3],
  ] as const)
    bodyOf(
      await ashlar.root(`POST /projects/${id}/releases`, {
        body: { tag_name, ref: 'main', released_at: hours(age) },
      }),
      201,
    );
  const list = async (call = ashlar.call, query = '') =>
    bodyOf(await call(`GET /groups/${group.id}/releases${query}`), 200);
  const tags = (all: { tag_name: string }[]) => all.map(({ tag_name }) => tag_name);
  expect(tags(await list())).toEqual(['a', 'c']);
  expect(tags(await list(ashlar.root))).toEqual(['b', 'a', 'c']);
  expect(tags(await list(ashlar.root, '?sort=asc'))).toEqual(['c', 'a', 'b']);
  const one = bodyOf(await ashlar.root(`GET /projects/${hidden.id}/releases/b`), 200);
  expect((await list(ashlar.root))[0]).toEqual(one);
  await addMember(ashlar, `projects/${hidden.id}`, guest, 10);
  const [asGuest] = await list(ashlar.as(guest.token));
  expect([asGuest.tag_name, asGuest.assets.count, asGuest.commit]).toEqual(['b', 0, undefined]);
  const [simple] = await list(ashlar.root, '?simple=true');
  expect(Object.keys(simple).sort()).toEqual([
    'created_at',
    'description',
    'name',
    'released_at',
    'tag_name',
    'upcoming_release',
  ]);
});

test('releases of a deleted user are the ghost’s', async () => {
  const leaving = await makeUser(ashlar);
  await addMember(ashlar, `projects/${project.id}`, leaving, 30);
  const { tag_name } = await make({}, leaving);
  bodyOf(await ashlar.root(`DELETE /users/${leaving.id}`), 204);
  await expect
    .poll(async () => (await ashlar.root(`GET ${path}/${tag_name}`)).body.author.username)
    .toBe('ghost');
});
