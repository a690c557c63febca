/** Groups over HTTP: who creates them, how they are changed, who sees them (facts: Groups core, Roles and visibility). */
import { beforeAll, describe, expect, it } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
  uniqueName,
} from '../../../../test/support/factories.ts';

const ashlar = useApp();
const pathsOf = (body: { path: string }[]): string[] => body.map((each) => each.path);
const encode = encodeURIComponent;

/** Sets application settings for one test, and restores them. */
async function withSettings<T>(settings: Record<string, unknown>, story: () => Promise<T>): Promise<T> {
  const before = bodyOf(await ashlar.root('GET /application/settings'), 200);
  bodyOf(await ashlar.root('PUT /application/settings', { body: settings }), 200);
  try {
    return await story();
  } finally {
    const back = Object.fromEntries(Object.keys(settings).map((name) => [name, before[name]]));
    bodyOf(await ashlar.root('PUT /application/settings', { body: back }), 200);
  }
}

describe('creating groups', () => {
  it('makes the creator Owner, with the defaults of the instance', async () => {
    const user = await makeUser(ashlar);
    const path = uniqueName('team');
    const created = bodyOf(
      await ashlar.as(user.token)('POST /groups', {
        body: { name: 'The Team', path, description: 'who we are' },
      }),
      201,
    );
    expect(created).toMatchObject({
      name: 'The Team',
      path,
      full_path: path,
      full_name: 'The Team',
      description: 'who we are',
      visibility: 'private',
      parent_id: null,
      web_url: `${ashlar.url}/groups/${path}`,
      avatar_url: null,
      project_creation_level: 'developer',
      subgroup_creation_level: 'maintainer',
      emails_disabled: false,
      emails_enabled: true,
      default_branch_protection: 2,
      marked_for_deletion_on: null,
      shared_with_groups: [],
    });
    const members = bodyOf(await ashlar.as(user.token)(`GET /groups/${created.id}/members`), 200);
    expect(members).toMatchObject([{ id: user.id, access_level: 50 }]);
    const { db } = ashlar.app.services.database;
    const events = await db
      .selectFrom('audit_events')
      .select(['event_name', 'author_id'])
      .where('entity_type', '=', 'Group')
      .where('entity_id', '=', created.id)
      .orderBy('id')
      .execute();
    expect(events).toEqual([
      { event_name: 'group_created', author_id: user.id },
      { event_name: 'member_created', author_id: user.id },
    ]);
  });

  it('nests them', async () => {
    const outer = await makeGroup(ashlar);
    const inner = await makeGroup(ashlar, { parent_id: outer.id, path: 'inner', name: 'Inner' });
    const deepest = await makeGroup(ashlar, { parent_id: inner.id, path: 'deepest', name: 'Deepest' });
    expect(deepest).toMatchObject({
      full_path: `${outer.full_path}/inner/deepest`,
      full_name: `${outer.full_path} / Inner / Deepest`,
      parent_id: inner.id,
    });
    const found = await ashlar.root(`GET /groups/${encode(deepest.full_path.toUpperCase())}`);
    expect(bodyOf(found, 200).id).toBe(deepest.id);
  });

  it.each([
    ['no name', { path: 'p' }, /name/],
    ['no path', { name: 'n' }, /path/],
    ['a wrong path', { name: 'n', path: 'a b' }, /path/],
    ['a path of the program', { name: 'n', path: 'API' }, /reserved/],
    ['a wrong name', { name: '<n>', path: 'p' }, /name/],
    ['another visibility', { name: 'n', path: 'p', visibility: 'secret' }, /visibility/],
    ['a path too long', { name: 'n', path: 'p'.repeat(256) }, /too long/],
  ])('refuses %s', async (_, body, text) => {
    const refused = await ashlar.root('POST /groups', { body });
    expect([refused.status, refused.text]).toEqual([400, expect.stringMatching(text)]);
  });

  it('refuses a path that is taken: by a group, a user, or a project beside it', async () => {
    const group = await makeGroup(ashlar);
    const user = await makeUser(ashlar);
    const project = await makeProject(ashlar, { namespace_id: group.id });
    const project_path = project.path_with_namespace.split('/')[1] ?? '';
    const subgroup = await makeGroup(ashlar, { parent_id: group.id });
    const taken = ['has already been taken'];
    const tries: [Record<string, unknown>, Record<string, string[]>][] = [
      [{ path: group.full_path.toUpperCase(), name: 'other' }, { path: taken }],
      [{ path: user.username, name: 'other' }, { path: taken }],
      [{ path: project_path, name: 'other', parent_id: group.id }, { path: taken }],
      [{ path: 'other', name: subgroup.full_path.split('/')[1], parent_id: group.id }, { name: taken }],
    ];
    for (const [body, message] of tries) {
      expect(bodyOf(await ashlar.root('POST /groups', { body }), 400)).toMatchObject({ message });
    }
  });

  it('makes one of two that are created at once', async () => {
    const parent = await makeGroup(ashlar);
    for (const parent_id of [undefined, parent.id]) {
      const path = uniqueName('race');
      const body = { path, name: path, parent_id };
      const responses = await Promise.all([1, 2, 3, 4].map(() => ashlar.root('POST /groups', { body })));
      expect(responses.map((response) => response.status).sort()).toEqual([201, 400, 400, 400]);
    }
  });

  it('is allowed by the setting of the parent, to whom it names', async () => {
    const group = await makeGroup(ashlar, { visibility: 'public' });
    const outsider = await makeUser(ashlar);
    const members = makeMembers(ashlar, `groups/${group.id}`, 'maintainer', 'owner', 'guest');
    const { maintainer, owner, guest } = await members;
    const statuses = async () => {
      const responses = await Promise.all(
        [maintainer, owner, guest, outsider].map(({ token }) => {
          const path = uniqueName('sub');
          return ashlar.as(token)('POST /groups', { body: { path, name: path, parent_id: group.id } });
        }),
      );
      return responses.map((response) => response.status);
    };
    expect(await statuses()).toEqual([201, 201, 403, 403]);
    bodyOf(await ashlar.root(`PUT /groups/${group.id}`, { body: { subgroup_creation_level: 'owner' } }), 200);
    expect(await statuses()).toEqual([403, 201, 403, 403]);
    bodyOf(await ashlar.root(`POST /groups/${group.id}/archive`), 201);
    expect(await statuses()).toEqual([403, 403, 403, 403]);
  });

  it('follows the rights of the user and the instance at the top', async () => {
    const [may, mayNot] = [await makeUser(ashlar), await makeUser(ashlar, { can_create_group: false })];
    const create = (token: string) => {
      const path = uniqueName('top');
      return ashlar.as(token)('POST /groups', { body: { path, name: path } });
    };
    expect((await create(mayNot.token)).status).toBe(403);
    expect((await create(may.token)).status).toBe(201);
    await withSettings({ top_level_group_creation_enabled: false }, async () => {
      expect((await create(may.token)).status).toBe(403);
    });
  });

  it('keeps visibilities within the parent and the restrictions of the instance', async () => {
    const user = await makeUser(ashlar);
    const as = ashlar.as(user.token);
    const parent = bodyOf(await as('POST /groups', { body: { name: 'v', path: uniqueName('v') } }), 201);
    const wider = await as('POST /groups', {
      body: { name: 'w', path: 'w', parent_id: parent.id, visibility: 'internal' },
    });
    expect(bodyOf(wider, 400).message.visibility_level).toHaveLength(1);
    await withSettings(
      { restricted_visibility_levels: ['public'], default_group_visibility: 'internal' },
      async () => {
        const body = { name: 'r', path: uniqueName('r'), visibility: 'public' };
        const restricted = bodyOf(await as('POST /groups', { body }), 400);
        expect(restricted.message.visibility_level[0]).toMatch(/restricted by your GitLab administrator/);
        const fallen = bodyOf(await as('POST /groups', { body: { name: 'd', path: uniqueName('d') } }), 201);
        expect(fallen.visibility).toBe('internal');
        expect((await ashlar.root('POST /groups', { body })).status).toBe(201);
      },
    );
  });
});

describe('changing groups', () => {
  it('changes what is named and nothing else, for owners', async () => {
    const group = await makeGroup(ashlar);
    const { maintainer } = await makeMembers(ashlar, `groups/${group.id}`, 'maintainer');
    const body = {
      name: 'New Name',
      description: null,
      visibility: 'public',
      emails_disabled: true,
      project_creation_level: 'noone',
      default_branch_protection: 0,
      mentions_disabled: true,
      parent_id: 1,
      marked_for_deletion_on: '2020-01-01',
      archived: true,
    };
    expect((await ashlar.as(maintainer.token)(`PUT /groups/${group.id}`, { body })).status).toBe(403);
    const changed = bodyOf(await ashlar.root(`PUT /groups/${group.id}`, { body }), 200);
    expect(changed).toMatchObject({
      name: 'New Name',
      path: group.full_path,
      description: '',
      visibility: 'public',
      emails_enabled: false,
      project_creation_level: 'noone',
      default_branch_protection: 0,
      default_branch_protection_defaults: { allow_force_push: true },
      mentions_disabled: true,
      lfs_enabled: true,
      parent_id: null,
      archived: false,
      marked_for_deletion_on: null,
    });
    const again = bodyOf(
      await ashlar.root(`PUT /groups/${group.id}`, { body: { mentions_disabled: null } }),
      200,
    );
    expect(again).toMatchObject({ mentions_disabled: null, name: 'New Name', emails_enabled: false });
  });

  it('moves everything below along with the path and name', async () => {
    const outer = await makeGroup(ashlar, { visibility: 'public' });
    const inner = await makeGroup(ashlar, { parent_id: outer.id, path: 'in', name: 'In' });
    const project = await makeProject(ashlar, { namespace_id: inner.id, path: 'p', name: 'p' });
    const path = uniqueName('renamed');
    bodyOf(await ashlar.root(`PUT /groups/${outer.id}`, { body: { path, name: 'Größe 🦊' } }), 200);
    bodyOf(await ashlar.root(`PUT /groups/${outer.id}`, { body: { name: 'Renamed' } }), 200);
    expect(bodyOf(await ashlar.root(`GET /groups/${inner.id}`), 200)).toMatchObject({
      full_path: `${path}/in`,
      full_name: 'Renamed / In',
    });
    const moved = await ashlar.root(`GET /projects/${encode(`${outer.full_path}/in/p`)}`, {
      query: 'statistics=1',
    });
    expect(moved.status).toBe(301);
    expect(moved.headers.get('location')).toContain(`/api/v4/projects/${project.id}?statistics=1`);
    expect((await ashlar.root(`GET /projects/${encode(`${path}/in/p`)}`)).status).toBe(200);
    expect((await ashlar.root(`GET /groups/${encode(outer.full_path)}`)).status).toBe(404);
    // And back: the redirect that would be the project's own path is gone.
    bodyOf(await ashlar.root(`PUT /groups/${outer.id}`, { body: { path: outer.full_path } }), 200);
    expect((await ashlar.root(`GET /projects/${encode(`${outer.full_path}/in/p`)}`)).status).toBe(200);
    const { db } = ashlar.app.services.database;
    const redirects = await db
      .selectFrom('project_redirects')
      .select('path')
      .where('project_id', '=', project.id)
      .execute();
    expect(redirects).toEqual([{ path: `${path}/in/p` }]);
  });

  it('keeps visibility above what is inside', async () => {
    const group = await makeGroup(ashlar, { visibility: 'public' });
    await makeGroup(ashlar, { parent_id: group.id, visibility: 'internal' });
    await makeProject(ashlar, { namespace_id: group.id, visibility: 'public' });
    const tighter = await ashlar.root(`PUT /groups/${group.id}`, { body: { visibility: 'private' } });
    expect(bodyOf(tighter, 400).message.visibility_level).toHaveLength(2);
  });

  it('shows a picture to those who see the group, and takes it away', async () => {
    const group = await makeGroup(ashlar);
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    const form = new FormData();
    form.set('avatar', new Blob([png], { type: 'image/png' }), 'me.png');
    const put = (body: FormData) =>
      fetch(`${ashlar.url}/api/v4/groups/${group.id}`, {
        method: 'PUT',
        headers: { 'private-token': 'glpat-root-token-of-the-tests' },
        body,
      });
    const changed = await put(form);
    expect(changed.status).toBe(200);
    const { avatar_url } = (await changed.json()) as { avatar_url: string };
    expect(avatar_url).toBe(`${ashlar.url}/uploads/-/system/group/avatar/${group.id}/me.png`);
    const shown = await ashlar.root(`GET /groups/${group.id}/avatar`);
    expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect((await ashlar.call(`GET /groups/${group.id}/avatar`)).status).toBe(404);
    const empty = new FormData();
    empty.set('avatar', '');
    expect(((await (await put(empty)).json()) as { avatar_url: null }).avatar_url).toBeNull();
    expect((await ashlar.root(`GET /groups/${group.id}/avatar`)).status).toBe(404);
  });
});

describe('reading groups', () => {
  const tree: Record<string, { id: number; full_path: string }> = {};
  let member: Awaited<ReturnType<typeof makeUser>>;
  let outsider: Awaited<ReturnType<typeof makeUser>>;

  beforeAll(async () => {
    member = await makeUser(ashlar);
    outsider = await makeUser(ashlar);
    const make = async (name: string, attributes: Record<string, unknown>) => {
      tree[name] = await makeGroup(ashlar, { name, path: `list-${name}`, ...attributes });
    };
    await make('public', { visibility: 'public' });
    await make('internal', { visibility: 'internal' });
    await make('private', { visibility: 'private' });
    await make('hidden', { visibility: 'private' });
    await make('inside', { visibility: 'private', parent_id: tree.private?.id });
    await make('holder', { visibility: 'private' });
    await addMember(ashlar, `groups/${tree.private?.id ?? 0}`, member, 30);
    const project = await makeProject(ashlar, { namespace_id: tree.holder?.id });
    await addMember(ashlar, `projects/${project.id}`, member, 20);
  });

  const list = async (token: string | undefined, query = ''): Promise<string[]> => {
    const call = token === undefined ? ashlar.call : ashlar.as(token);
    const full = `search=list-&per_page=100&${query}`;
    return pathsOf(bodyOf(await call('GET /groups', { query: full }), 200)).map((path) =>
      path.slice('list-'.length),
    );
  };

  it('lists for nobody what is public', async () => {
    expect(await list(undefined)).toEqual(['public']);
    expect(await list(undefined, 'owned=true')).toEqual([]);
  });

  it('lists for members what they are in, what holds it, and all they see when asked', async () => {
    expect(await list(member.token)).toEqual(['holder', 'inside', 'private']);
    expect(await list(member.token, 'all_available=true')).toEqual([
      'holder',
      'inside',
      'internal',
      'private',
      'public',
    ]);
    expect(await list(member.token, 'min_access_level=30')).toEqual(['inside', 'private']);
    expect(await list(member.token, 'owned=true')).toEqual([]);
    expect(await list(member.token, 'top_level_only=true')).toEqual(['holder', 'private']);
    expect(await list(outsider.token)).toEqual([]);
    expect(await list(outsider.token, 'all_available=true')).toEqual(['internal', 'public']);
  });

  it('lists for administrators all, filtered and ordered as asked', async () => {
    expect(await list(undefined, 'sort=desc')).toEqual(['public']);
    const all = ['hidden', 'holder', 'inside', 'internal', 'private', 'public'];
    const root = async (query: string) =>
      pathsOf(bodyOf(await ashlar.root('GET /groups', { query: `search=list-&${query}` }), 200)).map((path) =>
        path.slice('list-'.length),
      );
    expect(await root('')).toEqual(all);
    expect(await root('sort=desc&order_by=path')).toEqual(all.toReversed());
    expect(await root('order_by=id&visibility=private')).toEqual(['private', 'hidden', 'inside', 'holder']);
    expect(
      await root(`skip_groups[]=${tree.hidden?.id}&skip_groups[]=${tree.inside?.id}&visibility=private`),
    ).toEqual(['holder', 'private']);
    expect((await root('order_by=similarity&search=list-holder'))[0]).toBe('holder');
    expect(await root('search=%25')).toEqual([]);
  });

  it('pages for nobody by name with a cursor, and for nobody else', async () => {
    const names: string[] = [];
    let query: string | undefined = 'pagination=keyset&order_by=name&sort=asc&per_page=1';
    for (let page = 0; query !== undefined && page < 50; page++) {
      const response = await ashlar.call('GET /groups', { query });
      for (const group of bodyOf(response, 200)) names.push(group.name);
      query = /<[^>]*\?([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
    }
    expect(names).toContain('public');
    expect(names).toEqual([...new Set(names)].sort());
    const refusals = ['order_by=path&sort=asc', 'order_by=name&sort=desc'];
    for (const order of refusals) {
      expect((await ashlar.call('GET /groups', { query: `pagination=keyset&${order}` })).status).toBe(405);
    }
    expect((await ashlar.root('GET /groups', { query: 'pagination=keyset' })).status).toBe(405);
  });

  it('shows what is visible, and to members what holds their things', async () => {
    const status = async (name: string, token?: string) => {
      const call = token === undefined ? ashlar.call : ashlar.as(token);
      return (await call(`GET /groups/${tree[name]?.id}`)).status;
    };
    expect(await status('public')).toBe(200);
    expect(await status('internal')).toBe(404);
    expect(await status('internal', outsider.token)).toBe(200);
    expect(await status('inside', member.token)).toBe(200);
    expect(await status('holder', member.token)).toBe(200);
    expect(await status('hidden', member.token)).toBe(404);
  });

  it('shows the projects of a group that the caller sees', async () => {
    const own = async (token: string, query = '') =>
      bodyOf(await ashlar.as(token)(`GET /groups/${tree.holder?.id}`, { query }), 200).projects;
    await makeProject(ashlar, { namespace_id: tree.holder?.id });
    expect(await own(member.token)).toHaveLength(1);
    expect(await own(member.token, 'with_projects=false')).toBeUndefined();
  });

  it('lists groups inside a group, directly or at any depth', async () => {
    const outer = await makeGroup(ashlar);
    const inner = await makeGroup(ashlar, { parent_id: outer.id, path: 'one', name: 'one' });
    await makeGroup(ashlar, { parent_id: inner.id, path: 'two', name: 'two' });
    expect(pathsOf(bodyOf(await ashlar.root(`GET /groups/${outer.id}/subgroups`), 200))).toEqual(['one']);
    expect(pathsOf(bodyOf(await ashlar.root(`GET /groups/${outer.id}/descendant_groups`), 200))).toEqual([
      'one',
      'two',
    ]);
    const filtered = await ashlar.root(`GET /groups/${outer.id}/descendant_groups`, {
      query: 'search=tw&statistics=true',
    });
    expect(bodyOf(filtered, 200)).toMatchObject([{ path: 'two', statistics: { storage_size: 0 } }]);
  });
});
